"""The jobs and their runs in the database, shared by all schedulers.

A scheduler locks a job's row before it starts a run, so that only one scheduler starts it. The run then belongs to the
process that crawls: it writes heartbeats and the result to the run's row, and reads there whether it must stop. So the
run continues even if the scheduler that started it dies.
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

# How a run is started: by a scheduler at its time or later, or by a user.
ON_TIME = "cron"
TOO_LATE = "late"
BY_HAND = "now"

RowMaker = Callable[[float], dict[str, Any]]
"""A function that makes the row of a new job; it takes the present time of the database's clock, from which the job is
scheduled.
"""


class RunStatus(StrEnum):
    """The state of a run."""

    RUNNING = "running"
    STOPPING = N_("stopping")
    """Its scheduler has told its process to stop."""
    TOLD = N_("told to stop")
    """It must stop. Its process learns this only when it reads the status, with its next heartbeat."""
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


class JobError(StateError):
    """An action on a job is not possible."""


@dataclass(frozen=True)
class Run:
    """A run of a job, as stored in the database."""

    id: int
    job_id: int
    number: int
    """The number among the runs of its job, from 1."""
    how: str
    """How it was started: ON_TIME, TOO_LATE or BY_HAND."""
    due: float | None
    """When it was due; None if it was started by hand."""
    missed: int
    """Times at which the job should have run before it, while no scheduler ran; this run makes up for them."""
    passed: int
    """Times that were skipped while it was running."""
    status: RunStatus
    exit: int | None
    """The exit status of its process."""
    started_at: float
    beat: float
    """When its last heartbeat was written."""
    ended_at: float | None
    place: str
    """The id of the output folder with its log."""
    host: str
    pid: int | None
    # The counts of the crawl's pages, None while the run continues.
    pages: int | None
    new: int | None = None
    changed: int | None = None
    gone: int | None = None
    read: int | None = None
    on_topic: int | None = None
    notice: str | None = None
    """The result of its notice; empty while it is being sent, None before that."""

    @property
    def harvest(self) -> float | None:
        """The share of pages on topic among those that were read."""
        if self.read:
            return (self.on_topic or 0) / self.read
        return None


@dataclass(frozen=True)
class Job:
    """A job as stored in the database. Its texts may be invalid: others may write to the database."""

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
    """When it is due next; None if never."""
    runs: int
    """The number of runs that were ever started."""
    notify: str | None = None
    """The address of its webhook."""
    now: Run | None = None
    """The run that has not ended yet."""
    last: Run | None = None
    """The last run that has ended."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """The folder and the machine of a run."""

    folder_id: str
    """The id of the output folder, wherever it is mounted."""
    host: str


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run to be started, and when the next run is due."""

    how: str
    """ON_TIME, TOO_LATE or BY_HAND."""
    _: KW_ONLY
    due_at: float | None = None
    """When it is due; None for a run that is started by hand."""
    missed: int = 0
    """As in `Run`."""
    next_at: float | None = None
    """When the next run is due; None if never, or for a run that is started by hand."""


def find_job(jobs: list[Job], name: str) -> Job:
    """The job with this name; raises a JobError if there is none."""
    for candidate in jobs:
        if candidate.name == name:
            return candidate
    if not jobs:
        raise JobError("there is no job {name}; there are no jobs", name=repr(name))
    others = ", ".join(known_job.name for known_job in jobs[:10])
    raise JobError("there is no job {name}; there are {names}", name=repr(name), names=others)


def jobs_of(connection: Connection) -> list[Job]:
    """All jobs, sorted by name, each with its current and its last run."""
    last = select(func.max(run.c.id)).where(run.c.ended_at.is_not(None)).group_by(run.c.job_id)
    is_latest = run.c.ended_at.is_(None) | run.c.id.in_(last)
    runs = [Run(**row._mapping) for row in connection.execute(select(run).where(is_latest))]
    now = {latest_run.job_id: latest_run for latest_run in runs if latest_run.ended_at is None}
    ended = {latest_run.job_id: latest_run for latest_run in runs if latest_run.ended_at is not None}
    rows = connection.execute(select(job).order_by(job.c.name)).all()
    return [Job(**row._mapping, now=now.get(row.id), last=ended.get(row.id)) for row in rows]


def history_of(connection: Connection, name: str) -> tuple[Job, list[Run]]:
    """A job and its runs, newest first; raises a JobError if there is no such job."""
    named_job = find_job(jobs_of(connection), name)
    rows = connection.execute(select(run).where(run.c.job_id == named_job.id).order_by(run.c.number.desc()))
    return named_job, [Run(**row._mapping) for row in rows]


