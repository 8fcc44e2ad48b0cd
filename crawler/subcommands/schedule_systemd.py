"""`scrapy schedule systemd`: a unit and a timer by which systemd starts a job."""

import argparse
import os
import sys
from pathlib import Path

from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler.schedule.cron import CronError, read
from crawler.schedule.systemd import Unit, UnitError, unit_name, units
from crawler.state.database import database_url
from crawler.state.job_rows import find
from crawler.subcommands import Subcommand, WrongUseError
from crawler.subcommands.schedule_jobs import one, opened
from crawler.subcommands.schedule_run import limits

MODULE = "SCRAPY_SETTINGS_MODULE"
SECRETS = ("password", "sslpassword")


def systemd(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the unit and the timer of a job, or the unit of the scheduler; the exit status."""
    name = one(args, "systemd")
    with opened(settings) as jobs:
        job = find(jobs.all()[0], name)
    output = Path(settings["OUTPUT_DIR"]).absolute()
    url = database_url(settings["STATE_URL"], output)
    more = [
        "-s",
        f"OUTPUT_DIR={output}",
        *(["-s", f"STATE_URL={without_secrets(url)}"] if settings["STATE_URL"] else []),
    ]
    line = [sys.executable, "-m", "scrapy", "schedule"]
    environment = {MODULE: os.environ[MODULE]} if MODULE in os.environ else {}
    place = (str(Path.cwd()), limits(settings).stop_seconds + 30, environment)
    try:
        text = units(
            Unit(unit_name(f"winnow-{job.name}"), [*line, "run-now", job.name, *more], *place),
            Unit("winnow-scheduler", [*line, "run", *more], *place),
            read(job.cron, job.timezone),
        )
    except (UnitError, CronError) as error:
        raise WrongUseError(str(error)) from None
    if _is_secret(url):
        print("# The database's password is not in here: ~/.pgpass can have it, and PGPASSWORD.")
    print(text)
    return 0


def without_secrets(url: URL) -> str:
    """The address of a database without what nobody else is to see, the same in all folders."""
    if url.drivername == "sqlite":
        return str(url.set(database=str(Path(str(url.database)).absolute())))
    return url._replace(password=None).difference_update_query(SECRETS).render_as_string()


def _is_secret(url: URL) -> bool:
    return url.password is not None or any(name in url.query for name in SECRETS)


SYSTEMD = Subcommand("NAME", systemd)
