"""Changes of jobs: the form that adds a job, and the buttons that pause, resume, remove, start and stop.

The user of the dashboard need not be its operator. So a job that is added here cannot name a file or code: its seeds
are addresses or the demo, its topic is words, and it can have only the settings in FORM_SETTINGS, which relax no
protection. Each run is a separate process, which continues when the dashboard ends.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from pathlib import PurePosixPath
from threading import Thread
from typing import Annotated, Any, Literal, get_args
from zoneinfo import available_timezones

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import AfterValidator, BaseModel, StringConstraints
from scrapy.settings import BaseSettings

from crawler.arguments import ARGUMENTS, BETWEEN_SEEDS, DEMO_ALONE, SPIDER, TEXT_FILE
from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import (
    MOST_LETTERS,
    Context,
    DashboardContext,
    Number,
    Text,
    language_of,
    see_other,
    slow,
    storable,
)
from crawler.contrib.dashboard.edit_record import Action
from crawler.contrib.dashboard.jobs import opened_jobs
from crawler.contrib.schedule.cron import CronError, read_cron
from crawler.contrib.schedule.job_definition import JobDefinition, next_at, row_maker
from crawler.contrib.schedule.job_process import starting_thread
from crawler.contrib.schedule.job_scheduler import JobScheduler, StartedRun, scheduler_of
from crawler.contrib.schedule.job_store import BY_HAND, DueRun, Jobs, RowMaker, RunStatus
from crawler.contrib.schedule.run_notice import webhook_address
from crawler.contrib.schedule.views.schedule import DONE, After, Said, job_with_id, schedule_data, when
from crawler.errors import ArgumentError, StateError
from crawler.store.database import open_database
from crawler.translation.message import Message

logger = logging.getLogger(__name__)

MAX_SEEDS = 20_000
"""The most characters of the seeds."""
FORM_SETTINGS = ("CONTACT", "KEEP_RESPONSES")
"""The fields of the form that are settings."""
ADDRESS = re.compile(r"https?://", re.IGNORECASE)
router = APIRouter()
From = Annotated[Literal["list", "job"], Query(alias="from", description="the page of the button")]


class JobForm(BaseModel):
    """The fields of the form, with their defaults."""

    name: Text = ""
    cron: Text = ""
    timezone: Text = "UTC"
    seeds: Annotated[str, StringConstraints(max_length=MAX_SEEDS), AfterValidator(storable)] = ""
    topic: Text = ""
    scope: Literal["host", "site", "any"] = "site"
    max_pages: Text = ""
    max_depth: Text = ""
    min_relevance: Text = ""
    stop_when: Text = ""
    lang: Text = ""
    images: Literal["yes", "no"] = "yes"
    markdown: Literal["no", "yes", "links"] = "no"
    refresh: Literal["due", "all"] = "due"
    notify: Text = ""
    purpose: Literal["label", "ai-train", "ai-input", "search"] = "label"
    CONTACT: Text = ""
    KEEP_RESPONSES: Literal["", "0"] = ""


DEFAULTS: dict[str, str] = JobForm().model_dump()
FORM_ARGUMENTS = tuple(name for name in DEFAULTS if name in ARGUMENTS and name != "name")
"""The fields of the form that are arguments of the crawl, except `name`, which is passed as the name of the job."""
FIELDS = {
    name: {"allowed": get_args(form_field.annotation), "most": MAX_SEEDS if name == "seeds" else MOST_LETTERS}
    for name, form_field in JobForm.model_fields.items()
}
"""The allowed values of each field, if they are few, and its maximum length."""


@dataclass(frozen=True)
class CheckedForm:
    """The values of a form, and the errors in them."""

    values: Mapping[str, str]
    errors: Mapping[str, Message]
    """The errors by field; an error that belongs to no field has an empty name."""
    make_row: RowMaker | None = None
    """The function that makes the row of the job; None if there are errors."""


def checked_form(form_values: Mapping[str, str], settings: BaseSettings) -> CheckedForm:
    """The form with its errors, or with the job that it defines."""
    values = {name: str(form_values.get(name, default)).strip() for name, default in DEFAULTS.items()}
    if values["seeds"] != "demo":
        values["seeds"] = " ".join(values["seeds"].split())

    errors: dict[str, Message] = {}
    for name, value in values.items():
        error_message = _error_of_field(name, value)
        if error_message is not None:
            errors[name] = error_message
    if errors:
        return CheckedForm(values, errors)

    changed_values = {name: value for name, value in values.items() if value and value != DEFAULTS[name]}
    job = JobDefinition(
        name=values["name"],
        line=values["cron"],
        zone=values["timezone"],
        spider=SPIDER,
        arguments={name: changed_values[name] for name in FORM_ARGUMENTS if name in changed_values},
        settings={name: changed_values[name] for name in FORM_SETTINGS if name in changed_values},
        notify=values["notify"],
    )
    try:
        return CheckedForm(values, {}, row_maker(job, settings))
    except (CronError, ArgumentError, StateError) as error:
        return CheckedForm(values, {"": error.message})


def _error_of_field(name: str, value: str) -> Message | None:
    """What is wrong with the value of a field; None if nothing is."""
    try:
        if name == "cron" and not value:
            return Message("a job needs a time, such as 0 3 * * * or @daily")
        # The cron line and the time zone are read together, so each is checked with a correct value of the other.
        if name == "cron":
            read_cron(value, "UTC")
        elif name == "timezone":
            read_cron("@daily", value)
        elif name in CHECKS:
            CHECKS[name](value)
        elif name == "topic" and _is_like_a_file(value):
            return Message(
                "{topic} looks like a file name; only words are allowed here; to use a file, add the job with "
                "winnow schedule add",
                {"topic": repr(value[:100])},
            )
        elif name in ARGUMENTS and value:
            ARGUMENTS[name].read(value)
        elif name == "name":
            return Message("a job needs a name")
        elif not value.isprintable():
            return Message("it contains characters that cannot be displayed")
    except (ArgumentError, CronError) as error:
        reason = error.message.values.get("wrong")  # without the name of the argument, which the form shows
        return reason if isinstance(reason, Message) else error.message
    return None


def _check_seeds(value: str) -> None:
    """Raise an ArgumentError unless seeds are addresses or the demo."""
    if not value:
        raise ArgumentError("a crawl needs seeds: addresses with http:// or https://, or demo")
    if value == "demo":
        return
    for seed in BETWEEN_SEEDS.split(value.strip(" ,")):
        if seed == "demo":
            raise ArgumentError(DEMO_ALONE)
        if not ADDRESS.match(seed):
            raise ArgumentError(
                "seed {seed} is neither an http:// or https:// address nor demo; to use a file, add the job with "
                "winnow schedule add",
                seed=repr(seed[:100]),
            )
        ARGUMENTS["seeds"].read(seed)


def _check_webhook(value: str) -> None:
    """Raise an ArgumentError unless a webhook is empty or an address that it may have."""
    if value:
        webhook_address(value)


CHECKS: Mapping[str, Callable[[str], None]] = {"seeds": _check_seeds, "notify": _check_webhook}


def _is_like_a_file(topic: str) -> bool:
    """Whether a crawl would read a topic as the name of a file."""
    suffix = PurePosixPath(topic.replace("\\", "/")).suffix.lower()
    is_in_a_folder = suffix and re.search(r"[/\\]", topic)
    return bool(topic.lower().endswith(".toml") or TEXT_FILE.fullmatch(topic) or is_in_a_folder)


@cache
def zones() -> list[str]:
    """The names of all time zones."""
    return sorted(available_timezones())


@router.get("/schedule/add")  # the form is shown at this address if it is refused
@router.get("/schedule")
def show(context: Context, request: Request, said: Said = "", after: After = 0) -> Response:
    return _page(context, request, CheckedForm(DEFAULTS, {}), said, after)


def _page(context: DashboardContext, request: Request, form: CheckedForm, said: str = "", after: int = 0) -> Response:
    """The page of the schedule, with the form."""
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    values: dict[str, Any] = {"schedule": schedule_data(context, after), "said": DONE.get(said, "")}
    values |= {"form": form, "zones": zones(), "fields": FIELDS}
    return context.page(request, "schedule.html", status, **values, when=partial(when, language=language_of(request)))


@slow(router.post("/schedule/add"))
def add(context: Context, request: Request, form_values: Annotated[JobForm, Query()]) -> Response:
    form = checked_form(form_values.model_dump(), context.settings)
    if form.make_row is not None:
        try:
            with opened_jobs(context) as jobs:
                jobs.add(form.values["name"], form.make_row)
        except RefusedError as error:
            form = CheckedForm(form.values, {"name": error.message})
    if form.errors:
        return _page(context, request, form)
    context.record(request, Action.JOB_ADDED, form.values["name"])
    return see_other("/schedule?said=added")


def begin(context: DashboardContext, job_id: int) -> str | None:
    """Start a run of a job now; returns the job's name, or None if it is running already.

    If the run is started, a thread keeps the database open until the run ends.
    """
    jobs = Jobs(open_database(context.url))
    started: StartedRun | None = None
    try:
        scheduler = scheduler_of(jobs, context.settings)
        job = scheduler.current(job_with_id(jobs.all()[0], job_id).name)
        run = jobs.start(job, DueRun(how=BY_HAND), scheduler.place)
        if run is not None:
            started = starting_thread().submit(scheduler.begin, job, run).result()
    except ArgumentError as error:
        raise RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from None
    finally:
        if started is None:
            jobs.engine.dispose()

    if started is not None:
        Thread(target=_wait_for_end, args=(scheduler, started), name="run", daemon=True).start()
    if run is None:
        return None
    return job.name


def _wait_for_end(scheduler: JobScheduler, started: StartedRun) -> None:
    """Wait for the end of a run, then close the database. Record the end if the run could not do so itself, for example
    because it was killed.
    """
    started.child.wait()
    try:
        scheduler.reap()
        scheduler.notices.wait()
    except StateError as error:
        logger.warning("How a run ended could not be recorded: %s", error)
    finally:
        scheduler.jobs.engine.dispose()


def end(context: DashboardContext, job_id: int) -> str | None:
    """Tell the current run of a job to stop; returns the job's name, or None if there is no run."""
    with opened_jobs(context) as jobs:
        job = scheduler_of(jobs, context.settings).current(job_with_id(jobs.all()[0], job_id).name)
        if job.now is None:
            return None
        jobs.stop(job.now.id, RunStatus.TOLD)  # its process reads this, on any machine
        return job.name


