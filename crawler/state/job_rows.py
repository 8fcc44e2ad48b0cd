"""Jobs and their runs as they are in the database."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select

from crawler.state.database import StateError
from crawler.state.job_tables import job, run
from crawler.state.schema import crawl, page


class JobError(StateError):
    """What cannot be done with a job; the message is one sentence for the user."""


@dataclass(frozen=True)
class Run:
    """A time that a job's crawl was started."""

    id: int
    job_id: int
    number: int
    how: str
    due: float | None
    missed: int
    passed: int
    status: str
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


@dataclass(frozen=True)
class Job:
    """A crawl that comes again, as it is in the database: what is in its texts is not looked at yet."""

    id: int
    name: str
    cron: str
    timezone: str
    spider: str
    arguments: str
    settings: str
    crawl: str
    paused: bool
    created_at: float
    next_at: float | None
    runs: int
    now: Run | None = None
    """The run that is under way."""
    last: Run | None = None
    """The last one that ended."""


def find(jobs: list[Job], name: str) -> Job:
    """The job of this name; a JobError if there is none."""
    for one in jobs:
        if one.name == name:
            return one
    others = f"there are {', '.join(one.name for one in jobs[:10])}" if jobs else "there is none at all"
    raise JobError(f"there is no job {name!r}; {others}")


def jobs_of(connection: Connection) -> list[Job]:
    """All jobs, by their names, with their runs."""
    last = select(func.max(run.c.id)).where(run.c.ended_at.is_not(None)).group_by(run.c.job_id)
    wanted = run.c.ended_at.is_(None) | run.c.id.in_(last)
    runs = [run_of(row) for row in connection.execute(select(run).where(wanted))]
    now = {one.job_id: one for one in runs if one.ended_at is None}
    ended = {one.job_id: one for one in runs if one.ended_at is not None}
    rows = connection.execute(select(job).order_by(job.c.name)).all()
    return [Job(**row._mapping, now=now.get(row.id), last=ended.get(row.id)) for row in rows]


def history_of(connection: Connection, name: str) -> tuple[Job, list[Run]]:
    """A job and its runs, the last first; a JobError if there is none."""
    found = find(jobs_of(connection), name)
    rows = connection.execute(select(run).where(run.c.job_id == found.id).order_by(run.c.number.desc()))
    return found, [run_of(row) for row in rows]


def pages_of(connection: Connection, crawl_name: str, since: float, until: float) -> dict[str, int]:
    """How many pages of a crawl were stored from one moment to another, and of them new, changed and gone."""
    moments = (datetime.fromtimestamp(moment, UTC) for moment in (since, until))
    first, last = (moment.isoformat(timespec="seconds") for moment in moments)
    mine = page.c.crawl_id == select(crawl.c.id).where(crawl.c.name == crawl_name).scalar_subquery()
    columns = {"pages": page.c.fetched_at, "new": page.c.first_at, "changed": page.c.changed_at, "gone": page.c.gone_at}
    counts = (select(func.count()).select_from(page).where(mine, c >= first, c <= last) for c in columns.values())
    return {name: int(connection.execute(count).scalar_one()) for name, count in zip(columns, counts, strict=True)}


def run_of(row: Row[Any]) -> Run:
    """A run, of its row."""
    return Run(**row._mapping)
