"""The session of a worker: it joins a crawl, begins rounds, adds the seeds, and leaves.

When a worker joins, it begins a new epoch of change offsets. Otherwise, a database that was restored from a backup
would use offsets again, for other changes, that readers have already seen (see page_changes.py).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, select, update

from crawler.errors import StateError
from crawler.frontier.batch import Control
from crawler.frontier.page_result import AddressKind, Candidate
from crawler.outcomes import Outcomes
from crawler.recrawl.revisit_interval import Bounds
from crawler.store.batch import rounds
from crawler.store.batch.address_patterns import put_off_counts
from crawler.store.batch.addresses import AddressKeys, LinksByKey, without_erased
from crawler.store.batch.claims import LONGEST_REST_SECONDS, Claimant
from crawler.store.batch.commit import BatchCommitter
from crawler.store.batch.crawl_end import (
    WaitingLinkCounts,
    count_waiting_links,
    has_failed_seeds,
    is_unfinished,
    totals,
)
from crawler.store.batch.host_tries import FIRST_TRIES, NO_LIMIT
from crawler.store.batch.images import suspend_images
from crawler.store.batch.rounds import RoundCounts
from crawler.store.crawl_tables import address, crawl, host, output, worker
from crawler.store.database import database_time, dialect_insert
from crawler.store.deletion import delete_frontier
from crawler.store.heartbeats import expire_worker, forget_leases, has_workers, lock_crawl, silent_workers
from crawler.store.output_files import WorkerFiles
from crawler.store.page_changes import begin_epoch, last_drawn
from crawler.topic.stop_rule import ON_TOPIC
from crawler.translation.message import Message, first, plural, span
from crawler.urls.canonical import Canonical

NO_BOUNDS = Bounds()
MOST_NAMED = 10  # seeds that one message names


@dataclass(frozen=True)
class CrawlPlan:
    """The crawl of a session, as its arguments and settings describe it."""

    name: str
    seeds: tuple[str, ...]
    """As given by the user. If the crawl exists, at least one of its seeds must be among them."""
    folder: Path
    canonical: Canonical
    site_limit: int
    """The page budget of each site in a round."""
    max_pages: int | None = None
    longest_rest: float = LONGEST_REST_SECONDS
    """The longest rest of a host, in seconds: a longer rest in the database can only come from a wrong clock."""
    fresh: bool = False
    """Whether an existing crawl is begun fresh: without its frontier, but with its pages."""
    images: bool = True
    """Whether images are requested; if not, known images are left to a later run."""
    first_interval: float = 0.0
    """Seconds between two requests to a host that has not answered yet."""
    bounds: Bounds = NO_BOUNDS
    """The shortest and longest interval between visits to a page."""
    versions: int = 0
    """How many earlier texts of a page are kept."""
    on_topic: float = ON_TOPIC
    """The relevance from which a page is on the topic."""
    limits_tries: bool = False
    """Whether each host has limited tries, i.e. requests for links that are unlikely to lead to the topic."""
    shared_files: int | None = None
    """The number of the worker that started this one, and whose files it shares; None for a first worker."""
    topic: str = ""
    """As given by the user."""
    topic_digest: str | None = None
    """The digest of its words and examples. An existing crawl must have this digest; None if it may have any topic."""
    retopic: bool = False
    """Whether this topic may replace another topic of the existing crawl."""


class WorkerSession:
    """One worker of a crawl, until `leave`."""

    def __init__(self, engine: Engine, plan: CrawlPlan) -> None:
        self.engine = engine
        self.plan = plan
        plan.folder.mkdir(parents=True, exist_ok=True)
        self.changes_topic = False
        """Whether the crawl still has another topic, which is replaced after this worker has joined (new_topic.py)."""
        self.erased_seeds: tuple[str, ...] = ()
        """Seeds that are not requested because they or their hosts were erased."""
        self.is_new = False
        """Whether there was no crawl of this name before."""
        self.seeds_before: tuple[str, ...] = ()
        """The seeds that the crawl had before this worker joined it, if it continues with them."""

        # Find or insert the crawl, and take a number.
        self.crawl_id, seeds = self._join_crawl()
        self.is_open = True
        self.files = WorkerFiles(engine, self.crawl_id, plan.name, plan.folder, plan.shared_files)
        self.number = self.files.number
        self.pages = self.files.pages
        self.images = self.files.images

        # Update the crawl, insert the worker, and open its files.
        try:
            with engine.begin() as connection:  # a transaction of its own, as it blocks other crawls on PostgreSQL
                begin_epoch(connection)
            with engine.begin() as connection:
                if plan.fresh:
                    self._start_fresh(connection)
                elif self.changes_topic:
                    self._check_alone(connection, "retopic=yes")
                values: dict[str, Any] = {"seeds": json.dumps(seeds)}
                if not plan.limits_tries:  # then unlikely links are requested like all others
                    values["unlikely"] = 0
                if not has_workers(connection, self.crawl_id):  # a crawl that is started again is no longer paused
                    values["control"] = Control.RUNNING
                if plan.topic_digest is not None and not self.changes_topic:
                    values |= {"topic": plan.topic, "topic_digest": plan.topic_digest}
                connection.execute(update(crawl).where(crawl.c.id == self.crawl_id).values(**values))
                self.worker_id = self._insert_worker(connection)
            with engine.begin() as connection:
                self.files.open(connection)
        except BaseException:
            self.files.withdraw()
            self.files.lock.release()
            raise

        claimant = Claimant(
            crawl_id=self.crawl_id,
            worker_id=self.worker_id,
            site_limit=plan.site_limit,
            max_pages=plan.max_pages,
            longest_rest=plan.longest_rest,
            images=plan.images,
            first_interval=plan.first_interval,
            on_topic=plan.on_topic,
            limits_tries=plan.limits_tries,
            tries=FIRST_TRIES if plan.limits_tries else NO_LIMIT,
        )
        keys = AddressKeys(self.crawl_id, plan.canonical)
        self.committer = BatchCommitter(engine, claimant, keys, self.files)
        self.committer.number = self.number
        self.committer.page_writer.bounds = plan.bounds
        self.committer.page_writer.versions = plan.versions

    def begin(self, seeds: Iterable[str], everything: bool = False) -> bool:
        """Begin a round if the last one is finished and pages are due; returns whether there is anything to do.

        With `everything`, all pages are due. If only seeds have failed for a temporary reason, no round begins: `seed`
        queues them again.
        """
        keys = {self.committer.keys(seed) for seed in seeds if seed not in self.erased_seeds}

        def begin_if_due(connection: Connection) -> bool:
            lock_crawl(connection, self.crawl_id)
            if is_unfinished(connection, self.committer.claimant, keys):
                return True
            limits = rounds.RoundLimits(list_interval=self.plan.bounds.least, site_pages=self.plan.site_limit)
            begun = rounds.begin_round(connection, self.committer.addresses, keys, everything, limits)
            return begun is not None or has_failed_seeds(connection, self.committer.claimant)

        return bool(self.committer.in_transaction(begin_if_due))

    def round_counts(self) -> RoundCounts | None:
        """The counts of pages in this round; None in the first, where all pages are new."""

        def count(connection: Connection) -> RoundCounts | None:
            if rounds.round_of(connection, self.crawl_id).is_first:
                return None
            return rounds.round_counts(connection, self.crawl_id)

        counts: RoundCounts | None = self.committer.in_transaction(count)
        return counts

    def put_off_counts(self) -> Outcomes:
        """How many addresses all workers and runs have put off, by pattern."""
        counts: Outcomes = self.committer.in_transaction(lambda connection: put_off_counts(connection, self.crawl_id))
        return counts

    def count_waiting_links(self) -> WaitingLinkCounts:
        """Count and save the links that wait because they are unlikely to lead to the topic, or are behind images."""
        claimant = self.committer.claimant
        links: WaitingLinkCounts = self.committer.in_transaction(
            lambda connection: count_waiting_links(connection, claimant)
        )
        return links

    def return_leases(self) -> int:
        """Return all leases; returns how many addresses are queued then."""

        def return_and_count(connection: Connection) -> int:
            forget_leases(connection, self.worker_id)
            return totals(connection, self.crawl_id).waiting

        queued: int = self.committer.in_transaction(return_and_count)
        return queued

    def seed(self, seeds: Iterable[Candidate]) -> None:
        """Queue seeds that are new or failed before; take images off the queue if the plan does not request any."""
        keys = self.committer.keys
        links: LinksByKey = {keys(seed.url, seed.kind): (seed, None) for seed in seeds}

        def add(connection: Connection) -> None:
            lock_crawl(connection, self.crawl_id)
            added = rounds.requeue_failed_seeds(connection, self.crawl_id, keys)
            added += self.committer.addresses.add(connection, links)
            self.committer.addresses.raise_hosts(connection)
            if not self.plan.images:
                added -= suspend_images(connection, self.crawl_id)
            own_row = worker.c.id == self.worker_id
            connection.execute(update(worker).where(own_row).values(waiting=worker.c.waiting + added))
            connection.execute(update(crawl).where(crawl.c.id == self.crawl_id).values(ended_at=None))

        self.committer.in_transaction(add)

    def known_seed(self) -> str | None:
        """The address of the first seed that any worker has queued in the crawl; None if there is none."""
        seeds = (
            select(address.c.url)
            .join(host, address.c.host_id == host.c.id)
            .where(host.c.crawl_id == self.crawl_id, address.c.kind == AddressKind.SEED)
            .order_by(address.c.id)
            .limit(1)
        )
        first_seed: str | None = self.committer.in_transaction(lambda connection: connection.execute(seeds).scalar())
        return first_seed

    def other_seeds_message(self) -> Message | None:
        """A message about seeds that are new to the crawl, or that only the crawl has; None without any."""
        before = set(self.seeds_before)
        now = set(self.plan.seeds)
        added = [seed for seed in self.plan.seeds if seed not in before]
        missing = [seed for seed in self.seeds_before if seed not in now]
        if not before or not (added or missing):
            return None
        values = {
            "name": repr(self.plan.name),
            "added": first(added, MOST_NAMED),
            "missing": first(missing, MOST_NAMED),
        }
        if not missing:
            return Message("The crawl {name} has new seeds, which are added: {added}.", values)
        if not added:
            return Message("The crawl {name} also has other seeds and continues with them: {missing}.", values)
        return Message(
            "The crawl {name} has new seeds, which are added: {added}. It also continues with those it had: {missing}.",
            values,
        )

    def erased_seeds_message(self) -> Message | None:
        """Which seeds are not requested because they were erased; None if there are none."""
        if not self.erased_seeds:
            return None
        values = {"name": repr(self.plan.name), "seeds": first(self.erased_seeds, MOST_NAMED)}
        return Message("The crawl {name} does not request these seeds, which were erased: {seeds}.", values)

    def finished_message(self) -> Message:
        """The message to a user who starts a crawl that has nothing left to do."""
        with self.engine.begin() as connection:
            pages = rounds.pages_known(connection, self.crawl_id)
            due = rounds.next_due(connection, self.crawl_id)
            is_of_others = output.c.crawl_id == self.crawl_id, output.c.number != self.number, output.c.pages_size > 0
            files_of_others = select(output.c.number).where(*is_of_others).limit(1)
            others_have_files = connection.execute(files_of_others).first() is not None
            links = count_waiting_links(connection, self.committer.claimant)
            # The crawl has ended although it would request other queued links: it has reached max_pages.
            has_requestable_links = links.requestable(totals(connection, self.crawl_id).waiting) > 0

        path: object = self.pages.path
        if others_have_files:
            path = Message("{path} and the files of other workers", {"path": path})
        values: dict[str, object] = {"name": repr(self.plan.name), "path": path}

        values["due"] = Message("Nothing is due")
        if due is not None:
            values["due"] = Message("Nothing is due, the next page in {span}", {"span": span(due)})
        values["how"] = Message("-a refresh=all fetches every page again, -a fresh=yes starts from scratch")
        if has_requestable_links:
            values["how"] = Message("a larger max_pages continues it, {others}", {"others": values["how"]})
        elif links.unlikely:
            values["how"] = Message(
                "-a min_chance=0 also requests links that are unlikely to lead to the topic, {others}",
                {"others": values["how"]},
            )
        elif links.behind_images:
            values["how"] = Message(
                "a larger max_pages judges links behind images, {others}", {"others": values["how"]}
            )
        return plural(
            "The crawl {name} is finished: {n} page, in {path}. {due}; {how}.",
            "The crawl {name} is finished: {n} pages, in {path}. {due}; {how}.",
            pages,
            **values,
        )

    def rejoin(self, expired: bool) -> None:
        """Continue without leases: with a new row if this worker expired, with its old row if only a reply was lost."""

        def renew(connection: Connection) -> int:
            lock_crawl(connection, self.crawl_id)
            if not expired:
                forget_leases(connection, self.worker_id)
                return self.worker_id
            successors = select(worker.c.id).where(worker.c.crawl_id == self.crawl_id, worker.c.number == self.number)
            if connection.execute(successors).first() is not None:
                raise StateError("another worker has taken over {path}", path=self.pages.path)
            return self._insert_worker(connection)

        self.committer.in_transaction(begin_epoch)  # the database may have been restored meanwhile
        self.worker_id = self.committer.in_transaction(renew)
        if expired:
            self.committer.renew(self.worker_id)

    def leave(self) -> None:
        """Return all leases and delete the worker's row."""
        try:
            self.committer.leave()
            self.files.withdraw()
        finally:
            self.close()

    def close(self) -> None:
        """Close the files and the database."""
        self.is_open = False
        self.engine.dispose()
        self.files.close()

    def _join_crawl(self) -> tuple[int, tuple[str, ...]]:
        """Find the crawl of this name or insert it, and compare its seeds and topic with those of the plan.

        Returns its id, and the seeds of both. Raises a StateError if crawl and plan have no seed in
        common, or if the crawl has another topic that may not be replaced.
        """
        new = dialect_insert(self.engine)(crawl)
        now = time.time()
        values: dict[str, Any] = {
            "name": self.plan.name,
            "seeds": json.dumps(self.plan.seeds),
            "started_at": now,
            "round_started": now,
        }
        with self.engine.begin() as connection:
            values["offset_before"] = last_drawn(connection)
            inserted = new.values(**values).on_conflict_do_nothing(index_elements=["name"]).returning(crawl.c.id)
            self.is_new = connection.execute(inserted).first() is not None
            row = connection.execute(select(crawl).where(crawl.c.name == self.plan.name)).one()
            keys = AddressKeys(row.id, self.plan.canonical)
            kept = without_erased(connection, keys, row.id, self.plan.seeds)
        self.erased_seeds = tuple(seed for seed in self.plan.seeds if seed not in kept)
        self.plan = replace(self.plan, seeds=kept)
        before = tuple(json.loads(row.seeds))
        if self.plan.fresh:
            return row.id, self.plan.seeds

        # If all seeds were erased, `before` or the seeds of the plan are empty, and there is nothing to compare.
        if before and self.plan.seeds and not set(before) & set(self.plan.seeds):
            raise StateError(
                "the crawl {name} has other seeds ({seeds}); give another -a name=NAME, or -a fresh=yes to discard it",
                name=repr(self.plan.name),
                seeds=", ".join(before)[:200],
            )

        has_other_topic = self.plan.topic_digest is not None and row.topic_digest not in (None, self.plan.topic_digest)
        self.changes_topic = has_other_topic and self.plan.retopic
        if has_other_topic and not self.plan.retopic:
            raise StateError(
                "the crawl {name} has another topic: {topic}; give that one, another -a name=NAME, -a retopic=yes to "
                "score it again, or -a fresh=yes to discard it",
                name=repr(self.plan.name),
                topic=repr(row.topic[:200]) if row.topic else Message("what its seeds are about"),
            )
        self.seeds_before = before
        return row.id, tuple(dict.fromkeys((*before, *self.plan.seeds)))

    def _insert_worker(self, connection: Connection) -> int:
        """Insert the row of this worker; returns its id."""
        values = {
            "crawl_id": self.crawl_id,
            "number": self.number,
            "folder_id": self.files.folder_id,
            "heartbeat": database_time(connection),
        }
        return int(connection.execute(insert(worker).values(**values).returning(worker.c.id)).scalar_one())

    def _start_fresh(self, connection: Connection) -> None:
        """Delete the frontier and rename the files; stored pages stay."""
        self._check_alone(connection, "fresh=yes")
        delete_frontier(connection, self.crawl_id)
        round_number = crawl.c.round + (0 if self.is_new else 1)  # a new crawl is in its first round already
        fresh_crawl = {
            "waiting": 0,
            "unlikely": 0,
            "behind_images": 0,
            "pages": 0,
            "round": round_number,
            "first_round": round_number,
            "started_at": time.time(),
            "round_started": time.time(),
            "ended_at": None,
        }
        connection.execute(update(crawl).where(crawl.c.id == self.crawl_id).values(**fresh_crawl))
        self.files.start_fresh(connection)

    def _check_alone(self, connection: Connection, argument: str) -> None:
        """Raise a StateError if the crawl has other workers; none can join until the transaction ends."""
        lock_crawl(connection, self.crawl_id)
        for dead in silent_workers(connection, self.crawl_id, database_time(connection)):
            expire_worker(connection, dead)
        others = select(func.count()).where(worker.c.crawl_id == self.crawl_id)
        if connection.execute(others).scalar_one():
            raise StateError(
                "the crawl {name} has other workers; stop them before using {argument}",
                name=repr(self.plan.name),
                argument=argument,
            )