@slow(router.post("/schedule/{job}/pause"))
def pause(context: Context, request: Request, job: Number, came_from: From = "list", after: After = 0) -> Response:
    with opened_jobs(context) as jobs:
        name = job_with_id(jobs.all()[0], job).name
        jobs.pause(name)
    context.record(request, Action.JOB_PAUSED, name)
    return _back(job, came_from, after, "paused")


@slow(router.post("/schedule/{job}/resume"))
def resume(context: Context, request: Request, job: Number, came_from: From = "list", after: After = 0) -> Response:
    with opened_jobs(context) as jobs:
        name = job_with_id(jobs.all()[0], job).name
        jobs.resume(name, next_at)
    context.record(request, Action.JOB_RESUMED, name)
    return _back(job, came_from, after, "resumed")


@slow(router.post("/schedule/{job}/remove"))
def remove(context: Context, request: Request, job: Number) -> Response:
    with opened_jobs(context) as jobs:
        name = job_with_id(jobs.all()[0], job).name
        jobs.remove(name)
    context.record(request, Action.JOB_REMOVED, name)
    return see_other("/schedule?said=removed")


@slow(router.post("/schedule/{job}/run"))
def run_now(context: Context, request: Request, job: Number, came_from: From = "list", after: After = 0) -> Response:
    name = begin(context, job)
    if name is not None:
        context.record(request, Action.JOB_STARTED, name)
    return _back(job, came_from, after, "busy" if name is None else "started")


@slow(router.post("/schedule/{job}/stop"))
def stop(context: Context, request: Request, job: Number, came_from: From = "list", after: After = 0) -> Response:
    name = end(context, job)
    if name is not None:
        context.record(request, Action.JOB_STOPPED, name)
    return _back(job, came_from, after, "idle" if name is None else "told")


def _back(job: int, came_from: str, after: int, said: str) -> Response:
    """The redirection to the page of the button."""
    if came_from == "job":
        return see_other(f"/schedule/{job}?said={said}")
    if after:
        return see_other(f"/schedule?said={said}&after={after}")
    return see_other(f"/schedule?said={said}")