def pages_of(connection: Connection, crawl_name: str, since: float, until: float) -> dict[str, int]:
    """The number of a crawl's pages that were stored, new, changed and gone between two moments."""
    first = datetime.fromtimestamp(since, UTC).isoformat(timespec="seconds")
    last = datetime.fromtimestamp(until, UTC).isoformat(timespec="seconds")
    of_crawl = page.c.crawl_id == select(crawl.c.id).where(crawl.c.name == crawl_name).scalar_subquery()

    def count(column: ColumnElement[str | None]) -> ColumnElement[int]:
        return func.count().filter(column.between(first, last))

    # A page is never fetched before it was first seen or last changed, so one range of an index has all three kinds.
    counts = (count(page.c.fetched_at), count(page.c.first_seen), count(page.c.changed_at))
    pages, new, changed = connection.execute(select(*counts).where(of_crawl, page.c.fetched_at >= first)).one()
    gone_pages = select(func.count()).where(of_crawl, page.c.gone_at.between(first, last))
    gone = connection.execute(gone_pages).scalar_one()
    return {"pages": int(pages), "new": int(new), "changed": int(changed), "gone": int(gone)}


def harvest_of(connection: Connection, crawl_name: str, since: float) -> dict[str, int]:
    """The number of pages that a crawl has read since a moment, and how many of these are on topic."""
    of_crawl = sample.c.crawl_id == select(crawl.c.id).where(crawl.c.name == crawl_name).scalar_subquery()
    sums = [func.coalesce(func.sum(column), 0) for column in (sample.c.read, sample.c.on_topic)]
    read, on_topic = connection.execute(select(*sums).where(of_crawl, sample.c.at >= since)).one()
    return {"read": int(read), "on_topic": int(on_topic)}


