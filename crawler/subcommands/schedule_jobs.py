"""`scrapy schedule add`, `remove`, `pause` and `resume`: which crawls come again, and when."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.conf import arglist_to_dict

from crawler.arguments import READERS, ArgumentError
from crawler.schedule.cron import Cron, CronError, read
from crawler.schedule.words import coming, words
from crawler.scheduled import OF_THE_SCHEDULER, checked
from crawler.state.database import StateError, open_database
from crawler.state.jobs import Job, JobError, Jobs, find, values_of
from crawler.subcommands import Subcommand, WrongUseError
from crawler.subcommands.options import state_url
from crawler.wording import printable

# Settings whose values are files, with commas between them where there are several.
FILES = ("IMAGE_NOISE_WEIGHTS", "IMAGE_NOISE_LISTS")


@dataclass(frozen=True)
class Wish:
    """A job as somebody wants it."""

    name: str
    line: str
    """When, as cron has it."""
    zone: str
    spider: str
    arguments: Mapping[str, str]
    settings: Mapping[str, str]


@contextmanager
def opened(settings: BaseSettings) -> Iterator[Jobs]:
    """The jobs of the database that the settings name, which is made if it is not there."""
    jobs = Jobs(open_database(state_url(settings)))
    try:
        yield jobs
    except JobError as error:
        raise WrongUseError(str(error)) from None
    finally:
        jobs.engine.dispose()


def one(args: list[str], what: str) -> str:
    """The only argument there is."""
    if len(args) != 1:
        wrong = f"{args[1][:200]!r} is too much" if args else "no NAME is given"
        raise WrongUseError(f"{wrong}; it is scrapy schedule {what} NAME")
    return args[0]


def add(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Enter a job, once everything about it is known to be right; the exit status."""
    if len(args) != 3:
        wrong = f"{args[3][:200]!r} is too much" if len(args) > 3 else "something is missing"
        quoted = '"CRON" and what has a space in quotes'
        raise WrongUseError(f"{wrong}; it is scrapy schedule add {ADD.syntax}, with {quoted}")
    name, line, spider = args
    try:
        arguments = arglist_to_dict(opts.arguments)
    except ValueError:
        raise WrongUseError("arguments are given as -a NAME=VALUE, quoted as one") from None
    given = {key: str(settings[key]) for key in settings if settings.getpriority(key) == SETTINGS_PRIORITIES["cmdline"]}
    own = {key: value for key, value in given.items() if key not in OF_THE_SCHEDULER}
    try:
        described = description(Wish(name, line, opts.timezone, spider, arguments, own), settings)
    except (CronError, ArgumentError, StateError) as error:
        raise WrongUseError(str(error)) from None
    with opened(settings) as jobs:
        jobs.add(name, described)
        say_next(jobs, name)
    return 0


def description(wish: Wish, settings: BaseSettings) -> Callable[[float], dict[str, Any]]:
    """What the database is to have of a job that comes from some moment on, once all of it is known to be right."""
    READERS["name"](wish.name)
    cron = read(wish.line, wish.zone)
    arguments = {**wish.arguments, "name": wish.arguments.get("name", wish.name)}
    crawl = checked(wish.spider, arguments, wish.settings, settings).name
    values = {"cron": cron.line, "timezone": cron.zone, "spider": wish.spider, "crawl": crawl}
    values |= values_of(*in_full(arguments, wish.settings))
    return lambda now: values | {"next_at": cron.after(now)}


def in_full(arguments: Mapping[str, str], settings: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Arguments and settings that mean the same in any folder."""
    full = dict(arguments)
    seeds = full.get("seeds", "").strip()
    if seeds != "demo" and ":" not in seeds.partition("/")[0]:
        full["seeds"] = str(Path(seeds).absolute())
    own = dict(settings)
    for name in FILES:
        if files := [file.strip() for file in own.get(name, "").split(",") if file.strip()]:
            own[name] = ",".join(str(Path(file).absolute()) for file in files)
    return full, own


def say_next(jobs: Jobs, name: str) -> None:
    """Print when a job runs next."""
    found, now = jobs.all()
    print(printable(next_words(find(found, name), now)))


def next_words(job: Job, now: float) -> str:
    """When a job runs, and when next, in one line."""
    try:
        cron = read(job.cron, job.timezone)
    except CronError as error:
        return f"{job.name}: {error}"
    if job.paused:
        return f"{job.name}: paused; once resumed, {words(cron)} {cron.zone}"
    return f"{job.name}: {words(cron)}, {coming(job.next_at, now, cron)}"


def remove(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Forget a job; the exit status."""
    name = one(args, "remove")
    with opened(settings) as jobs:
        jobs.remove(name)
    print(f"The job {name!r} is no more; its crawl and its logs stay.")
    return 0


def pause(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Have a job not come until it is resumed; the exit status."""
    name = one(args, "pause")
    with opened(settings) as jobs:
        jobs.pause(name)
        say_next(jobs, name)
    return 0


def resume(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Have a paused job come again; the exit status."""
    name = one(args, "resume")
    with opened(settings) as jobs:
        jobs.resume(name, next_at)
        say_next(jobs, name)
    return 0


def next_at(job: Job, now: float) -> float | None:
    """When a job comes that is resumed now."""
    try:
        return Cron.after(read(job.cron, job.timezone), now)
    except CronError as error:
        raise JobError(error.message) from None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what may stand behind `scrapy schedule add`."""
    parser.add_argument("-a", dest="arguments", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--timezone", metavar="ZONE", default="UTC")


ADD = Subcommand('NAME "CRON" topic -a seeds=... [-a NAME=VALUE] [-s NAME=VALUE] [--timezone ZONE]', add, add_options)
REMOVE = Subcommand("NAME", remove)
PAUSE = Subcommand("NAME", pause)
RESUME = Subcommand("NAME", resume)
