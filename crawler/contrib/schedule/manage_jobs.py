"""`winnow schedule`: adds, pauses, resumes, removes and lists jobs; runs the scheduler or one job in the foreground."""

import argparse
import json
import logging
import shlex
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings
from scrapy.utils.conf import arglist_to_dict
from scrapy.utils.log import configure_logging
from sqlalchemy import Connection

from crawler.command_line.stop_signals import SIGNALS, ignore_repeats
from crawler.command_line.terminal import printable, say
from crawler.contrib.schedule.cron import Cron, CronError, read_cron
from crawler.contrib.schedule.job_definition import SCHEDULER_SETTINGS, JobDefinition, next_at, row_maker
from crawler.contrib.schedule.job_process import lock_of, log_of
from crawler.contrib.schedule.job_scheduler import CHECK_SECONDS, JobScheduler, StartedRun, scheduler_of
from crawler.contrib.schedule.job_store import (
    BY_HAND,
    ON_TIME,
    TOO_LATE,
    DueRun,
    Job,
    JobError,
    Jobs,
    Run,
    find_job,
    history_of,
    jobs_of,
    pages_of,
)
from crawler.contrib.schedule.run_notice import failure_words
from crawler.contrib.schedule.schedule_words import date, ended_words, next_run_words, pages_words, schedule_words
from crawler.errors import WrongUseError
from crawler.processes.held_lock import take_lock
from crawler.store.database import database_time, display_url, open_database, state_url
from crawler.store.read_only import exists, reading
from crawler.translation.message import N_, Message, counted, localized, plural, span

logger = logging.getLogger(__name__)

HOW = {ON_TIME: N_("on time"), TOO_LATE: N_("late"), BY_HAND: N_("by hand")}
"""The words for `Run.how`."""
CRON_IN_UTC = Cron("* * * * *", "UTC")
"""For dates in UTC: only its time zone is used."""
NOT_STARTED = 1
"""The exit status if the job is already running, or cannot be started."""
SIGNAL_STATUS = 128
"""Is added to the number of a signal that ended the process, as in shells."""
PIECE_BYTES = 65_536


@contextmanager
def opened(settings: BaseSettings) -> Iterator[Jobs]:
    """The jobs of the database that the settings name; its tables are created if necessary."""
    jobs = Jobs(open_database(state_url(settings)))
    try:
        yield jobs
    except JobError as error:
        raise WrongUseError(error.message) from None
    finally:
        jobs.engine.dispose()


