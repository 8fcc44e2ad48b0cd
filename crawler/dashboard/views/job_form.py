"""The form of a job: what may stand in it, and what is wrong with what does.

Who uses the dashboard need not be who runs it. So a job from here names no file and no code: seeds are addresses or
the demo, a topic is words, and of all settings there are those of OWN alone, which loosen nothing.

Runs that somebody starts or ends on the dashboard: each a process of its own, which outlives it.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import PurePosixPath
from threading import Lock, Thread
from typing import Annotated, Any, Literal, get_args
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, StringConstraints
from scrapy.settings import BaseSettings

from crawler.arguments import ARGUMENTS, BETWEEN_SEEDS, DEMO_ALONE, SPIDER, TEXT_FILE, ArgumentError
from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import DashboardContext
from crawler.dashboard.views import MOST_LETTERS, Text, storable
from crawler.schedule.cron import CronError, read_cron
from crawler.schedule.job_definition import JobDefinition, description
from crawler.schedule.job_process import is_alive, starting_thread
from crawler.schedule.job_scheduler import JobScheduler, StartedRun, scheduler_of
from crawler.schedule.job_store import BY_HAND, TOLD, DueRun, Job, JobError, Jobs
from crawler.store.database import StateError
from crawler.translation.message import Message

LONG = 20_000
"""Letters of many seeds."""
OWN = ("CONTACT", "KEEP_RESPONSES")
ADDRESS = re.compile(r"https?://", re.IGNORECASE)
Described = Callable[[float], dict[str, Any]]


class JobForm(BaseModel):
    """The fields of the form, with what each usually is."""

    name: Text = ""
    cron: Text = ""
    timezone: Text = "UTC"
    seeds: Annotated[str, StringConstraints(max_length=LONG), AfterValidator(storable)] = ""
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
    CONTACT: Text = ""
    KEEP_RESPONSES: Literal["False", "True"] = "False"


USUAL: dict[str, str] = JobForm().model_dump()
FORM_ARGUMENTS = tuple(name for name in USUAL if name in ARGUMENTS and name != "name")
FIELDS = {
    name: {"allowed": get_args(one.annotation), "most": LONG if name == "seeds" else MOST_LETTERS}
    for name, one in JobForm.model_fields.items()
}
"""What the form needs to know of a field: its values, of one with few, and the letters it may have."""


@dataclass(frozen=True)
class Filled:
    """A form as somebody filled it in."""

    values: Mapping[str, str]
    errors: Mapping[str, Message]
    """What is wrong, by the field; what is wrong with none of them alone under an empty name."""
    described: Described | None = None
    """What the database is to have, where nothing is wrong."""


def filled(given: Mapping[str, str], settings: BaseSettings) -> Filled:
    """The form with what is wrong in it, or with the job it describes."""
    values = {name: str(given.get(name, usual)).strip() for name, usual in USUAL.items()}
    if values["seeds"] != "demo":
        values["seeds"] = " ".join(values["seeds"].split())
    errors = {name: why for name, value in values.items() if (why := _wrong(name, value, values))}
    if errors:
        return Filled(values, errors)
    arguments = {name: values[name] for name in FORM_ARGUMENTS if values[name] and values[name] != USUAL[name]}
    own = {name: values[name] for name in OWN if values[name] and values[name] != USUAL[name]}
    wish = JobDefinition(values["name"], values["cron"], values["timezone"], SPIDER, arguments, own)
    try:
        return Filled(values, {}, description(wish, settings))
    except (CronError, ArgumentError, StateError) as error:
        return Filled(values, {"": error.message})


def _wrong(name: str, value: str, values: Mapping[str, str]) -> Message | None:
    """What is wrong with one field, if anything is."""
    try:
        if name == "cron" and not value:
            return Message("a job wants a time, such as 0 3 * * * or @daily")
        if name == "cron":
            read_cron(value, "UTC")
        elif name == "timezone":
            read_cron("@daily", value)
        elif name == "seeds":
            _check_seeds(value)
        elif name == "topic" and _is_like_a_file(value):
            return Message(
                "{topic} is like a file's name; from here it is words, and for a file "
                "give it on the command line, scrapy schedule add",
                {"topic": repr(value[:100])},
            )
        elif name in ARGUMENTS and value:
            ARGUMENTS[name].read(value)
        elif name == "name":
            return Message("a job wants a name")
        elif not value.isprintable():
            return Message("it has letters that cannot be shown")
    except (ArgumentError, CronError) as error:
        wrong = error.message.values.get("wrong")
        return wrong if isinstance(wrong, Message) else error.message
    return None


def _check_seeds(value: str) -> None:
    if not value:
        raise ArgumentError("a crawl wants seeds: addresses with http:// or https://, or demo")
    if value == "demo":
        return
    for one in BETWEEN_SEEDS.split(value.strip(" ,")):
        if one == "demo":
            raise ArgumentError(DEMO_ALONE)
        if not ADDRESS.match(one):
            raise ArgumentError(
                "seed {seed} is no address with http:// or https://, nor demo; for a file "
                "give it on the command line, scrapy schedule add",
                seed=repr(one[:100]),
            )
        ARGUMENTS["seeds"].read(one)


def _is_like_a_file(topic: str) -> bool:
    """Whether a topic would be looked for among the files."""
    suffix = PurePosixPath(topic.replace("\\", "/")).suffix.lower()
    is_in_a_folder = suffix and re.search(r"[/\\]", topic)
    return bool(topic.lower().endswith(".toml") or TEXT_FILE.fullmatch(topic) or is_in_a_folder)


@cache
def zones() -> list[str]:
    """The time zones that there are, for a list to choose from."""
    return sorted(available_timezones())


logger = logging.getLogger(__name__)

_looking = Lock()


@contextmanager
def opened(context: DashboardContext) -> Iterator[Jobs]:
    """The jobs of the database, to be changed; a RefusedError where that cannot be."""
    jobs = Jobs(context.changing())
    try:
        yield jobs
    except JobError as error:
        raise RefusedError(HTTPStatus.CONFLICT, error.message) from None
    finally:
        jobs.engine.dispose()


def job_of(jobs: Jobs, number: int) -> Job:
    """The job of this number in the database; a RefusedError if there is none."""
    for one in jobs.all()[0]:
        if one.id == number:
            return one
    raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such job.")


def begin(context: DashboardContext, number: int) -> bool:
    """Start a run of a job now; whether it did not run already."""
    jobs = Jobs(context.changing())
    try:
        job, scheduler = job_of(jobs, number), scheduler_of(jobs, context.settings)
        run = jobs.start(job, DueRun(BY_HAND), scheduler.place)
        started = None if run is None else starting_thread().submit(scheduler.begin, job, run).result()
    except ArgumentError as error:
        jobs.engine.dispose()
        raise RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)) from None
    except BaseException:
        jobs.engine.dispose()
        raise
    if started is None:
        jobs.engine.dispose()
    else:
        Thread(target=_see_out, args=(scheduler, started), name="run", daemon=True).start()
    return run is not None


def _see_out(scheduler: JobScheduler, started: StartedRun) -> None:
    """Write down how a run ended that could not do so itself, as one that was killed."""
    started.child.process.wait()
    try:
        scheduler.reap()
    except StateError as error:
        logger.warning("How a run ended is not written down: %s", error)
    finally:
        scheduler.jobs.engine.dispose()


def end(context: DashboardContext, number: int) -> bool:
    """Tell the run of a job that is under way to end; whether there is one."""
    with opened(context) as jobs:
        job = job_of(jobs, number)
        if job.now is not None:
            jobs.stop(job.now.id, TOLD)  # its process looks there, on whatever machine it is
        return job.now is not None


def scheduler_is_at_work(context: DashboardContext) -> bool | None:
    """Whether a scheduler looks after this folder; None if that cannot be seen."""
    with _looking:  # or one look would take another for a scheduler
        try:
            return is_alive(context.output, "")
        except OSError:
            return None
