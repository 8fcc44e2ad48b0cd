"""The ledger: one worker's books in the database, a transaction for each batch of what happened.

What a page caused is committed with the page's own completion: its text, its new links, its line of JSON. So a crash at
any point loses no address and repeats no item. The line is written, and on disk, before the commit that counts it; what
a crash left behind that count is cut off at the next start.
"""

import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from errno import ENOENT
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, bindparam, case, func, insert, or_, select, update
from sqlalchemy.exc import DBAPIError

from crawler.state.addresses import NOISE, RAISE_BEST, Addresses, Place, Shown, in_parts, insert_of, raise_best
from crawler.state.claims import (
    IS_IMAGE,
    IS_WAITING,
    Claimant,
    bury,
    claim,
    count_sites,
    give_back,
    has_room,
    next_best,
)
from crawler.state.database import STATEMENT_SECONDS, StateError, passes, time_of, why
from crawler.state.entries import Answer, Batch, Candidate, Ended, Keys, Lent, Move, Template
from crawler.state.lines import JsonLines, Mark, storable
from crawler.state.pictures import (
    EvidenceReader,
    dry_sites,
    full_sites,
    keep_evidence,
    keep_verdicts,
    recorded_sites,
    release,
)
from crawler.state.schema import DONE, HELD, WAITING, address, crawl, host, lesson, output, page, worker
from crawler.state.templates import keep, new_templates
from crawler.urls import host as host_of

LAST_PATIENCE = 15.0  # seconds that a crawl which is to stop waits for a database that is away
LEASE = 60.0  # seconds without a sign of life until a worker is taken for dead
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)  # between tries while the database is away
LATE_LESSONS = 1_000
DRY_SECONDS = 2.0  # between two looks for sites that have run dry
RELEASED_SITES = 50_000  # that are remembered
PAGE_COLUMNS = frozenset(page.c.keys()) - {"id"}

END = (
    update(address)
    .where(address.c.id == bindparam("lease"))
    .values(state=DONE, worker=None, outcome=bindparam("why"), sight=None)
)
# What is noise as a picture, while a link with words leads there too by now.
SPARE = (
    update(address)
    .where(address.c.id.in_(bindparam("leases", expanding=True)), address.c.sight.is_(None))
    .values(state=WAITING, worker=None)
    .returning(address.c.id, address.c.host_id, address.c.priority)
)

REST = (
    update(host)
    .where(host.c.id == bindparam("host"), or_(host.c.worker.is_(None), host.c.worker == bindparam("me")))
    .values(next_at=case((host.c.next_at > bindparam("at"), host.c.next_at), else_=bindparam("at")), worker=None)
)
PICTURE_WAITS = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.crawl_id == bindparam("crawl"), address.c.state == IS_WAITING, address.c.kind == IS_IMAGE)
    .limit(1)
)

# An address may be entered while another worker, who cannot see it yet, takes the last of its host.
MEND_BEST = (
    update(host)
    .where(
        host.c.crawl_id == bindparam("crawl"),
        host.c.best.is_(None),
        select(address.c.id).where(address.c.host_id == host.c.id, address.c.state == IS_WAITING).exists(),
    )
    .values(best=next_best)
)


class CommitDoubtError(Exception):
    """The connection was lost while a batch was committed, and it was committed; or this worker is taken for dead."""

    def __init__(self, lost: bool) -> None:
        self.lost = lost


