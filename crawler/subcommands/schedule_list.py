"""`scrapy schedule list` and `history`: when each job runs next, and how it went; read without touching anything."""

import argparse
import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from scrapy.settings import BaseSettings
from sqlalchemy import Connection

from crawler.schedule.children import log_of
from crawler.schedule.cron import Cron, CronError, read
from crawler.schedule.words import date, ended_words, pages_words
from crawler.state.database import shown, time_of
from crawler.state.jobs import BY_HAND, ON_TIME, TOO_LATE, Job, JobError, Run, history_of, jobs_of, pages_of
from crawler.state.report import exists, reading
from crawler.subcommands import Subcommand, WrongUseError
from crawler.subcommands.options import state_url
from crawler.subcommands.schedule_jobs import next_words, one
from crawler.wording import counted, printable, span

HOW = {ON_TIME: "on time", TOO_LATE: "late", BY_HAND: "by hand"}
UTC = Cron("* * * * *", "UTC")


def list_jobs(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print all jobs; the exit status."""
    if args:
        raise WrongUseError(f"{args[0][:200]!r} is too much; it is scrapy schedule list")
    url = state_url(settings)
    if not exists(url):
        print(f"There is no job yet: nothing was ever run here ({shown(url)}).")
        return 0
    with reading(url) as connection:
        jobs, now = jobs_of(connection), time_of(connection)
        lines = [line for job in jobs for line in _block(connection, job, now)]
    _print(lines or [f"There is no job in {shown(url)}."])
    return 0


def history(args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the runs of a job, the last first; the exit status."""
    name, url = one(args, "history"), state_url(settings)
    if not exists(url):
        raise WrongUseError(f"there is no job {name!r}: nothing was ever run here ({shown(url)})")
    with reading(url) as connection:
        try:
            job, runs = history_of(connection, name)
        except JobError as error:
            raise WrongUseError(str(error)) from None
        now, cron = time_of(connection), _cron(job)
        output = Path(settings["OUTPUT_DIR"])
        lines = [f"{_run(connection, job, run, cron, now)}; {_log(output, job, run)}" for run in runs]
    _print([next_words(job, now), *(f"  {line}" for line in lines or ["it never ran"])])
    return 0


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(line).replace("\n", "\\n"))


def _cron(job: Job) -> Cron:
    """When a job is due; if that cannot be read, at least a time zone."""
    try:
        return read(job.cron, job.timezone)
    except CronError:
        return UTC


def _block(connection: Connection, job: Job, now: float) -> Iterator[str]:
    """What there is to say of a job."""
    cron = _cron(job)
    yield next_words(job, now)
    yield f"  crawl  {_command(job)}"
    for word, run in (("now", job.now), ("last", job.last)):
        if run is not None:
            yield f"  {word:<5}  {_run(connection, job, run, cron, now)}"
    if job.runs == 0:
        yield "  last   it never ran"


def _command(job: Job) -> str:
    """What a job does, as it would be given on the command line."""
    line = ["scrapy", "crawl", job.spider]
    for option, given in (("-a", job.arguments), ("-s", job.settings)):
        line += [word for name, value in json.loads(given).items() for word in (option, f"{name}={value}")]
    return shlex.join(line)


def _run(connection: Connection, job: Job, run: Run, cron: Cron, now: float) -> str:
    """What there is to say of a run."""
    said = f"run {run.number}, {date(run.started_at, cron)}, {HOW.get(run.how, run.how)}"
    if run.missed:
        said += f" and for {counted(run.missed, 'more time')} that passed"
    if run.ended_at is not None:
        return f"{said}, {ended_words(run)}"
    pages = pages_words(pages_of(connection, job.crawl, run.started_at, now))
    quiet = f", last sign of life {span(now - run.beat)} ago"
    who = f"process {run.pid} on {run.host}" if run.pid else f"on its way on {run.host}"
    return f"{said}, {run.status} for {span(now - run.started_at)} ({who}{quiet}), {pages}"


def _log(output: Path, job: Job, run: Run) -> str:
    path = log_of(output, job.name, run.number)
    return str(path) if path.exists() else f"its log is on {run.host}, or gone"


LIST = Subcommand("", list_jobs)
HISTORY = Subcommand("NAME", history)
