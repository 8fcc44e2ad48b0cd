"""The definition of a job: its schedule, arguments and settings, checked before they are stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings, default_settings

from crawler import settings as our_settings
from crawler.arguments import ARGUMENTS, SPIDER, Arguments, parse
from crawler.checked_settings import canonical_of, check_crawl
from crawler.contrib.schedule.cron import CronError, read_cron
from crawler.contrib.schedule.job_store import Job, JobError, RowMaker
from crawler.contrib.schedule.run_notice import webhook_address
from crawler.errors import ArgumentError

SCHEDULER_SETTINGS = frozenset(("OUTPUT_DIR", "STATE_URL", "AUTO_WORKERS_LIMIT"))
"""Settings that the scheduler sets for all jobs."""
REFUSED_SETTINGS = frozenset(
    "BOT_NAME SPIDER_MODULES COMMANDS_MODULE TWISTED_DNS_RESOLVER SCHEDULER ITEM_PROCESSOR LOG_VERSIONS "
    "FEED_EXPORT_ENCODING TELNETCONSOLE_ENABLED REMOTE_CONTROL_ENABLED".split()
)
"""Settings that name code, or that open the process to others."""
PLAIN_TYPES = (str, int, float, bool, list, tuple)
"""The types of settings that a job may have."""
FILE_SETTINGS = ("IMAGE_NOISE_WEIGHTS", "IMAGE_NOISE_LISTS", "FOCUS_VECTORS")
"""Settings whose values are files, separated by commas if there are several."""


def checked(spider: str, arguments: Mapping[str, str], settings: Mapping[str, str], base: BaseSettings) -> Arguments:
    """The parsed arguments of a job's crawl. Raises an ArgumentError if `scrapy crawl` would refuse the arguments, or a
    job may not have one of the settings.

    `settings` are the job's own; they take precedence over `base`, the settings of this machine.
    """
    if spider != SPIDER:
        raise ArgumentError("there is no spider {name}; there is {other}", name=repr(spider[:100]), other=SPIDER)
    for name in settings:
        if not may_be_set(name):
            raise ArgumentError("jobs may not have the setting {name}", name=repr(name[:100]))
    all_settings = base.copy()
    all_settings.setdict(dict(settings), priority="cmdline")
    canonical_of(all_settings)  # raises an error if IGNORED_PARAMETERS is wrong
    parsed = parse(arguments)
    check_crawl(all_settings, parsed)
    return parsed


def may_be_set(name: str) -> bool:
    """Whether a job may have a setting of this name. Of Scrapy's own settings, only numbers are allowed: words may name
    code.
    """
    if name in REFUSED_SETTINGS | SCHEDULER_SETTINGS or name.startswith("SCHEDULE_") or not name.isupper():
        return False
    if hasattr(our_settings, name):
        return isinstance(getattr(our_settings, name), PLAIN_TYPES)
    return isinstance(getattr(default_settings, name, None), int | float)


@dataclass(frozen=True)
class JobDefinition:
    """A job as its user defines it."""

    name: str
    line: str
    """Its cron line."""
    zone: str
    spider: str
    arguments: Mapping[str, str]
    settings: Mapping[str, str]
    notify: str = ""
    """The address of its webhook; empty for none."""


def row_maker(job: JobDefinition, settings: BaseSettings) -> RowMaker:
    """The function that makes the row of a job in the database.

    Raises a CronError, an ArgumentError or a StateError if anything about the job is wrong.
    """
    ARGUMENTS["name"].read(job.name)
    cron = read_cron(job.line, job.zone)
    arguments = {**job.arguments, "name": job.arguments.get("name", job.name)}
    crawl = checked(job.spider, arguments, job.settings, settings).name
    values: dict[str, Any] = {"cron": cron.line, "timezone": cron.zone, "spider": job.spider, "crawl": crawl}
    values |= column_values(*_with_absolute_paths(arguments, job.settings))
    values["notify"] = webhook_address(job.notify) if job.notify else None
    return lambda now: values | {"next_at": cron.after(now)}


def column_values(arguments: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Arguments and settings as values of a job's columns."""
    return {"arguments": json.dumps(arguments), "settings": json.dumps(settings)}


def _with_absolute_paths(
    arguments: Mapping[str, str], settings: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Arguments and settings with absolute paths, so that they mean the same in any folder."""
    new_arguments = dict(arguments)
    seeds = new_arguments.get("seeds", "").strip()
    is_address = ":" in seeds.partition("/")[0]
    if seeds != "demo" and not is_address:  # the name of a file
        new_arguments["seeds"] = str(Path(seeds).absolute())
    new_settings = dict(settings)
    for name in FILE_SETTINGS:
        files = [file.strip() for file in new_settings.get(name, "").split(",") if file.strip()]
        if files:
            new_settings[name] = ",".join(str(Path(file).absolute()) for file in files)
    return new_arguments, new_settings


def next_at(job: Job, now: float) -> float | None:
    """When a job runs next if it is resumed now; raises a JobError if its cron line is wrong."""
    try:
        return read_cron(job.cron, job.timezone).after(now)
    except CronError as error:
        raise JobError(error.message) from None
