"""The view "schedule": jobs, when they come, how they went; and what may be done with them."""

import json
import time
from collections.abc import Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from crawler.dashboard.context import DashboardContext
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, RefusedError, Request, see_other
from crawler.dashboard.translation import words_of
from crawler.dashboard.views import Changes, Data, Views, job_form
from crawler.dashboard.views.job_form import FIELDS, USUAL, Filled, filled, zones
from crawler.reports.crawl_summary import sums
from crawler.schedule.cron import CronError, read
from crawler.schedule.cron_words import words
from crawler.schedule.jobs import RUNNING, Job, Run, history_of, jobs_of
from crawler.schedule.processes import tail
from crawler.store.schema import crawl
from crawler.store.sql import database_time
from crawler.subcommands.schedule_jobs import next_at

AT_ONCE = 100  # jobs
MOST_RUNS = 200
NEXT_TIMES = 3
DONE = {
    "added": "The job was added.",
    "paused": "The job is paused.",
    "resumed": "The job was resumed.",
    "removed": "The job was removed; its crawl and its logs stay.",
    "started": "A run has started.",
    "busy": "The job runs already.",
    "told": "The run is told to end; it does so cleanly, in some seconds.",
    "idle": "No run of the job is under way.",
}
"""The results of changes, by the values of `said` in the address."""
SAID = Parameter("said", "", "what the last change came to", ("", *DONE))
AFTER = Parameter("after", 0, "the jobs that follow, as next of an answer says")
ASK = Parameter("ask", "", "what is asked about before it is done", ("", "remove"))
CRON = (
    Parameter("cron", "", "a line as cron has it"),
    Parameter("timezone", "UTC", "whose clocks it goes by"),
    Parameter("lang", "en", "language of the words and of what is wrong", ("en", "zh")),
)


class JobRun(NamedTuple):
    """A time that a job's crawl was started."""

    id: int
    number: int
    how: str
    """`cron` on time, `late` made up for, `now` by hand."""
    status: str
    exit: int | None
    started_at: float
    ended_at: float | None
    seconds: float
    quiet: float
    """Seconds since the last sign of life, of one that is under way."""
    host: str
    pages: int | None
    new: int | None
    changed: int | None
    gone: int | None
    missed: int
    """Times before it that it makes up for as well."""
    passed: int
    """Times that came while it was under way."""


class ScheduledJob(NamedTuple):
    """A crawl that comes again and again."""

    id: int
    name: str
    crawl: str
    cron: str
    words: str
    """When it comes, in English."""
    timezone: str
    paused: bool
    next_at: float | None
    runs: int
    arguments: Mapping[str, str]
    settings: Mapping[str, str]
    now: JobRun | None
    last: JobRun | None


class Schedule(NamedTuple):
    """The jobs by their names, a part at a time."""

    now: float
    scheduler: bool | None
    """Whether one is at work in this folder; null where that cannot be seen."""
    jobs: tuple[ScheduledJob, ...]
    more: int = 0
    """Jobs that follow."""
    next: int | None = None
    """What `after` is to be for those."""


class JobHistory(NamedTuple):
    """A job and its runs, the last first."""

    job: ScheduledJob
    runs: tuple[JobRun, ...]
    left_out: int
    """Older runs that are not among them."""


class CronWords(NamedTuple):
    """What a cron line says."""

    words: str
    next: tuple[float, ...]
    error: str


def schedule_data(desk: DashboardContext, given: Given) -> Schedule:
    """Jobs behind the one of a number, or from the first if it is not there; none where no crawl was ever run."""
    scheduler = job_form.scheduler_is_at_work(desk)
    try:
        with desk.reading() as connection:
            now, there = database_time(connection), jobs_of(connection)
            start = next((place for place, one in enumerate(there, 1) if one.id == given.get("after")), 0)
            shown = there[start : start + AT_ONCE]
            more = len(there) - start - len(shown)
            jobs = tuple(_job(connection, one, now) for one in shown)
            return Schedule(now, scheduler, jobs, more, shown[-1].id if more else None)
    except RefusedError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
    return Schedule(time.time(), scheduler, ())


def history_data(desk: DashboardContext, given: Given) -> JobHistory:
    """A job and its runs."""
    with desk.reading() as connection:
        now, found = database_time(connection), _find(connection, given["job"])
        runs = history_of(connection, found.name)[1]
        shown = tuple(_run(connection, found, one, now) for one in runs[:MOST_RUNS])
        return JobHistory(_job(connection, found, now), shown, max(0, len(runs) - MOST_RUNS))


def runs_data(desk: DashboardContext, given: Given) -> tuple[JobRun, ...]:
    """The runs of a job, the last first."""
    return history_data(desk, given).runs


def cron_data(desk: DashboardContext, given: Given) -> CronWords:
    """What a cron line says, and when it comes next."""
    try:
        cron = read(given["cron"], given["timezone"])
    except CronError as error:
        return CronWords("", (), words_of(given["lang"]).message(error.message))
    return CronWords(
        words_of(given["lang"]).message(words(cron)), tuple(islice(cron.times(time.time()), NEXT_TIMES)), ""
    )


def _find(connection: Connection, number: int) -> Job:
    for one in jobs_of(connection):
        if one.id == number:
            return one
    raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such job.")


def _job(connection: Connection, job: Job, now: float) -> ScheduledJob:
    said = _when(job, "en")
    given = (json.loads(job.arguments), json.loads(job.settings))
    runs = (None if one is None else _run(connection, job, one, now) for one in (job.now, job.last))
    place = (job.id, job.name, job.crawl, job.cron, said, job.timezone)
    return ScheduledJob(*place, job.paused, job.next_at, job.runs, *given, *runs)


