"""The definition of a job: its schedule, arguments and settings, checked before they are stored."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings, default_settings

from crawler import settings as our_settings
from crawler.arguments import ARGUMENTS, SPIDER, Arguments, parse
from crawler.checked_settings import canonical_of, check_crawl
from crawler.contrib.schedule.cron import Cron, CronError, read_cron
from crawler.contrib.schedule.job_store import Job, JobError
from crawler.contrib.schedule.run_notice import webhook_address
from crawler.errors import ArgumentError

OF_THE_SCHEDULER = frozenset(("OUTPUT_DIR", "STATE_URL", "AUTO_WORKERS_LIMIT"))
"""Settings that the scheduler sets for all jobs."""
OF_NO_JOB = frozenset(
    "BOT_NAME SPIDER_MODULES COMMANDS_MODULE TWISTED_DNS_RESOLVER SCHEDULER ITEM_PROCESSOR LOG_VERSIONS "
    "FEED_EXPORT_ENCODING TELNETCONSOLE_ENABLED REMOTE_CONTROL_ENABLED".split()
)
"""Settings that name code, or that open the process to others."""
PLAIN = (str, int, float, bool, list, tuple)
"""The types of settings that a job may have."""
FILES = ("IMAGE_NOISE_WEIGHTS", "IMAGE_NOISE_LISTS", "FOCUS_VECTORS")
"""Settings whose values are files, separated by commas if there are several."""


def checked(spider: str, arguments: Mapping[str, str], settings: Mapping[str, str], own: BaseSettings) -> Arguments:
    """The checked arguments of a job's crawl; raises an ArgumentError if `scrapy crawl` would refuse them."""
    if spider != SPIDER:
        raise ArgumentError("there is no spider {name}; there is {other}", name=repr(spider[:100]), other=SPIDER)
    for name in settings:
        if not may_be_set(name):
            raise ArgumentError("jobs may not have the setting {name}", name=repr(name[:100]))
    all_settings = own.copy()
    all_settings.setdict(dict(settings), priority="cmdline")
    canonical_of(all_settings)
    parsed = parse(arguments)
    check_crawl(all_settings, parsed)
    return parsed


def may_be_set(name: str) -> bool:
    """Whether a job may have a custom setting of this name."""
    if name in OF_NO_JOB | OF_THE_SCHEDULER or name.startswith("SCHEDULE_") or not name.isupper():
        return False
    if hasattr(our_settings, name):
        return isinstance(getattr(our_settings, name), PLAIN)
    return isinstance(getattr(default_settings, name, None), int | float)


@dataclass(frozen=True)
class JobDefinition:
    """A job as its user defines it."""

    name: str
    line: str
    zone: str
    spider: str
    arguments: Mapping[str, str]
    settings: Mapping[str, str]
    notify: str = ""
    """The address of its webhook; empty for none."""


def description(job: JobDefinition, settings: BaseSettings) -> Callable[[float], dict[str, Any]]:
    """A function that returns the row of the job if it is scheduled from a moment on.

    Raises a CronError, an ArgumentError or a StateError if anything about the job is wrong.
    """
    ARGUMENTS["name"].read(job.name)
    cron = read_cron(job.line, job.zone)
    arguments = {**job.arguments, "name": job.arguments.get("name", job.name)}
    crawl = checked(job.spider, arguments, job.settings, settings).name
    values: dict[str, Any] = {"cron": cron.line, "timezone": cron.zone, "spider": job.spider, "crawl": crawl}
    values |= column_values(*in_full(arguments, job.settings))
    values["notify"] = webhook_address(job.notify) if job.notify else None
    return lambda now: values | {"next_at": cron.after(now)}


def column_values(arguments: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Arguments and settings as values of a job's columns."""
    return {"arguments": json.dumps(arguments), "settings": json.dumps(settings)}


def in_full(arguments: Mapping[str, str], settings: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Arguments and settings with absolute paths, so that they mean the same in any folder."""
    full = dict(arguments)
    seeds = full.get("seeds", "").strip()
    if seeds != "demo" and ":" not in seeds.partition("/")[0]:
        full["seeds"] = str(Path(seeds).absolute())
    own = dict(settings)
    for name in FILES:
        files = [file.strip() for file in own.get(name, "").split(",") if file.strip()]
        if files:
            own[name] = ",".join(str(Path(file).absolute()) for file in files)
    return full, own


def next_at(job: Job, now: float) -> float | None:
    """When a job runs next if it is resumed now; raises a JobError if its cron line is wrong."""
    try:
        return Cron.after(read_cron(job.cron, job.timezone), now)
    except CronError as error:
        raise JobError(error.message) from None