class Ledger:
    """The books of one worker, for one thread at a time; its methods wait while the database is away."""

    def __init__(self, engine: Engine, who: Claimant, keys: Keys, pages: JsonLines, images: JsonLines) -> None:
        self.engine = engine
        self.who = who
        self.keys = keys
        self.pages, self.images = pages, images
        self.patience = 120.0
        """Seconds until a database that is away is given up."""
        self.trouble = ""
        """What is waited for, if the database cannot be written to."""
        self.stopping = False
        self._connection: Any = None
        """The driver's own, that was used last."""
        self._number = 0
        self._held: dict[int, Lent] = {}
        self.addresses = Addresses(who.crawl_id, insert_of(engine))
        self._lessons: set[int] = set()
        self.reads_templates = False
        """Whether this worker wants to know what the pages of its hosts have in common."""
        self._last_template = 0
        self.count_pictures: Callable[[list[Any]], str] | None = None
        """What makes one record of the pictures of several pages."""
        self.enough_pages = 0
        """Pages of a site that tell enough of its pictures."""
        self._released: set[int] = set()
        """Sites that have so many."""
        self._evidence = EvidenceReader()
        self._looked, self._looked_at = 0.0, 0
        self._full = False
        """Whether the crawl had all its pages at the last commit: no site will show more."""

    def commit(self, batch: Batch) -> Answer:
        """Commit what happened, and take what comes next."""
        self._number += 1
        try:
            answer: Answer = self.patiently(lambda connection: self._write(connection, batch))
        except CommitDoubtError as doubt:
            if doubt.lost:
                self._held.clear()
                return Answer(lost=True)
            answer = self.patiently(lambda connection: self._recovered(connection, batch))
        for one in [*(ended.lent for ended in batch.ended), *batch.returned, *(move.lent for move in batch.moves)]:
            self._held.pop(one.lease, None)
        self._held.update((one.lease, one) for one in [*answer.lent, *filter(None, answer.moved.values())])
        answer.forgotten = self._evidence.committed({one.shown_on for one in answer.lent if one.shown_on is not None})
        return answer

    def leave(self) -> None:
        """Give back what is held, and be a worker no more."""
        self.patiently(lambda connection: bury(connection, self.who.worker_id, lapse=0))

    def renew(self, worker_id: int) -> None:
        """Go on as another worker."""
        self.who = self.who._replace(worker_id=worker_id)
        self._number = 0
        self._held.clear()

    def bury_dead(self) -> int:
        """Let return what workers held that gave no sign of life for a lease; how many workers they were."""
        return int(self.patiently(self._bury_dead))

    def _bury_dead(self, connection: Connection) -> int:
        # By the beat of this worker, which has just been: after an outage every other may look dead for a moment.
        now = connection.execute(select(worker.c.beat).where(worker.c.id == self.who.worker_id)).scalar()
        dead = silent_workers(connection, self.who.crawl_id, now or 0.0)
        for number in dead:
            bury(connection, number)
        return len(dead)

    def patiently(self, work: Callable[[Connection], Any]) -> Any:
        """What the work brings, in one transaction, tried again while the database is locked, full or away."""
        began, tries = time.monotonic(), 0
        while True:
            committed, lessons = (self.pages.mark, self.images.mark), set(self._lessons)
            last_template = self._last_template
            try:
                with self.engine.begin() as connection:
                    self._connection = connection.connection.driver_connection
                    result = work(connection)
                self.trouble = ""
                return result
            except (DBAPIError, OSError) as error:
                # What the transaction entered and read is to be entered and read again.
                (self.pages.mark, self.images.mark), self._lessons = committed, lessons
                self._last_template = last_template
                self.addresses.forget()
                self._released.clear()
                if isinstance(error, OSError):
                    self.trouble = why(error)
                    with suppress(OSError):
                        self.pages.cut()
                        self.images.cut()
                else:  # it may have been committed all the same: what was written stays until that is known
                    self.trouble = f"the database cannot be written to: {why(error)}"
                patience = min(self.patience, LAST_PATIENCE) if self.stopping else self.patience
                if not passes(error) or time.monotonic() - began > patience:
                    raise StateError(self.trouble) from error
            time.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
            tries += 1

    @property
    def answers_within(self) -> float:
        """Seconds in which the database has answered, or never will."""
        return min(self.patience, LAST_PATIENCE) if self.stopping else self.patience + STATEMENT_SECONDS

    def hang_up(self) -> None:
        """Break off the connection to a server that does not answer, from another thread: a statement fails then."""
        if hasattr(self._connection, "fileno"):
            with suppress(Exception):  # it may be closed by now, which is as well
                connected = socket.fromfd(self._connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
                with connected:
                    connected.shutdown(socket.SHUT_RDWR)

    def _write(self, connection: Connection, batch: Batch) -> Answer:
        now = self._beat(connection)
        answer = Answer()
        self._keep_pages(connection, batch.ended)
        added = self._add_links(connection, batch.ended)
        spared = self._end(connection, batch.ended)
        added += len(spared)
        self._keep_pictures(connection, [one for one in batch.ended if one.lent.lease not in spared])
        added += self._release(connection, batch)
        keep(connection, self.who.crawl_id, [one for ended in batch.ended for one in ended.templates])
        # Before the claim, which must not take more than the crawl may have.
        self._count(connection, pages=sum(1 for one in batch.ended if not one.outcome and one.lent.counts))
        added += give_back(connection, self.who, batch.returned)
        for move in batch.moves:
            answer.moved[move.lent.lease] = self._move(connection, move)
        self._tell_hosts(connection, batch, now)
        if batch.demand is not None:
            claimed = claim(connection, self.who, batch.demand, now)
            answer.lent, answer.more, answer.refused = claimed.lent, claimed.more, claimed.refused
            added -= len(claimed.lent) + claimed.refused.total()
        self._count(connection, waiting=added)
        self._survey(connection, batch, answer)
        self._write_files(connection, batch.ended)
        return answer

    def _beat(self, connection: Connection) -> float:
        """A sign of life, and the time by the database's clock."""
        if connection.dialect.name == "sqlite" and not Path(str(self.engine.url.database)).exists():
            raise OSError(ENOENT, "it was deleted", self.engine.url.database)  # SQLite would write on, to nowhere
        now = time_of(connection)
        mine = worker.c.id == self.who.worker_id
        alive = update(worker).where(mine, worker.c.batch == self._number - 1).values(beat=now, batch=self._number)
        if connection.execute(alive).rowcount == 0:
            raise CommitDoubtError(lost=connection.execute(select(worker.c.batch).where(mine)).first() is None)
        return now

    def _recovered(self, connection: Connection, batch: Batch) -> Answer:
        """The answer to a batch that was committed although the connection was lost before it said so."""
        answer = Answer()
        ended = {one.lent.lease for one in batch.ended} | {one.lease for one in batch.returned}
        answer.moved = dict.fromkeys(move.lent.lease for move in batch.moves)
        moved: dict[int, int] = {}
        for move in batch.moves:
            moved.setdefault(self.keys(move.to.url, move.to.kind), move.lent.lease)
        columns = (address, host.c.site_id)
        mine = address.c.worker == self.who.worker_id, address.c.state == HELD
        held = select(*columns).join(host, host.c.id == address.c.host_id).where(*mine)
        for row in connection.execute(held).all():
            if row.id in self._held and row.id not in ended:
                continue
            parent = select(address.c.url).where(address.c.id == row.parent)
            found = connection.execute(parent).scalar() if row.parent else None
            candidate = Candidate(row.url, row.priority, row.depth, found, row.kind, row.requested, row.sight)
            lent = Lent(row.id, candidate, row.host_id, row.site_id, shown_on=row.shown_on)
            if row.key in moved:
                answer.moved[moved[row.key]] = lent
            else:
                answer.lent.append(lent)
        self.pages.mark, self.images.mark = marks(connection, *self._my_output(connection))
        self._survey(connection, batch, answer)
        return answer

    def _my_output(self, connection: Connection) -> tuple[Any, ...]:
        number = select(worker.c.number).where(worker.c.id == self.who.worker_id).scalar_subquery()
        return output.c.crawl_id == self.who.crawl_id, output.c.number == number

    def _write_files(self, connection: Connection, ended: Iterable[Ended]) -> None:
        pages = [one.record for one in ended if one.record is not None and one.lent.counts]
        images = [one.record for one in ended if one.record is not None and not one.lent.counts]
        if not pages and not images:
            return
        self.pages.mark, self.images.mark = self.pages.append(pages), self.images.append(images)
        sizes = {"pages_size": self.pages.mark.size, "images_size": self.images.mark.size}
        ends = {"pages_end": self.pages.mark.end, "images_end": self.images.mark.end}
        connection.execute(update(output).where(*self._my_output(connection)).values(**sizes, **ends))

    def _keep_pages(self, connection: Connection, ended: Iterable[Ended]) -> None:
        rows = [self._page(one) for one in ended if one.record is not None and one.lent.counts]
        if not rows:
            return
        kept = self.addresses.insert(page)
        renewed = {name: kept.excluded[name] for name in rows[0] if name != "key"}
        by_key = {row["key"]: row for row in rows}
        connection.execute(
            kept.on_conflict_do_update(index_elements=["key"], set_=renewed), [by_key[key] for key in sorted(by_key)]
        )

    def _page(self, ended: Ended) -> dict[str, Any]:
        record = {name: value for name, value in (ended.record or {}).items() if name in PAGE_COLUMNS}
        record = {name: _storable(value) for name, value in record.items()}
        key = self.keys(ended.lent.candidate.url, ended.lent.candidate.kind)
        validators = {name: _storable(ended.headers.get(name)) for name in ("etag", "last_modified")}
        return record | validators | {"key": key, "crawl_id": self.who.crawl_id}

    def _add_links(self, connection: Connection, ended: Iterable[Ended]) -> int:
        """Let the new ones among the links wait, or record them; how many wait."""
        links: dict[int, tuple[Candidate, int | None]] = {}
        shown: dict[int, Shown] = {}
        for one in ended:
            for link in one.links:
                key = self.keys(link.url, link.kind)
                if link.sight is None:
                    links.setdefault(key, (link, one.lent.lease))
                else:
                    shown.setdefault(key, Shown(link, one.lent.lease, one.lent.site_id))
        added = self.addresses.add(connection, links)
        alone = {key: shown[key] for key in shown.keys() - links.keys()}
        return added + self.addresses.record(connection, alone, self._released)

    def _end(self, connection: Connection, ended: list[Ended]) -> set[int]:
        """End leases; those that wait again, because a link with words leads to what is noise as a picture."""
        if not ended:
            return set()
        spared = self._spare(connection, ended)
        self._count_ends(connection, ended)
        ended = [one for one in ended if one.lent.lease not in spared]
        rows = [{"lease": one.lent.lease, "why": _storable(one.outcome) or None} for one in ended]
        if rows:
            connection.execute(END, sorted(rows, key=lambda row: row["lease"] or 0))
        if taught := [
            {"crawl_id": self.who.crawl_id, "kind": kind, "text": _storable(text)}
            for one in ended
            for kind, text in one.lessons
        ]:
            connection.execute(insert(lesson), taught)
        return spared

    def _spare(self, connection: Connection, ended: Iterable[Ended]) -> set[int]:
        """Those leases of noise that wait again."""
        noise = [one.lent.lease for one in ended if one.lent.counts and one.outcome.startswith(NOISE)]
        if not noise:
            return set()
        rows = connection.execute(SPARE, {"leases": noise}).all()
        best: dict[int, int] = {}
        for row in rows:
            best[row.host_id] = max(best.get(row.host_id, row.priority), row.priority)
        raise_best(connection, best)
        return {row.id for row in rows}

    def _count_ends(self, connection: Connection, ended: Iterable[Ended]) -> None:
        """Count what came of the pages that sites were asked for; of noise nothing was asked."""
        counts = {
            "stored": {"pages": 1, "held": -1},
            "brought nothing": {"held": -1},
            "noise": {"held": -1, "requests": -1},
        }
        sites: dict[str, Counter[int]] = {name: Counter() for name in counts}
        for one in ended:
            if one.lent.counts:
                nothing = "noise" if one.outcome.startswith(NOISE) else "brought nothing"
                sites[nothing if one.outcome else "stored"][one.lent.site_id] += 1
        for name, changes in counts.items():
            count_sites(connection, sites[name], **changes)

    def _keep_pictures(self, connection: Connection, ended: Iterable[Ended]) -> None:
        """Keep what pages show of pictures, and what was said of those that were judged."""
        seen: dict[int, list[Any]] = {}
        verdicts = []
        for one in ended:
            if one.seen is not None:
                seen.setdefault(one.lent.site_id, []).append(one.seen)
            if one.verdict is not None:
                size = (one.record or {}).get("size") if not one.lent.counts else None
                measured = {} if size is None else {"bytes": size, "bytes_are_measured": True}
                fields = {name: _storable(value) for name, value in {**one.verdict, **measured}.items()}
                verdicts.append(fields)
        if self.count_pictures is not None:
            counts = {site_id: self.count_pictures(pages) for site_id, pages in seen.items()}
            keep_evidence(connection, self.who.crawl_id, counts)
        keep_verdicts(connection, self.who.crawl_id, verdicts)

    def _release(self, connection: Connection, batch: Batch) -> int:
        """Let the pictures wait of sites that have shown enough; now and then also those of sites that have run dry,
        and of all when the crawl has its pages.
        """
        sites = {one.lent.site_id for one in batch.ended if one.lent.counts} - self._released
        if len(self._released) > RELEASED_SITES:
            self._released.clear()
        grown = full_sites(connection, sites, self.enough_pages)
        self._released |= grown
        if batch.idle or time.monotonic() - self._looked > DRY_SECONDS:
            self._looked = time.monotonic()
            enough = 0 if self._full else self.enough_pages
            dry, self._looked_at = dry_sites(connection, self.who.crawl_id, self._looked_at, enough)
            grown.update(dry)
        return release(connection, grown)

    def _move(self, connection: Connection, move: Move) -> Lent | None:
        """Hold the address that a redirect leads to in place of the one asked for, if nobody knows it yet."""
        url, lent = move.to.url, move.lent
        place = self.addresses.place(connection, {host_of(url): url})[host_of(url)]
        row = {"key": self.keys(url, move.to.kind), "url": url, "kind": move.to.kind, "priority": move.to.priority}
        row |= {"depth": move.to.depth, "requested": move.to.requested, "host_id": place.host_id}
        mine = self._may_ask(connection, move, place)
        row |= {"state": HELD, "worker": self.who.worker_id} if mine else {"state": WAITING}
        found_on = select(address.c.parent).where(address.c.id == lent.lease).scalar_subquery()
        new = (
            self.addresses.insert(address).values(**row, parent=found_on).on_conflict_do_nothing(index_elements=["key"])
        )
        number = connection.execute(new.returning(address.c.id)).scalar()
        if number is None:  # it may be known for a picture alone
            known: dict[int, tuple[Candidate, int | None]] = {self.keys(url, move.to.kind): (move.to, None)}
            self._count(connection, waiting=self.addresses.overrule(connection, known))
            return None
        if not mine:  # it waits like any other
            connection.execute(RAISE_BEST, {"host": place.host_id, "priority": move.to.priority})
            self._count(connection, waiting=1)
            return None
        connection.execute(END, {"lease": lent.lease, "why": "redirected"})
        if lent.counts:
            count_sites(connection, {lent.site_id: 1}, held=-1)
            count_sites(connection, {place.site_id: 1}, held=1, requests=1)
        return Lent(number, move.to, place.host_id, place.site_id, lent.load)

    def _may_ask(self, connection: Connection, move: Move, place: Place) -> bool:
        """Whether this worker may ask at once where a redirect leads; a seed need not wait for another worker."""
        row = connection.execute(select(host.c.worker, host.c.closed).where(host.c.id == place.host_id)).one()
        another_s = row.worker not in (None, self.who.worker_id) and move.to.kind != "seed"
        if another_s or row.closed is not None:
            return False
        same = place.site_id == move.lent.site_id
        return same or not move.lent.counts or has_room(connection, self.who, place.site_id)

    def _tell_hosts(self, connection: Connection, batch: Batch, now: float) -> None:
        if batch.resting:
            resting = sorted(batch.resting.items())
            rows = [{"host": n, "at": now + seconds, "me": self.who.worker_id} for n, seconds in resting]
            connection.execute(REST, rows)  # together: each by itself is a way to PostgreSQL and back
        for host_id, seconds in sorted(batch.rests.items()):
            until = case((host.c.next_at > now + seconds, host.c.next_at), else_=now + seconds)
            connection.execute(update(host).where(host.c.id == host_id).values(next_at=until))
        for host_id, pace in sorted(batch.paces.items()):
            connection.execute(update(host).where(host.c.id == host_id).values(pace=pace))
        if batch.closed:
            self.addresses.place(connection, {name: f"http://{name}/" for name in batch.closed})
        for name, reason in sorted(batch.closed.items()):
            row = (host.c.crawl_id == self.who.crawl_id) & (host.c.name == name)
            connection.execute(update(host).where(row).values(closed=_storable(reason), worker=None, next_at=now))

    def _count(self, connection: Connection, waiting: int = 0, pages: int = 0) -> None:
        if waiting or pages:
            counts = {"waiting": worker.c.waiting + waiting, "pages": worker.c.pages + pages}
            connection.execute(update(worker).where(worker.c.id == self.who.worker_id).values(**counts))

    def _survey(self, connection: Connection, batch: Batch, answer: Answer) -> None:
        """What all workers together have done, and whether it is all."""
        mine = worker.c.crawl_id == self.who.crawl_id
        sums = (func.coalesce(func.sum(worker.c.waiting), 0), func.coalesce(func.sum(worker.c.pages), 0))
        waiting, pages, answer.workers = connection.execute(select(*sums, func.count()).where(mine)).one()
        before = connection.execute(select(crawl.c.waiting, crawl.c.pages).where(crawl.c.id == self.who.crawl_id)).one()
        answer.waiting, answer.pages = max(0, int(before.waiting + waiting)), int(before.pages + pages)
        self._full = self._is_full(answer)
        answer.lessons = self._learn(connection)
        shown_on = {one.shown_on for one in answer.lent if one.shown_on is not None}
        answer.evidence = self._evidence.read(connection, shown_on)
        if self.reads_templates:
            answer.templates = self._read_templates(connection, batch, answer)
        if batch.idle and not answer.lent:
            held = select(func.count()).where(
                address.c.state == HELD, address.c.worker.in_(select(worker.c.id).where(mine))
            )
            answer.held = connection.execute(held).scalar_one()
            answer.over = not answer.held and self._nothing_waits(connection, answer)
            if answer.over:
                released = release(connection, recorded_sites(connection, self.who.crawl_id))
                self._count(connection, waiting=released)
                answer.waiting += released
                answer.over = not released
            if answer.over:
                ended = update(crawl).where(crawl.c.id == self.who.crawl_id, crawl.c.ended_at.is_(None))
                connection.execute(ended.values(ended_at=time.time()))

    def _learn(self, connection: Connection) -> list[tuple[str, str]]:
        # A lesson may be committed after one with a higher number.
        after = max(self._lessons, default=0) - LATE_LESSONS
        known = select(lesson.c.id).where(lesson.c.crawl_id == self.who.crawl_id, lesson.c.id > after)
        new = sorted(set(connection.execute(known).scalars()) - self._lessons)
        self._lessons.update(new)
        rows = [
            row
            for part in in_parts(new)
            for row in connection.execute(select(lesson).where(lesson.c.id.in_(part)).order_by(lesson.c.id))
        ]
        return [(row.kind, row.text) for row in rows]

    def _read_templates(self, connection: Connection, batch: Batch, answer: Answer) -> list[Template]:
        at_hand = set(batch.demand.at_hand) if batch.demand is not None else set()
        come = {one.host_id for one in [*answer.lent, *filter(None, answer.moved.values())]} - at_hand
        found, last = new_templates(connection, self.who.crawl_id, come, at_hand, self._last_template)
        if at_hand:  # else others may have stored some of these hosts that are still to be read
            self._last_template = last
        return found

    def _is_full(self, answer: Answer) -> bool:
        """Whether the crawl has all the pages it may have."""
        return self.who.max_pages is not None and answer.pages >= self.who.max_pages

    def _nothing_waits(self, connection: Connection, answer: Answer) -> bool:
        """Whether no address waits that would still be asked for."""
        if self._is_full(answer) and connection.execute(PICTURE_WAITS, {"crawl": self.who.crawl_id}).first() is None:
            return True  # pages wait on, until the crawl may have more of them
        return nothing_waits(connection, self.who.crawl_id)


def nothing_waits(connection: Connection, crawl_id: int) -> bool:
    """Whether no address of a crawl waits, after hosts whose best was lost sight of have got it back."""
    return not something_waits(connection, crawl_id) and not connection.execute(MEND_BEST, {"crawl": crawl_id}).rowcount


def something_waits(connection: Connection, crawl_id: int) -> bool:
    """Whether a host of a crawl is known to have addresses that wait."""
    waits = select(host.c.id).where(host.c.crawl_id == crawl_id, host.c.best.is_not(None)).limit(1)
    return connection.execute(waits).first() is not None


def marks(connection: Connection, *mine: ColumnElement[bool]) -> tuple[Mark, Mark]:
    """How much is committed of a worker's files: pages and pictures."""
    columns = output.c.pages_size, output.c.pages_end, output.c.images_size, output.c.images_end
    row = connection.execute(select(*columns).where(*mine)).one()
    return Mark(row.pages_size, row.pages_end), Mark(row.images_size, row.images_end)


def silent_workers(connection: Connection, crawl_id: int, now: float) -> list[int]:
    """The workers of a crawl that gave no sign of life for a lease."""
    silent = select(worker.c.id).where(worker.c.crawl_id == crawl_id, worker.c.beat < now - LEASE)
    return list(connection.execute(silent.with_for_update(skip_locked=True)).scalars())


def _storable(value: Any) -> Any:
    """A value as a column holds it: lists as JSON, and no character that PostgreSQL refuses."""
    if value is None or isinstance(value, int | float):
        return value
    return storable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
