"""The view "schedule": jobs, their next runs and their past runs; the actions on them are in `job_changes`."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from itertools import islice
from threading import Lock
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection, select

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import (
    Context,
    DashboardContext,
    NothingYetError,
    Number,
    Text,
    Whole,
    language_of,
)
from crawler.contrib.schedule.cron import CronError, read_cron
from crawler.contrib.schedule.job_process import lock_of, log_tail
from crawler.contrib.schedule.job_store import Job, Run, history_of, jobs_of
from crawler.contrib.schedule.run_notice import failure_words, webhook_host
from crawler.contrib.schedule.schedule_words import schedule_words
from crawler.processes.held_lock import is_held
from crawler.reports.throughput import sample_totals
from crawler.store.crawl_tables import crawl
from crawler.store.database import database_time
from crawler.translation.message import N_, Message, available_language, catalogue_of, languages

AT_ONCE = 100
"""Jobs that one response lists."""
MOST_RUNS = 200
"""The most runs of a job that are listed."""
NEXT_TIMES = 3
"""How many of the next times of a cron line are shown."""
DONE = {
    "added": N_("The job was added."),
    "paused": N_("The job is paused."),
    "resumed": N_("The job was resumed."),
    "removed": N_("The job was removed; its crawl and its logs stay."),
    "started": N_("A run has started."),
    "busy": N_("The job is already running."),
    "told": N_("The run was told to stop; it stops cleanly within seconds."),
    "idle": N_("No run of the job is running."),
}
"""The results of changes, by the values of `said` in the address."""
SCHEDULER_CHECK = Lock()
"""Held while the scheduler's lock is tested."""
router = APIRouter()
api = APIRouter()
Said = Annotated[
    Literal["", "added", "paused", "resumed", "removed", "started", "busy", "told", "idle"],
    Query(description="the result of the last change"),
]
After = Annotated[Whole, Query(description=N_("the next jobs: the value of next from the previous response"))]
Ask = Annotated[Literal["", "remove"], Query(description="the action that the visitor must confirm")]


@dataclass(frozen=True, slots=True)
class JobRun:
    """A run of a job."""

    id: int
    number: int
    how: str
    """How it was started: `cron` on time, `late` for missed times, `now` by hand."""
    status: str
    exit: int | None
    started_at: float
    ended_at: float | None
    seconds: float
    quiet: float
    """Seconds since its last heartbeat."""
    host: str
    pages: int | None
    new: int | None
    changed: int | None
    gone: int | None
    missed: int
    """Times missed before it, which it makes up for."""
    passed: int
    """Times that were skipped while it was running."""
    harvest: float | None
    """The share of pages on topic among those that were read."""
    notice: str | None
    """The result of the notice about its end: `sent`, or why it was not sent, such as `status:500`."""


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A crawl that runs on a schedule."""

    id: int
    name: str
    crawl: str
    cron: str
    words: str
    """Its schedule in English, or what is wrong with its cron line."""
    timezone: str
    paused: bool
    next_at: float | None
    runs: int
    """The number of runs that were ever started."""
    arguments: Mapping[str, str]
    settings: Mapping[str, str]
    now: JobRun | None
    last: JobRun | None
    notify: str
    """The host of its webhook; the rest of the address may be a secret."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The jobs, sorted by name, a part at a time."""

    now: float
    scheduler: bool | None
    """Whether a scheduler runs in this folder; null if that cannot be determined."""
    jobs: tuple[ScheduledJob, ...]
    more: int = 0
    """The number of further jobs."""
    next: int | None = None
    """The value of `after` for the next part."""


@dataclass(frozen=True, slots=True)
class JobHistory:
    """A job and its runs, newest first."""

    job: ScheduledJob
    runs: tuple[JobRun, ...]
    left_out: int
    """The number of older runs, which are not listed."""


@dataclass(frozen=True, slots=True)
class CronWords:
    """The meaning of a cron line."""

    words: str
    next: tuple[float, ...]
    """Its next times."""
    error: str
    """What is wrong with it; empty if nothing is."""


@api.get("/api/jobs", summary=N_("Jobs, and when they run next, a hundred at a time"))
def schedule_data(context: Context, after: After = 0) -> Schedule:
    """The jobs after the job with the id `after`, or from the first job on if there is no such id. Without a database,
    there are no jobs.
    """
    scheduler = _scheduler_is_at_work(context)
    try:
        with context.reading() as connection:
            now = database_time(connection)
            all_jobs = jobs_of(connection)
            start = next((number for number, job in enumerate(all_jobs, 1) if job.id == after), 0)
            shown_jobs = all_jobs[start : start + AT_ONCE]
            more = len(all_jobs) - start - len(shown_jobs)
            jobs = tuple(_job(connection, job, now) for job in shown_jobs)
            return Schedule(now, scheduler, jobs, more, shown_jobs[-1].id if more else None)
    except NothingYetError:
        return Schedule(time.time(), scheduler, ())


@api.get("/api/jobs/{job}", summary=N_("A job, and its last runs"))
def history_data(context: Context, job: Number) -> JobHistory:
    """A job and its runs."""
    with context.reading() as connection:
        now = database_time(connection)
        named_job = job_with_id(jobs_of(connection), job)
        runs = history_of(connection, named_job.name)[1]
        shown_runs = tuple(_run(connection, named_job, job_run, now) for job_run in runs[:MOST_RUNS])
        return JobHistory(_job(connection, named_job, now), shown_runs, max(0, len(runs) - MOST_RUNS))