def _when(job: Job | ScheduledJob, language: str) -> str:
    """When a job comes, in words, or what is wrong with its line."""
    try:
        said = words(read(job.cron, job.timezone))
    except CronError as error:
        said = error.message
    return words_of(language).message(said)


def _values(request: Request) -> dict[str, Any]:
    """What all pages of the schedule show with."""
    return {"running": RUNNING, "when": lambda job: _when(job, request.language)}


def _run(connection: Connection, job: Job, run: Run, now: float) -> JobRun:
    counts = (run.pages, run.new, run.changed, run.gone)
    if run.ended_at is None:
        counts = (_pages_since(connection, job.crawl, run.started_at), None, None, None)
    seconds = max(0.0, (run.ended_at or now) - run.started_at)
    how = (run.id, run.number, run.how, run.status, run.exit, run.started_at, run.ended_at, seconds)
    return JobRun(*how, max(0.0, now - run.beat), run.host, *counts, run.missed, run.passed)


def _pages_since(connection: Connection, name: str, since: float) -> int | None:
    """How many pages a crawl has brought since a moment, by its samples: to count them could take too long."""
    number = _crawl_number(connection, name)
    return None if number is None or not (found := sums(connection, [number], since)) else found[number].pages


def _crawl_number(connection: Connection, name: str) -> int | None:
    """The number of a crawl, once a run has begun it."""
    return connection.execute(select(crawl.c.id).where(crawl.c.name == name)).scalar()


def show(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page of all jobs, with an empty form."""
    return _page(desk, request, given, Filled(USUAL, {}))


def _page(desk: DashboardContext, request: Request, given: Given, form: Filled) -> Answer:
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    values: dict[str, Any] = {"schedule": schedule_data(desk, given), "said": DONE.get(given.get("said", ""), "")}
    values |= {"form": form, "zones": zones(), "fields": {one.name: one for one in FIELDS}}
    return desk.page(request, "schedule.html", status, **values, **_values(request))


def show_job(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page of one job."""
    history = history_data(desk, given)
    with desk.reading() as connection:
        number = _crawl_number(connection, history.job.crawl)
    values = {"history": history, "crawl": number, "said": DONE.get(given["said"], ""), "ask": given["ask"]}
    return desk.page(request, "schedule_job.html", **values, **_values(request))


def show_log(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page of a run with the end of its log."""
    with desk.reading() as connection:
        now, found = database_time(connection), _find(connection, given["job"])
        rows = [one for one in history_of(connection, found.name)[1] if one.id == given["run"]]
        if not rows:
            raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such run.")
        run, job = _run(connection, found, rows[0], now), _job(connection, found, now)
    log = tail(desk.output, found.name, run.number)
    values: dict[str, Any] = {"job": job, "run": run, "log": log}
    return desk.page(request, "schedule_run.html", **values, **_values(request))


def add(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """A new job, or the form again with what is wrong with it."""
    form = filled(given, desk.settings)
    if form.described is not None:
        try:
            with job_form.opened(desk) as jobs:
                jobs.add(form.values["name"], form.described)
        except RefusedError as error:
            form = Filled(form.values, {"name": error.message})
    return _page(desk, request, given, form) if form.errors else see_other("/schedule?said=added")


def pause(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page after a job was paused."""
    with job_form.opened(desk) as jobs:
        jobs.pause(job_form.job_of(jobs, given["job"]).name)
    return _back(given, "paused")


def resume(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page after a job was resumed."""
    with job_form.opened(desk) as jobs:
        jobs.resume(job_form.job_of(jobs, given["job"]).name, next_at)
    return _back(given, "resumed")


def remove(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page after a job was removed."""
    with job_form.opened(desk) as jobs:
        jobs.remove(job_form.job_of(jobs, given["job"]).name)
    return see_other("/schedule?said=removed")


def run_now(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page after a run was started."""
    return _back(given, "started" if job_form.begin(desk, given["job"]) else "busy")


def stop(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page after a run was told to end."""
    return _back(given, "told" if job_form.end(desk, given["job"]) else "idle")


def _back(given: Given, said: str) -> Answer:
    """To where the button was."""
    if given["from"] == "job":
        return see_other(f"/schedule/{given['job']}?said={said}")
    return see_other(f"/schedule?said={said}" + (f"&after={given['after']}" if given["after"] else ""))


FROM = (Parameter("from", "list", "the page of the button", ("list", "job")), AFTER)
VIEWS: Views = {
    "/schedule": (show, (SAID, AFTER)),
    "/schedule/add": (show, ()),  # where the form is that was refused
    "/schedule/{job}": (show_job, (SAID, ASK)),
    "/schedule/{job}/runs/{run}": (show_log, ()),
}
CHANGES: Changes = {
    "/schedule/add": (add, FIELDS),
    "/schedule/{job}/pause": (pause, FROM),
    "/schedule/{job}/resume": (resume, FROM),
    "/schedule/{job}/remove": (remove, ()),
    "/schedule/{job}/run": (run_now, FROM),
    "/schedule/{job}/stop": (stop, FROM),
}
API: Data = {
    "/api/jobs": (schedule_data, (AFTER,), "Jobs, and when they run next, a hundred at a time"),
    "/api/jobs/{job}": (history_data, (), "A job, and its last runs"),
    "/api/jobs/{job}/runs": (runs_data, (), "The last runs of a job"),
    "/api/cron": (cron_data, CRON, "What a cron line says"),
}