def add(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Add a job after checking everything about it; returns the exit status."""
    try:
        arguments = arglist_to_dict(opts.arguments)
    except ValueError:
        raise WrongUseError("give arguments as -a NAME=VALUE, in quotes if VALUE has spaces") from None

    from_command_line = SETTINGS_PRIORITIES["cmdline"]
    own_settings = {
        key: str(settings[key])
        for key in settings
        if settings.getpriority(key) == from_command_line and key not in SCHEDULER_SETTINGS
    }
    job = JobDefinition(
        name=opts.name,
        line=opts.cron,
        zone=opts.timezone,
        spider=opts.spider,
        arguments=arguments,
        settings=own_settings,
        notify=opts.notify,
    )
    make_row = row_maker(job, settings)
    with opened(settings) as jobs:
        jobs.add(opts.name, make_row)
        say_next(jobs, opts.name)
    return 0


def say_next(jobs: Jobs, name: str) -> None:
    """Print when a job runs next."""
    all_jobs, now = jobs.all()
    _print([_schedule_line(find_job(all_jobs, name), now)])


def _schedule_line(job: Job, now: float) -> Message:
    """The schedule of a job and its next run, in one line."""
    try:
        cron = read_cron(job.cron, job.timezone)
    except CronError as error:
        return Message("{name}: {why}", {"name": job.name, "why": error.message})
    values = {"name": job.name, "when": schedule_words(cron), "zone": cron.zone}
    if job.paused:
        return Message("{name}: paused; once resumed, {when} {zone}", values)
    return Message("{name}: {when}, {next}", {**values, "next": next_run_words(job.next_at, now, cron)})


def remove(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Remove a job; returns the exit status."""
    with opened(settings) as jobs:
        jobs.remove(opts.name)
    _print([Message("The job {name} was removed; its crawl and its logs stay.", {"name": repr(opts.name)})])
    return 0


def pause(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Pause a job; returns the exit status."""
    with opened(settings) as jobs:
        jobs.pause(opts.name)
        say_next(jobs, opts.name)
    return 0


def resume(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Resume a job; returns the exit status."""
    with opened(settings) as jobs:
        jobs.resume(opts.name, next_at)
        say_next(jobs, opts.name)
    return 0


def list_jobs(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print all jobs with their current and last runs; returns the exit status."""
    url = state_url(settings)
    if not exists(url):
        _print([Message("There is no job yet: nothing was ever run here ({path}).", {"path": display_url(url)})])
        return 0
    with reading(url) as connection:
        jobs = jobs_of(connection)
        now = database_time(connection)
        lines = [line for job in jobs for line in _job_lines(connection, job, now)]
    _print(lines or [Message("There is no job in {path}.", {"path": display_url(url)})])
    return 0


def history(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the runs of a job, newest first; returns the exit status."""
    name = opts.name
    url = state_url(settings)
    if not exists(url):
        raise WrongUseError(
            "there is no job {name}: nothing was ever run here ({path})", name=repr(name), path=display_url(url)
        )
    with reading(url) as connection:
        try:
            job, runs = history_of(connection, name)
        except JobError as error:
            raise WrongUseError(error.message) from None
        now = database_time(connection)
        cron = _cron(job)
        output = Path(settings["OUTPUT_DIR"])
        lines = []
        for run in runs:
            run_line = _run_line(connection, job, run, cron, now)
            lines.append(Message("  {run}; {log}", {"run": run_line, "log": _log(output, job, run)}))
    _print([_schedule_line(job, now), *(lines or [Message("  it never ran")])])
    return 0


def _print(lines: Iterable[Message]) -> None:
    """Print messages in the user's language, each on a line."""
    for line in lines:
        print(printable(localized(line)).replace("\n", "\\n"))


def _cron(job: Job) -> Cron:
    """The cron line of a job, in whose time zone the dates of its runs are shown; CRON_IN_UTC if it is wrong."""
    try:
        return read_cron(job.cron, job.timezone)
    except CronError:
        return CRON_IN_UTC


def _job_lines(connection: Connection, job: Job, now: float) -> Iterator[Message]:
    """The lines about a job in the list."""
    cron = _cron(job)
    yield _schedule_line(job, now)
    yield Message("  crawl  {command}", {"command": _command(job)})
    if job.notify:
        yield Message("  tells  {address}", {"address": job.notify})
    if job.now is not None:
        yield Message("  now    {run}", {"run": _run_line(connection, job, job.now, cron, now)})
    if job.last is not None:
        yield Message("  last   {run}", {"run": _run_line(connection, job, job.last, cron, now)})
    if job.runs == 0:
        yield Message("  last   it never ran")


def _command(job: Job) -> str:
    """The command that would run the crawl of a job."""
    command_line = ["winnow", "crawl", job.spider]
    for option, json_text in (("-a", job.arguments), ("-s", job.settings)):
        command_line += [word for name, value in json.loads(json_text).items() for word in (option, f"{name}={value}")]
    return shlex.join(command_line)


def _run_line(connection: Connection, job: Job, run: Run, cron: Cron, now: float) -> Message:
    """A run in one line."""
    how = Message(HOW.get(run.how, run.how))
    if run.missed:
        how = plural("{how} and for {n} missed time", "{how} and for {n} missed times", run.missed, how=how)
    values: dict[str, object] = {"n": run.number, "date": date(run.started_at, cron), "how": how}
    if run.ended_at is not None:
        run_words = Message("run {n}, {date}, {how}, {end}", {**values, "end": ended_words(run)})
        why = failure_words(run.notice or "")
        if why is None:
            return run_words
        return Message("{run}; {why}", {"run": run_words, "why": why})

    process: dict[str, object] = {"pid": run.pid, "host": run.host, "quiet": span(now - run.beat)}
    if run.pid:
        who = Message("process {pid} on {host}, last heartbeat {quiet} ago", process)
    else:
        who = Message("starting on {host}, last heartbeat {quiet} ago", process)
    values |= {"status": Message(run.status), "span": span(now - run.started_at), "who": who}
    values["pages"] = pages_words(pages_of(connection, job.crawl, run.started_at, now))
    return Message("run {n}, {date}, {how}, {status} for {span} ({who}), {pages}", values)


def _log(output: Path, job: Job, run: Run) -> str | Message:
    """The path of a run's log, or the machine where it may be."""
    path = log_of(output, job.name, run.number)
    if path.exists():
        return str(path)
    return Message("its log is on {host}, or gone", {"host": run.host})


class StopRequests:
    """Counts the user's requests to stop."""

    def __init__(self) -> None:
        self.count = 0
        self.has_request = threading.Event()

    def __call__(self, number: int, frame: object) -> None:
        """Handle a signal."""
        self.count += 1
        self.has_request.set()

    @property
    def is_repeated(self) -> bool:
        """Whether the user has asked more than once."""
        return self.count > 1


@contextmanager
def stopping() -> Iterator[StopRequests]:
    """A context in which signals to stop are counted. A signal that is ignored, as under nohup, stays ignored."""
    requests = StopRequests()
    counted_signals = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, requests) for number in counted_signals}
    ignore_repeats()  # the signals right after the first one do not count as a second request
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Run the scheduler until the user stops it; returns the exit status."""
    with opened(settings) as jobs, stopping() as stop_requests:
        scheduler = scheduler_of(jobs, settings)
        lock = take_lock(lock_of(scheduler.output), CHECK_SECONDS)  # another process may be testing the lock
        if lock is None:
            raise WrongUseError("a scheduler is already running in {path}", path=repr(str(scheduler.output)))
        configure_logging(Settings(settings))
        logging.getLogger("scrapy").setLevel(logging.WARNING)

        url = state_url(settings)
        count = counted(len(jobs.all()[0]), "job")
        logger.info("%s", printable(f"The scheduler runs {count} of {display_url(url)}; Ctrl-C stops it"))
        try:
            scheduler.run_until(stop_requests.has_request.wait)
        finally:
            if scheduler.started or scheduler.adopted:
                logger.info("%s", "Waiting for crawls to end; a second Ctrl-C kills them")
            scheduler.stop(lambda: stop_requests.is_repeated)
            scheduler.notices.wait()
            lock.release()
    logger.info("%s", "The scheduler has ended")
    return 0


def run_now(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Run a job at once and print its log meanwhile; returns the exit status of the crawl."""
    name = opts.name
    with opened(settings) as jobs, stopping() as stop_requests:
        scheduler = scheduler_of(jobs, settings)
        job = scheduler.current(name)
        new_run = jobs.start(job, DueRun(how=BY_HAND), scheduler.place)
        if new_run is None:
            say("schedule run-now", f"the job {name!r} is already running")
            return NOT_STARTED
        started = scheduler.begin(job, new_run)
        if started is None:
            return NOT_STARTED
        _follow(started, scheduler, stop_requests)
        status = started.child.wait()
    if status < 0:  # the negative number of a signal
        return SIGNAL_STATUS - status
    return status


def _follow(started: StartedRun, scheduler: JobScheduler, stop_requests: StopRequests) -> None:
    """Copy a run's log to standard error until the run ends, and stop the run when the user asks."""
    with started.child.log.open("rb") as log:

        def copy_and_check_hurry() -> bool:
            """Called while the run stops: copy the log; returns whether the run must be killed."""
            _copy(log)
            return stop_requests.is_repeated

        while started.child.poll() is None:
            _copy(log)
            if stop_requests.has_request.wait(CHECK_SECONDS):
                scheduler.stop(copy_and_check_hurry)
        _copy(log)
    scheduler.reap()
    scheduler.notices.wait()


def _copy(log: BinaryIO) -> None:
    """Print what was added to a log."""
    while piece := log.read(PIECE_BYTES):
        sys.stderr.write(piece.decode("utf-8", errors="replace"))
        sys.stderr.flush()
