"""The jobs and their runs in the database, shared by all schedulers.

A scheduler locks a job's row before it starts a run, so that only one scheduler starts it. The run then belongs to the
process that crawls: it writes the heartbeats and the result, and reads there whether it must stop. So the run continues
even if the scheduler that started it dies.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, delete, func, insert, select, update

from crawler.errors import StateError
from crawler.store.crawl_tables import crawl, job, run, sample
from crawler.store.database import database_errors, database_time, display_url
from crawler.store.page_tables import page
from crawler.translation.message import N_

# Why a run is started.
ON_TIME = "cron"
TOO_LATE = "late"
BY_HAND = "now"


class RunStatus(StrEnum):
    """How far a run of a job has come."""

    RUNNING = "running"
    STOPPING = N_("stopping")
    """Its scheduler has told its process."""
    TOLD = N_("told to stop")
    """Its process is to read it here, as nobody tells it."""
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class JobError(StateError):
    """An action on a job is not possible."""


@dataclass(frozen=True)
class Run:
    id: int
    job_id: int
    number: int
    how: str
    due: float | None
    missed: int
    passed: int
    status: RunStatus
    exit: int | None
    started_at: float
    beat: float
    ended_at: float | None
    place: str
    host: str
    pid: int | None
    pages: int | None
    new: int | None = None
    changed: int | None = None
    gone: int | None = None
    read: int | None = None
    on_topic: int | None = None
    notice: str | None = None

    @property
    def harvest(self) -> float | None:
        """The share of pages on topic among those that were read."""
        if self.read:
            return (self.on_topic or 0) / self.read
        return None


@dataclass(frozen=True)
class Job:
    """A job as stored in the database; its texts are not validated yet."""

    id: int
    name: str
    cron: str
    timezone: str
    spider: str
    arguments: str
    settings: str
    crawl: str
    paused: bool
    next_at: float | None
    runs: int
    notify: str | None = None
    now: Run | None = None
    last: Run | None = None
    """The last run that has ended."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a run is."""

    name: str
    """The folder of its log, wherever it is mounted."""
    host: str


@dataclass(frozen=True, slots=True)
class DueRun:
    """Why a run is started, and when the next one is due."""

    how: str
    _: KW_ONLY
    at: float | None = None
    missed: int = 0
    next_at: float | None = None


def find_job(jobs: list[Job], name: str) -> Job:
    """The job of this name; raises a JobError if there is none."""
    for candidate in jobs:
        if candidate.name == name:
            return candidate
    if not jobs:
        raise JobError("there is no job {name}; there are no jobs", name=repr(name))
    others = ", ".join(known_job.name for known_job in jobs[:10])
    raise JobError("there is no job {name}; there are {names}", name=repr(name), names=others)


def jobs_of(connection: Connection) -> list[Job]:
    """All jobs, by their names, with their runs."""
    last = select(func.max(run.c.id)).where(run.c.ended_at.is_not(None)).group_by(run.c.job_id)
    is_latest = run.c.ended_at.is_(None) | run.c.id.in_(last)
    runs = [Run(**row._mapping) for row in connection.execute(select(run).where(is_latest))]
    now = {latest_run.job_id: latest_run for latest_run in runs if latest_run.ended_at is None}
    ended = {latest_run.job_id: latest_run for latest_run in runs if latest_run.ended_at is not None}
    rows = connection.execute(select(job).order_by(job.c.name)).all()
    return [Job(**row._mapping, now=now.get(row.id), last=ended.get(row.id)) for row in rows]


def history_of(connection: Connection, name: str) -> tuple[Job, list[Run]]:
    """A job and its runs, newest first; raises a JobError if there is none."""
    named_job = find_job(jobs_of(connection), name)
    rows = connection.execute(select(run).where(run.c.job_id == named_job.id).order_by(run.c.number.desc()))
    return named_job, [Run(**row._mapping) for row in rows]


def pages_of(connection: Connection, crawl_name: str, since: float, until: float) -> dict[str, int]:
    """How many pages of a crawl were stored between two moments, and how many of them were new, changed and gone."""
    moments = (datetime.fromtimestamp(moment, UTC) for moment in (since, until))
    first, last = (moment.isoformat(timespec="seconds") for moment in moments)
    of_crawl = page.c.crawl_id == select(crawl.c.id).where(crawl.c.name == crawl_name).scalar_subquery()

    def count(column: ColumnElement[str | None]) -> ColumnElement[int]:
        return func.count().filter(column.between(first, last))

    # A page is never fetched before it was first seen or last changed, so that one range of an index holds all.
    counts = (count(column) for column in (page.c.fetched_at, page.c.first_seen, page.c.changed_at))
    stored = connection.execute(select(*counts).where(of_crawl, page.c.fetched_at >= first)).one()
    gone = select(func.count()).where(of_crawl, page.c.gone_at.between(first, last))
    return {
        **dict(zip(("pages", "new", "changed"), map(int, stored), strict=True)),
        "gone": int(connection.execute(gone).scalar_one()),
    }