@api.get("/api/jobs/{job}/runs", summary=N_("The last runs of a job"))
def runs_data(context: Context, job: Number) -> tuple[JobRun, ...]:
    """The runs of a job, newest first."""
    return history_data(context, job).runs


@api.get("/api/cron", summary=N_("What a cron line says"))
def cron_data(
    cron: Annotated[Text, Query(description=N_("a cron line"))] = "",
    timezone: Annotated[Text, Query(description=N_("time zone of the cron line"))] = "UTC",
    lang: Annotated[
        Text,
        Query(description=N_("language of the words and of errors"), json_schema_extra={"enum": list(languages())}),
    ] = "en",
) -> CronWords:
    """The meaning of a cron line, and its next times."""
    catalogue = catalogue_of(available_language([lang]))
    try:
        parsed = read_cron(cron, timezone)
    except CronError as error:
        return CronWords(words="", next=(), error=catalogue.gettext(error.message))
    next_times = tuple(islice(parsed.times(time.time()), NEXT_TIMES))
    return CronWords(words=catalogue.gettext(schedule_words(parsed)), next=next_times, error="")


def job_with_id(jobs: Iterable[Job], job_id: int) -> Job:
    """The job with this id; raises a RefusedError if there is none."""
    for job in jobs:
        if job.id == job_id:
            return job
    raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such job.")


def _scheduler_is_at_work(context: DashboardContext) -> bool | None:
    """Whether a scheduler runs in this folder; None if that cannot be determined."""
    # One check at a time: a check takes the lock itself, so it would look like a scheduler to another check.
    with SCHEDULER_CHECK:
        try:
            return is_held(lock_of(context.output))
        except OSError:
            return None


def _job(connection: Connection, job: Job, now: float) -> ScheduledJob:
    """A job for the API and the page."""
    return ScheduledJob(
        id=job.id,
        name=job.name,
        crawl=job.crawl,
        cron=job.cron,
        words=when(job, "en"),
        timezone=job.timezone,
        paused=job.paused,
        next_at=job.next_at,
        runs=job.runs,
        arguments=json.loads(job.arguments),
        settings=json.loads(job.settings),
        now=None if job.now is None else _run(connection, job, job.now, now),
        last=None if job.last is None else _run(connection, job, job.last, now),
        notify=webhook_host(job.notify or ""),
    )


def when(job: Job | ScheduledJob, language: str) -> str:
    """The schedule of a job in words, or what is wrong with its cron line."""
    try:
        message = schedule_words(read_cron(job.cron, job.timezone))
    except CronError as error:
        message = error.message
    return catalogue_of(language).gettext(message)


def notice_failure(run: JobRun) -> Message | None:
    """Why the notice about a run was not sent; None if it was sent, or if there is no notice."""
    return failure_words(run.notice or "")


def _run(connection: Connection, job: Job, run: Run, now: float) -> JobRun:
    """A run for the API and the page."""
    pages = run.pages
    if run.ended_at is None:
        pages = _pages_since(connection, job.crawl, run.started_at)
    return JobRun(
        id=run.id,
        number=run.number,
        how=run.how,
        status=run.status,
        exit=run.exit,
        started_at=run.started_at,
        ended_at=run.ended_at,
        seconds=max(0.0, (run.ended_at or now) - run.started_at),
        quiet=max(0.0, now - run.beat),
        host=run.host,
        pages=pages,
        new=run.new,
        changed=run.changed,
        gone=run.gone,
        missed=run.missed,
        passed=run.passed,
        harvest=run.harvest,
        notice=run.notice,
    )


def _pages_since(connection: Connection, name: str, since: float) -> int | None:
    """The number of pages that a crawl has stored since a moment, by its samples: counting pages may take too long."""
    crawl_id = _crawl_id(connection, name)
    if crawl_id is None:
        return None
    totals = sample_totals(connection, [crawl_id], since)
    if crawl_id in totals:
        return totals[crawl_id].sums.pages
    return None


def _crawl_id(connection: Connection, name: str) -> int | None:
    """The id of the crawl with this name; None if it was never started."""
    return connection.execute(select(crawl.c.id).where(crawl.c.name == name)).scalar()


@router.get("/schedule/{job}")
def show_job(context: Context, request: Request, job: Number, said: Said = "", ask: Ask = "") -> Response:
    history = history_data(context, job)
    with context.reading() as connection:
        crawl_id = _crawl_id(connection, history.job.crawl)
    values: dict[str, Any] = {
        "history": history,
        "crawl": crawl_id,
        "said": DONE.get(said, ""),
        "ask": ask,
        "notice_failure": notice_failure,
    }
    return context.page(request, "schedule_job.html", **values, when=partial(when, language=language_of(request)))


@router.get("/schedule/{job}/runs/{run}")
def show_log(context: Context, request: Request, job: Number, run: Number) -> Response:
    with context.reading() as connection:
        now = database_time(connection)
        named_job = job_with_id(jobs_of(connection), job)
        runs = [job_run for job_run in history_of(connection, named_job.name)[1] if job_run.id == run]
        if not runs:
            raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such run.")
        shown_run = _run(connection, named_job, runs[0], now)
        shown_job = _job(connection, named_job, now)
    log = log_tail(context.output, named_job.name, shown_run.number)
    values: dict[str, Any] = {"job": shown_job, "run": shown_run, "log": log, "notice_failure": notice_failure}
    return context.page(request, "schedule_run.html", **values, when=partial(when, language=language_of(request)))
