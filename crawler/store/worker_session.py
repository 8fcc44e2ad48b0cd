"""Seats: which worker of a crawl this process is, and which files are its own.

The first worker of a crawl writes NAME.jsonl, the others NAME-2.jsonl and so on. A number belongs to the folder that
holds its file: who starts there again goes on with it. The lock beside the file is held to the process's end, whatever
ends it, so whoever gets the lock knows that the one before is dead: what it held returns at once, and what it wrote
and never committed is cut off.
"""

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from crawler.frontier.messages import AddressKeys, Candidate
from crawler.recrawl.revisit_interval import Bounds
from crawler.store import rounds
from crawler.store.addresses import dialect_insert, in_chunks
from crawler.store.claims import LONGEST_REST, Claimant, expire_worker, next_best
from crawler.store.commit import BatchCommitter
from crawler.store.database import StateError, database_time
from crawler.store.images import suspend_images
from crawler.store.locks import lock_crawl
from crawler.store.output_files import (
    FOLDER_ID_FILE,
    JsonLines,
    folder_id,
    pages_file,
    rename_previous,
    write_folder_id,
)
from crawler.store.remaining import UnfinishedWork, something_waits
from crawler.store.rounds import RoundCounts
from crawler.store.schema import (
    IS_DONE,
    NO_OUTCOME,
    WAITING,
    address,
    crawl,
    evidence,
    focus,
    host,
    near_duplicate_band,
    output,
    shared_example,
    site,
    stored_response,
    verdict,
    worker,
)
from crawler.store.workers import LEASE_SECONDS, file_offsets, silent_workers
from crawler.translation.message import counted, span
from crawler.urls.canonical import Canonical

NO_BOUNDS = Bounds()


@dataclass(frozen=True)
class CrawlPlan:
    """What a crawl is to be."""

    name: str
    seeds: tuple[str, ...]
    """As they were given: what makes it this crawl and no other."""
    folder: Path
    canonical: Canonical
    site_limit: int
    max_pages: int | None = None
    longest_rest: float = LONGEST_REST
    fresh: bool = False
    pictures: bool = True
    """Whether pictures are asked for; else those that are known are left to a later run."""
    bounds: Bounds = NO_BOUNDS
    """Within which pages come again."""
    versions: int = 0
    """How many texts are kept of what a page said before."""


