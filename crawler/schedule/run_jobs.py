"""`scrapy schedule run` runs the scheduler in the foreground; `run-now` runs one job once, in the foreground."""

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from scrapy.settings import BaseSettings, Settings
from scrapy.utils.log import configure_logging

from crawler.command_line.terminal import WrongUseError, printable
from crawler.schedule.job_process import take_lock
from crawler.schedule.job_scheduler import PAUSE, JobScheduler, StartedRun, scheduler_of
from crawler.schedule.job_store import BY_HAND, DueRun, find_job
from crawler.schedule.manage_jobs import opened
from crawler.store.database import display_url, state_url
from crawler.translation.message import counted
from crawler.translation.program import as_called

logger = logging.getLogger(__name__)

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
BUSY = 1
BY_SIGNAL = 128  # the signal; shells use an exit status like this for a process that it ended
PIECE = 65_536


class Stop:
    """Counts the user's requests to stop."""

    def __init__(self) -> None:
        self.times = 0
        self.wanted = threading.Event()

    def __call__(self, number: int, frame: object) -> None:
        self.times += 1
        self.wanted.set()

    @property
    def in_a_hurry(self) -> bool:
        return self.times > 1


@contextmanager
def stopping() -> Iterator[Stop]:
    """Within the block, signals to stop are counted."""
    stop = Stop()
    ours = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]  # ignored, as under nohup
    before = {number: signal.signal(number, stop) for number in ours}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Start jobs that are due until the user stops it; returns the exit status."""
    with opened(settings) as jobs, stopping() as stop:
        scheduler = scheduler_of(jobs, settings)
        lock = take_lock(scheduler.output, patience=PAUSE)  # another process may be testing the lock
        if lock is None:
            raise WrongUseError("a scheduler is already running in {path}", path=repr(str(scheduler.output)))
        configure_logging(Settings(settings))
        logging.getLogger("scrapy").setLevel(logging.WARNING)
        url = state_url(settings)
        count = counted(len(jobs.all()[0]), "job")
        logger.info("%s", printable(f"The scheduler runs {count} of {display_url(url)}; Ctrl-C stops it"))
        try:
            scheduler.keep(stop.wanted.wait)
        finally:
            if scheduler.started or scheduler.found:
                logger.info("%s", "Waiting for crawls to end; a second Ctrl-C kills them")
            scheduler.stop(lambda: stop.in_a_hurry)
            lock.release()
    logger.info("%s", "The scheduler has ended")
    return 0


def run_now(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Run a job at once and show its log meanwhile; returns the exit status of the crawl."""
    name = opts.name
    with opened(settings) as jobs, stopping() as stop:
        scheduler = scheduler_of(jobs, settings)
        job = find_job(jobs.all()[0], name)
        entered = jobs.start(job, DueRun(BY_HAND), scheduler.place)
        if entered is None:
            print(
                printable(as_called(f"scrapy schedule run-now: the job {name!r} is already running")), file=sys.stderr
            )
            return BUSY
        started = scheduler.begin(job, entered)
        if started is None:
            return BUSY
        _follow(started, scheduler, stop)
        status = started.child.process.returncode
    return BY_SIGNAL - status if status < 0 else status


def _follow(started: StartedRun, scheduler: JobScheduler, stop: Stop) -> None:
    """Copy a run's log to standard error until it ends, and stop the run when the user asks."""
    with started.child.log.open("rb") as log:
        while started.child.poll() is None:
            _copy(log)
            if stop.wanted.wait(PAUSE):
                scheduler.stop(lambda: stop.in_a_hurry or _copy(log))
        _copy(log)
    scheduler.reap()


def _copy(log: BinaryIO) -> bool:
    """Show what was added to a log; always returns False."""
    while piece := log.read(PIECE):
        sys.stderr.write(piece.decode("utf-8", errors="replace"))
        sys.stderr.flush()
    return False