def harvest_of(connection: Connection, crawl_name: str, since: float) -> dict[str, int]:
    """How many pages a crawl has read since a moment, and how many of them were on topic."""
    of_crawl = sample.c.crawl_id == select(crawl.c.id).where(crawl.c.name == crawl_name).scalar_subquery()
    sums = [func.coalesce(func.sum(column), 0) for column in (sample.c.read, sample.c.on_topic)]
    read, on_topic = connection.execute(select(*sums).where(of_crawl, sample.c.at >= since)).one()
    return {"read": int(read), "on_topic": int(on_topic)}


class Jobs:
    """The jobs of a database."""

    def __init__(self, engine: Engine, clock: Callable[[Connection], float] = database_time) -> None:
        self.engine = engine
        self.clock = clock

    def add(self, name: str, described: Callable[[float], dict[str, Any]]) -> None:
        """Add a job; raises a JobError if there is one of this name, or of this crawl."""
        with self.writing() as connection:
            values = described(self.clock(connection))
            for row in connection.execute(select(job.c.name, job.c.crawl)):
                if row.name.casefold() == name.casefold():  # folder names may be case-insensitive
                    raise JobError(
                        "there is already a job {name}; winnow schedule remove {other} removes it",
                        name=repr(row.name),
                        other=row.name,
                    )
                if row.crawl == values["crawl"]:
                    raise JobError(
                        "the crawl {crawl} already belongs to the job {name}; give another -a name=NAME",
                        crawl=repr(row.crawl),
                        name=repr(row.name),
                    )
            row_values = {"name": name, "paused": False, "runs": 0, **values}
            connection.execute(insert(job).values(**row_values))

    def all(self) -> tuple[list[Job], float]:
        """The jobs with their current runs, and the time of the database's clock."""
        with self.reading() as connection:
            return jobs_of(connection), self.clock(connection)

    def remove(self, name: str) -> None:
        """Delete a job and its runs, unless one is running; the crawl stays."""
        with self.writing() as connection:
            named_job = self._find(connection, name)
            if named_job.now is not None:
                raise JobError(
                    "run {n} of the job {name} is still running; stop it first", n=named_job.now.number, name=repr(name)
                )
            connection.execute(delete(run).where(run.c.job_id == named_job.id))
            connection.execute(delete(job).where(job.c.id == named_job.id))

    def pause(self, name: str) -> bool:
        """Do not start a job until it is resumed; returns whether it was active."""
        with self.writing() as connection:
            named_job = self._find(connection, name)
            connection.execute(update(job).where(job.c.id == named_job.id).values(paused=True))
            return not named_job.paused

    def resume(self, name: str, next_at: Callable[[Job, float], float | None]) -> bool:
        """Start a paused job again from now on; returns whether it was paused."""
        with self.writing() as connection:
            named_job = self._find(connection, name)
            if named_job.paused:
                values = {"paused": False, "next_at": next_at(named_job, self.clock(connection))}
                connection.execute(update(job).where(job.c.id == named_job.id).values(**values))
            return named_job.paused

    def start(self, which: Job, due: DueRun, place: RunPlace) -> Run | None:
        """Add a new run of a job; None if one is running, or another scheduler was faster."""
        with self.writing() as connection:
            is_job = job.c.id == which.id
            row = connection.execute(select(job).where(is_job).with_for_update()).one_or_none()
            busy = select(run.c.id).where(run.c.job_id == which.id, run.c.ended_at.is_(None))
            if row is None or connection.execute(busy).first() is not None:
                return None
            if due.at is not None and (row.paused or row.next_at != due.at):
                return None
            number = row.runs + 1
            next_at = row.next_at if due.at is None else due.next_at
            connection.execute(update(job).where(is_job).values(runs=number, next_at=next_at))
            now = self.clock(connection)
            values = {"job_id": which.id, "number": number, "how": due.how, "due": due.at, "missed": due.missed}
            values |= {"passed": 0, "status": RunStatus.RUNNING, "started_at": now, "beat": now}
            values |= {"place": place.name, "host": place.host}
            added = connection.execute(insert(run).values(**values).returning(*run.c)).one()
            return Run(**added._mapping)

    def pass_over(self, which: Job, under_way: Run, due: DueRun) -> None:
        """Skip times that passed during a run, and count them in the run."""
        with self.writing() as connection:
            is_still_due = job.c.id == which.id, job.c.next_at == due.at
            if connection.execute(update(job).where(*is_still_due).values(next_at=due.next_at)).rowcount:
                counted = update(run).where(run.c.id == under_way.id)
                connection.execute(counted.values(passed=run.c.passed + 1 + due.missed))

    def arrive(self, name: str, number: int, pid: int) -> tuple[Job, Run] | None:
        """The job and its run of this number, whose process holds the lock; None if the run is not wanted any more."""
        with self.writing() as connection:
            named_job = self._find(connection, name)
            if named_job.now is None or named_job.now.number != number or named_job.now.status != RunStatus.RUNNING:
                return None
            values = {"pid": pid, "beat": self.clock(connection)}
            connection.execute(update(run).where(run.c.id == named_job.now.id).values(**values))
            return named_job, named_job.now

    def beat(self, run_id: int) -> bool:
        """Write a heartbeat; returns whether the run is to go on, as far as its own process is responsible for that."""
        with self.writing() as connection:
            own_row = update(run).where(run.c.id == run_id, run.c.ended_at.is_(None))
            status = connection.execute(own_row.values(beat=self.clock(connection)).returning(run.c.status)).scalar()
            return status in (RunStatus.RUNNING, RunStatus.STOPPING)

    def stop(self, run_id: int, status: RunStatus) -> None:
        """Mark a run as one that is to stop."""
        with self.writing() as connection:
            own_row = run.c.id == run_id, run.c.ended_at.is_(None)
            connection.execute(update(run).where(*own_row).values(status=status))

    def end(self, which: Run, exit_status: int | None, crawl_name: str) -> Run:
        """Record how a run ended, if that is not recorded yet; without an exit status: it died, and nobody saw how."""
        with self.writing() as connection:
            own_row = run.c.id == which.id
            row = connection.execute(select(run).where(own_row).with_for_update()).one_or_none()
            if row is None or row.ended_at is not None:
                if row is None:
                    return which
                return Run(**row._mapping)
            now = self.clock(connection)
            ended = max(row.started_at, row.beat) if exit_status is None else now
            killed = exit_status is None or exit_status < 0
            was_asked_to_stop = row.status in (RunStatus.STOPPING, RunStatus.TOLD) and (exit_status == 0 or killed)
            status = (
                RunStatus.STOPPED if was_asked_to_stop else RunStatus.DONE if exit_status == 0 else RunStatus.FAILED
            )
            values = {"ended_at": ended, "exit": exit_status, "status": status}
            values |= pages_of(connection, crawl_name, row.started_at, now)
            values |= harvest_of(connection, crawl_name, row.started_at)
            ended_run = connection.execute(update(run).where(own_row).values(**values).returning(*run.c)).one()
            return Run(**ended_run._mapping)

    def claim_notice(self, run_id: int) -> bool:
        """Whether the caller is the one to tell how a run ended; true once."""
        with self.writing() as connection:
            unnoticed = run.c.id == run_id, run.c.ended_at.is_not(None), run.c.notice.is_(None)
            return bool(connection.execute(update(run).where(*unnoticed).values(notice="")).rowcount)

    def write_notice(self, run_id: int, result: str) -> None:
        """Record whether somebody was told how a run ended."""
        with self.writing() as connection:
            connection.execute(update(run).where(run.c.id == run_id).values(notice=result))

    def earlier(self, than: Run, most: int) -> list[Run]:
        """The runs of a job before one, newest first."""
        before_run = run.c.job_id == than.job_id, run.c.number < than.number
        with self.reading() as connection:
            rows = connection.execute(select(run).where(*before_run).order_by(run.c.number.desc()).limit(most))
            return [Run(**row._mapping) for row in rows]

    def forget(self, which: Job, keep: int) -> None:
        """Delete the runs of a job except the last so many."""
        with self.writing() as connection:
            last = select(job.c.runs).where(job.c.id == which.id).scalar_subquery()
            old = run.c.job_id == which.id, run.c.number <= last - keep, run.c.ended_at.is_not(None)
            connection.execute(delete(run).where(*old))

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction; raises a StateError, or a DatabaseUnavailableError if the database may be usable later."""
        self._check_file()
        with database_errors(self.engine.url), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that writes nothing and waits for no lock, with the same errors."""
        self._check_file()
        with database_errors(self.engine.url), self.engine.connect().execution_options(reading=True) as connection:
            yield connection

    def _check_file(self) -> None:
        """Raise a StateError if SQLite's file was deleted: SQLite would go on writing to the deleted file."""
        url = self.engine.url
        if url.drivername == "sqlite" and not Path(str(url.database)).exists():
            raise StateError("the database {path} was deleted", path=display_url(url))

    def _find(self, connection: Connection, name: str) -> Job:
        """The job of this name, locked against other changes."""
        connection.execute(select(job.c.id).where(job.c.name == name).with_for_update())
        return find_job(jobs_of(connection), name)