class WorkerSession:
    """A place at a crawl, held until `leave`."""

    def __init__(self, engine: Engine, plan: CrawlPlan) -> None:
        self.engine = engine
        self.plan = plan
        plan.folder.mkdir(parents=True, exist_ok=True)
        self.folder_id, copied = folder_id(plan.folder)
        if copied:
            self.folder_id = self._folder_id_of_copy()
        self.crawl_id, seeds = self._crawl_row()
        self.is_open, self.is_new = True, False
        self.lock, self.number = self._take_number()
        try:
            with engine.begin() as connection:
                if plan.fresh:
                    self._start_fresh(connection)
                mine = crawl.c.id == self.crawl_id
                connection.execute(update(crawl).where(mine).values(seeds=json.dumps(seeds)))
                self.worker_id = self._insert_worker(connection)
                marked = file_offsets(connection, *self._my_output())
            self.pages, self.images = (
                JsonLines(path, mark) for path, mark in zip(self.files(self.number), marked, strict=True)
            )
            self.pages.open()
            if self.images.path.exists():
                self.images.open()
        except BaseException:
            self._withdraw()
            self.lock.release()
            raise
        keys = AddressKeys(self.crawl_id, plan.canonical)
        limits = (plan.site_limit, plan.max_pages, plan.longest_rest, plan.pictures)
        claimant = Claimant(self.crawl_id, self.worker_id, *limits)
        self.committer = BatchCommitter(engine, claimant, keys, self.pages, self.images)
        self.committer.number = self.number
        self.committer.kept.bounds, self.committer.kept.versions = plan.bounds, plan.versions

    def files(self, number: int) -> tuple[Path, Path]:
        """The files of a worker: pages and pictures."""
        pages = self.plan.folder / pages_file(self.plan.name, number)
        return pages, pages.with_suffix(".images.jsonl")

    def begin(self, seeds: Iterable[str], everything: bool = False) -> bool:
        """Whether anything is to be done: what is left of the crawl's round, or else a new one, which begins then."""
        keys = {self.committer.keys(seed) for seed in seeds}

        def look(connection: Connection) -> bool:
            lock_crawl(connection, self.crawl_id)
            left = UnfinishedWork(connection, self.committer.claimant)
            if left.is_unfinished(keys):
                return True
            begun = rounds.begin_round(connection, self.crawl_id, keys, everything, self.plan.bounds.least)
            return begun is not None or left.has_failed_seeds

        return bool(self.committer.in_transaction(look))

    def tally(self) -> RoundCounts | None:
        """The pages of this round, counted; None in the first, where all are new."""

        def count(connection: Connection) -> RoundCounts | None:
            which = rounds.round_of(connection, self.crawl_id)
            return rounds.round_counts(connection, self.crawl_id) if which.comes_again else None

        found: RoundCounts | None = self.committer.in_transaction(count)
        return found

    def seed(self, seeds: Iterable[Candidate]) -> None:
        """Let the seeds wait that are not known, or failed before; pictures wait no more if none are wanted."""
        keys = self.committer.keys
        links: dict[int, tuple[Candidate, int | None]] = {keys(seed.url, seed.kind): (seed, None) for seed in seeds}

        def add(connection: Connection) -> None:
            lock_crawl(connection, self.crawl_id)
            added = self._requeue_failed_seeds(connection) + self.committer.addresses.add(connection, links)
            self.committer.addresses.raise_hosts(connection)
            if not self.plan.pictures:
                added -= suspend_images(connection, self.crawl_id)
            mine = worker.c.id == self.worker_id
            connection.execute(update(worker).where(mine).values(waiting=worker.c.waiting + added))
            connection.execute(update(crawl).where(crawl.c.id == self.crawl_id).values(ended_at=None))

        self.committer.in_transaction(add)

    def seed_known(self) -> str | None:
        """The address of a seed that this crawl already has, or None."""
        seeds = select(address.c.url).join(host, address.c.host_id == host.c.id)
        seeds = seeds.where(host.c.crawl_id == self.crawl_id, address.c.kind == "seed").order_by(address.c.id).limit(1)
        known: str | None = self.committer.in_transaction(lambda connection: connection.execute(seeds).scalar())
        return known

    def _requeue_failed_seeds(self, connection: Connection) -> int:
        """Let wait again the seeds and examples that failed; how many."""
        failed = shared_example.c.crawl_id == self.crawl_id, shared_example.c.kind.in_(("again", "again example"))
        rows = connection.execute(select(shared_example.c.kind, shared_example.c.text).where(*failed)).all()
        connection.execute(delete(shared_example).where(*failed))
        keys = {self.committer.keys(row.text, "seed" if row.kind == "again" else "example") for row in rows}
        return sum(self._reopen(connection, part) for part in in_chunks(sorted(keys)))

    def _reopen(self, connection: Connection, keys: Sequence[int]) -> int:
        """Let addresses wait again that are done with, and their hosts be asked again; how many."""
        done = address.c.key.in_(keys), IS_DONE
        hosts = connection.execute(select(address.c.host_id).where(*done)).scalars().all()
        opened = connection.execute(update(address).where(*done).values(state=WAITING, **NO_OUTCOME)).rowcount
        anew = {"best": next_best, "closed": None, "next_at": 0.0}
        connection.execute(update(host).where(host.c.id.in_(sorted(set(hosts)))).values(**anew))
        return opened

    def finished_message(self) -> str:
        """What a crawl says that is asked to go on and has nothing left to do."""
        with self.engine.begin() as connection:
            pages, due = rounds.pages_known(connection, self.crawl_id), rounds.next_due(connection, self.crawl_id)
            files = connection.execute(select(func.count()).where(output.c.crawl_id == self.crawl_id)).scalar_one()
            waiting = something_waits(connection, self.crawl_id)
        path = self.pages.path if files == 1 else f"{self.pages.path} and the files of other workers"
        said = f"The crawl {self.plan.name!r} is finished: {counted(pages, 'page')}, in {path}. Nothing is due"
        said += f", the next page in {span(due)}; " if due is not None else "; "
        said += "a larger max_pages goes on, " if waiting else ""
        return f"{said}-a refresh=all takes every page, -a fresh=yes starts it anew."

    def renew(self) -> None:
        """Take part again after this worker was taken for dead."""
        try:
            self.worker_id = self.committer.in_transaction(self._insert_worker)
        except IntegrityError:
            raise StateError(f"another worker has taken the seat of {self.pages.path}") from None
        self.committer.renew(self.worker_id)

    def leave(self) -> None:
        """Give back what is held, and let another have the seat."""
        try:
            self.committer.leave()
            self._withdraw()
        finally:
            self.close()

    def close(self) -> None:
        """Close the files and the database."""
        self.is_open = False
        self.pages.close()
        self.images.close()
        self.engine.dispose()
        self.lock.release()

    def _crawl_row(self) -> tuple[int, tuple[str, ...]]:
        """The number of the crawl of this name, entered if there is none, and its seeds with those given now."""
        new = dialect_insert(self.engine)(crawl)
        now = time.time()
        given = {"name": self.plan.name, "seeds": json.dumps(self.plan.seeds), "started_at": now, "round_started": now}
        with self.engine.begin() as connection:
            connection.execute(new.values(**given).on_conflict_do_nothing(index_elements=["name"]))
            row = connection.execute(select(crawl).where(crawl.c.name == self.plan.name)).one()
        before = tuple(json.loads(row.seeds))
        if self.plan.fresh:
            return row.id, self.plan.seeds
        if not set(before) & set(self.plan.seeds):
            raise StateError(
                f"the crawl {self.plan.name!r} is of other seeds ({', '.join(before)[:200]}); "
                "give another -a name=NAME, or -a fresh=yes to forget it"
            )
        return row.id, tuple(dict.fromkeys((*before, *self.plan.seeds)))

    def _take_number(self) -> tuple[FileLock, int]:
        """The first seat of this folder that nobody sits on, or a new one; what dead workers here held returns."""
        with self.engine.begin() as connection:
            here = output.c.crawl_id == self.crawl_id, output.c.folder_id == self.folder_id
            numbers = connection.execute(select(output.c.number).where(*here)).scalars().all()
            others = self._files_of_others(connection)
        mine = sorted(number for number in numbers if self.files(number)[0].name not in others)
        session: tuple[FileLock, int] | None = None
        for number in mine:
            lock = self._lock(number)
            if lock is None:
                continue
            self._recover_number(number)
            if session is None:
                session = lock, number
            else:
                lock.release()
        if session is not None:
            return session
        if mine and self.engine.dialect.name == "sqlite":
            raise StateError(
                f"a crawl named {self.plan.name!r} is running here; give this one another -a name=NAME "
                "(many workers of one crawl want PostgreSQL: setting STATE_URL)"
            )
        return self._new_seat()

    def _new_seat(self) -> tuple[FileLock, int]:
        for _ in range(100):
            with self.engine.begin() as connection:
                given = select(output.c.number).where(output.c.crawl_id == self.crawl_id)
                taken = set(connection.execute(given).scalars())
                others = self._files_of_others(connection)
                free = (n for n in count(1) if n not in taken and self.files(n)[0].name not in others)
                number = next(free)
            lock = self._lock(number)
            if lock is None:
                time.sleep(0.05)
                continue  # another worker takes it just now
            try:
                for path in self.files(number):
                    rename_previous(path)
                with self.engine.begin() as connection:
                    values = {"crawl_id": self.crawl_id, "number": number, "folder_id": self.folder_id}
                    connection.execute(insert(output).values(**values))
            except IntegrityError:  # another worker was faster
                lock.release()
                continue
            self.is_new = True
            return lock, number
        raise StateError(f"the folder {self.plan.folder} is in use by other crawls named {self.plan.name!r}")

    def _files_of_others(self, connection: Connection) -> set[str]:
        """The files that other crawls have in this folder: `bees-2` may be a crawl, or the second worker of `bees`."""
        sessions = select(crawl.c.name, output.c.number).join(output, output.c.crawl_id == crawl.c.id)
        rows = connection.execute(
            sessions.where(output.c.folder_id == self.folder_id, crawl.c.id != self.crawl_id)
        ).all()
        return {pages_file(row.name, row.number) for row in rows}

    def _lock(self, number: int) -> FileLock | None:
        pages, _ = self.files(number)
        lock = FileLock(pages.with_name(f".{pages.stem}.lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return None
        return lock

    def _recover_number(self, number: int) -> None:
        """Bury the dead worker that had this seat, and cut its files back to what it committed."""
        session = worker.c.crawl_id == self.crawl_id, worker.c.number == number
        with self.engine.begin() as connection:
            lock_crawl(connection, self.crawl_id)
            for dead in connection.execute(select(worker.c.id).where(*session)).scalars().all():
                expire_worker(connection, dead)
            marked = file_offsets(connection, *self._my_output(number))
        for path, mark in zip(self.files(number), marked, strict=True):
            if path.exists():
                lines = JsonLines(path, mark)
                lines.open()
                lines.close()

    def _my_output(self, number: int | None = None) -> tuple[ColumnElement[bool], ...]:
        return output.c.crawl_id == self.crawl_id, output.c.number == (number or self.number)

    def _withdraw(self) -> None:
        """Give up a number that was new and under which nothing was written."""
        if not self.is_new or self.number == 1:
            return
        empty = output.c.pages_size + output.c.images_size == 0
        with suppress(SQLAlchemyError), self.engine.begin() as connection:
            connection.execute(delete(output).where(*self._my_output(), empty))
        path, _ = self.files(self.number)
        if path.exists() and not path.stat().st_size:
            path.unlink()

    def _folder_id_of_copy(self) -> str:
        """The name of a folder that is a copy, or was moved: a new one if workers are at work in the other."""
        with self.engine.begin() as connection:
            beats = select(func.max(worker.c.heartbeat)).where(worker.c.folder_id == self.folder_id)
            last = connection.execute(beats).scalar()
            if last is not None and database_time(connection) - last < LEASE_SECONDS:
                (self.plan.folder / FOLDER_ID_FILE).unlink()
                return folder_id(self.plan.folder)[0]
        write_folder_id(self.plan.folder, self.folder_id)
        return self.folder_id

    def _insert_worker(self, connection: Connection) -> int:
        values = {
            "crawl_id": self.crawl_id,
            "number": self.number,
            "folder_id": self.folder_id,
            "heartbeat": database_time(connection),
        }
        return int(connection.execute(insert(worker).values(**values).returning(worker.c.id)).scalar_one())

    def _start_fresh(self, connection: Connection) -> None:
        """Forget the frontier, and keep its files aside; the pages stay."""
        lock_crawl(connection, self.crawl_id)
        for dead in silent_workers(connection, self.crawl_id, database_time(connection)):
            expire_worker(connection, dead)
        others = select(func.count()).where(worker.c.crawl_id == self.crawl_id)
        if connection.execute(others).scalar_one():
            raise StateError(f"the crawl {self.plan.name!r} has other workers at it; fresh=yes wants them to end first")
        delete_frontier(connection, self.crawl_id)
        mine = output.c.crawl_id == self.crawl_id
        numbers = (
            connection.execute(select(output.c.number).where(mine, output.c.folder_id == self.folder_id))
            .scalars()
            .all()
        )
        connection.execute(delete(output).where(mine))
        values = {"crawl_id": self.crawl_id, "number": self.number, "folder_id": self.folder_id}
        connection.execute(insert(output).values(**values))
        counts: dict[str, Any] = {"waiting": 0, "pages": 0, "ended_at": None, "started_at": time.time()}
        counts |= {"round": crawl.c.round + 1, "first_round": crawl.c.round + 1, "round_started": time.time()}
        connection.execute(update(crawl).where(crawl.c.id == self.crawl_id).values(**counts))
        taken = self._files_of_others(connection)
        for pages, images in map(self.files, numbers):
            if pages.name not in taken:
                rename_previous(pages)
                rename_previous(images)


def delete_frontier(connection: Connection, crawl_id: int) -> None:
    """Drop a crawl's frontier: its addresses, hosts and sites, what its seeds taught, its pictures told and its links
    led to, which are alike, and the responses they came in. What its hosts' pages have in common is as true as before.
    """
    hosts = select(host.c.id).where(host.c.crawl_id == crawl_id)
    connection.execute(delete(address).where(address.c.host_id.in_(hosts)))
    for table in (host, site, shared_example, evidence, verdict, focus, near_duplicate_band, stored_response):
        connection.execute(delete(table).where(table.c.crawl_id == crawl_id))