class Jobs:
    """The jobs of a database."""

    def __init__(self, engine: Engine, clock: Callable[[Connection], float] = database_time) -> None:
        self.engine = engine
        self.clock = clock

    def add(self, name: str, make_row: RowMaker) -> None:
        """Add a job; raises a JobError if a job has its name or its crawl."""
        with self.writing() as connection:
            values = make_row(self.clock(connection))
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
        """The jobs with their current and last runs, and the time of the database's clock."""
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
        """Pause a job, which is then not started until it is resumed; returns whether it was active."""
        with self.writing() as connection:
            named_job = self._find(connection, name)
            connection.execute(update(job).where(job.c.id == named_job.id).values(paused=True))
            return not named_job.paused

    def resume(self, name: str, next_at: Callable[[Job, float], float | None]) -> bool:
        """Resume a job, so that it is started when it is due after now; returns whether it was paused."""
        with self.writing() as connection:
            named_job = self._find(connection, name)
            if named_job.paused:
                values = {"paused": False, "next_at": next_at(named_job, self.clock(connection))}
                connection.execute(update(job).where(job.c.id == named_job.id).values(**values))
            return named_job.paused

    def start(self, due_job: Job, due: DueRun, place: RunPlace) -> Run | None:
        """Add a new run of a job; None if a run of the job is running, or another scheduler has changed the job since
        it was read.
        """
        with self.writing() as connection:
            is_job = job.c.id == due_job.id
            row = connection.execute(select(job).where(is_job).with_for_update()).one_or_none()
            current_run = select(run.c.id).where(run.c.job_id == due_job.id, run.c.ended_at.is_(None))
            if row is None or connection.execute(current_run).first() is not None:
                return None
            if due.due_at is not None and (row.paused or row.next_at != due.due_at):
                return None

            number = row.runs + 1
            next_at = row.next_at if due.due_at is None else due.next_at
            connection.execute(update(job).where(is_job).values(runs=number, next_at=next_at))
            now = self.clock(connection)
            values = {"job_id": due_job.id, "number": number, "how": due.how, "due": due.due_at, "missed": due.missed}
            values |= {"passed": 0, "status": RunStatus.RUNNING, "started_at": now, "beat": now}
            values |= {"place": place.folder_id, "host": place.host}
            added = connection.execute(insert(run).values(**values).returning(*run.c)).one()
            return Run(**added._mapping)

    def skip_times(self, due_job: Job, current_run: Run, due: DueRun) -> None:
        """Skip the time when a job is due, and the times missed since then, because its current run continues. The run
        counts them in `passed`.
        """
        with self.writing() as connection:
            is_still_due = job.c.id == due_job.id, job.c.next_at == due.due_at
            if connection.execute(update(job).where(*is_still_due).values(next_at=due.next_at)).rowcount:
                own_row = update(run).where(run.c.id == current_run.id)
                connection.execute(own_row.values(passed=run.c.passed + 1 + due.missed))

    def record_process(self, name: str, number: int, pid: int) -> tuple[Job, Run] | None:
        """Record the process of a run, which holds the lock; returns the job and the run, or None if the run has ended
        or must stop.
        """
        with self.writing() as connection:
            named_job = self._find(connection, name)
            if named_job.now is None or named_job.now.number != number or named_job.now.status != RunStatus.RUNNING:
                return None
            values = {"pid": pid, "beat": self.clock(connection)}
            connection.execute(update(run).where(run.c.id == named_job.now.id).values(**values))
            return named_job, named_job.now

    def beat(self, run_id: int) -> bool:
        """Write a heartbeat; returns whether the run may continue.

        A run whose status is STOPPING may continue until its scheduler tells its process to stop.
        """
        with self.writing() as connection:
            own_row = update(run).where(run.c.id == run_id, run.c.ended_at.is_(None))
            status = connection.execute(own_row.values(beat=self.clock(connection)).returning(run.c.status)).scalar()
            return status in (RunStatus.RUNNING, RunStatus.STOPPING)

    def stop(self, run_id: int, status: RunStatus) -> None:
        """Set the status of a run that must stop: STOPPING if the caller tells its process to stop, otherwise TOLD."""
        with self.writing() as connection:
            own_row = run.c.id == run_id, run.c.ended_at.is_(None)
            connection.execute(update(run).where(*own_row).values(status=status))

    def end(self, current_run: Run, exit_status: int | None, crawl_name: str) -> Run:
        """Record how a run ended, unless that is recorded already; returns the run as it is then stored.

        Without an exit status, the run died while no process watched it.
        """
        with self.writing() as connection:
            own_row = run.c.id == current_run.id
            row = connection.execute(select(run).where(own_row).with_for_update()).one_or_none()
            if row is None:  # the run was deleted
                return current_run
            if row.ended_at is not None:
                return Run(**row._mapping)

            now = self.clock(connection)
            ended_at = now
            if exit_status is None:
                ended_at = max(row.started_at, row.beat)  # the last moment when it was certainly alive
            values = {"ended_at": ended_at, "exit": exit_status, "status": _end_status(row.status, exit_status)}
            values |= pages_of(connection, crawl_name, row.started_at, now)
            values |= harvest_of(connection, crawl_name, row.started_at)
            ended_run = connection.execute(update(run).where(own_row).values(**values).returning(*run.c)).one()
            return Run(**ended_run._mapping)

    def claim_notice(self, run_id: int) -> bool:
        """Claim the notice about the end of a run; returns true for the first caller only."""
        with self.writing() as connection:
            unnoticed = run.c.id == run_id, run.c.ended_at.is_not(None), run.c.notice.is_(None)
            return bool(connection.execute(update(run).where(*unnoticed).values(notice="")).rowcount)

    def write_notice(self, run_id: int, result: str) -> None:
        """Record the result of the notice about a run."""
        with self.writing() as connection:
            connection.execute(update(run).where(run.c.id == run_id).values(notice=result))

    def earlier(self, later_run: Run, most: int) -> list[Run]:
        """The last `most` runs of the same job before a run, newest first."""
        before_run = run.c.job_id == later_run.job_id, run.c.number < later_run.number
        with self.reading() as connection:
            rows = connection.execute(select(run).where(*before_run).order_by(run.c.number.desc()).limit(most))
            return [Run(**row._mapping) for row in rows]

    def forget(self, job_with_runs: Job, keep: int) -> None:
        """Delete the runs of a job except the last `keep`."""
        with self.writing() as connection:
            last = select(job.c.runs).where(job.c.id == job_with_runs.id).scalar_subquery()
            old = run.c.job_id == job_with_runs.id, run.c.number <= last - keep, run.c.ended_at.is_not(None)
            connection.execute(delete(run).where(*old))

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction; raises a StateError, or a DatabaseUnavailableError if the database may be usable later."""
        self._check_file()
        with database_errors(self.engine.url), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for reading, which waits for no lock; raises the same errors as `writing`."""
        self._check_file()
        with database_errors(self.engine.url), self.engine.connect().execution_options(reading=True) as connection:
            yield connection

    def _check_file(self) -> None:
        """Raise a StateError if SQLite's file was deleted, as SQLite would continue to write to the deleted file."""
        url = self.engine.url
        if url.drivername == "sqlite" and not Path(str(url.database)).exists():
            raise StateError("the database {path} was deleted", path=display_url(url))

    def _find(self, connection: Connection, name: str) -> Job:
        """The job with this name, locked against other changes; raises a JobError if there is none."""
        connection.execute(select(job.c.id).where(job.c.name == name).with_for_update())
        return find_job(jobs_of(connection), name)


def _end_status(status: str, exit_status: int | None) -> RunStatus:
    """The status of a run that has ended, from its status before and the exit status of its process."""
    was_killed = exit_status is None or exit_status < 0
    if status in (RunStatus.STOPPING, RunStatus.TOLD) and (exit_status == 0 or was_killed):
        return RunStatus.STOPPED
    if exit_status == 0:
        return RunStatus.DONE
    return RunStatus.FAILED
