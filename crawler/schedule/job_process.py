"""A crawl that a job starts: a process of its own, which gives signs of life and writes down how it ended.

`python -m crawler.schedule.job_process JOB RUN` reads from standard input where the job is, and gets what it is to
crawl from there. Whoever may write to the database says what is crawled; so a job's settings are figures, words and
lists alone, and name no code that would be run here.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from scrapy.cmdline import execute
from scrapy.utils.project import get_project_settings

from crawler import settings as our_settings
from crawler.arguments import ArgumentError
from crawler.schedule.job_definition import OF_THE_SCHEDULER, checked
from crawler.schedule.jobs import Job, Jobs, Run
from crawler.schedule.processes import take_lock
from crawler.store.database import DatabaseUnavailableError, StateError, database_url, open_database
from crawler.terminal import printable

BEAT = 2.0  # seconds between two signs of life
LOCK_PATIENCE = 10.0  # seconds in which the process of the job's last run, which is at its end, gives up the lock
PAUSE = 1.0


class Heartbeat(threading.Thread):
    """Gives signs of life, and ends the crawl when it is not to go on."""

    def __init__(self, jobs: Jobs, run: Run) -> None:
        super().__init__(name="pulse", daemon=True)
        self.jobs, self.run_id = jobs, run.id
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(BEAT):
            try:
                goes_on = self.jobs.beat(self.run_id)
            except StateError:  # the crawl itself says what is wrong with the database
                continue
            if not goes_on and not self.over.is_set():
                _terminate()
                return

    def end(self) -> None:
        """Give no more signs."""
        self.over.set()
        self.join()


def _terminate() -> None:
    """End this process as the scheduler would: Scrapy then ends the crawl cleanly."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGTERM)
    else:  # to the thread that hears signals, or it might sleep on
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def crawl(job: Job, told: Mapping[str, str]) -> int:
    """The exit status of a job's crawl, done here."""
    settings = get_project_settings()
    for name in OF_THE_SCHEDULER:
        settings.set(name, told[name], priority="cmdline")
    try:
        arguments, own = json.loads(job.arguments), json.loads(job.settings)
        checked(job.spider, arguments, own, settings)
    except (ArgumentError, StateError) as error:
        print(printable(f"the job {job.name!r} cannot be run: {error}"), file=sys.stderr)
        return 2
    line = ["scrapy", "crawl", job.spider]
    line += [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    line += [word for name, value in own.items() for word in ("-s", f"{name}={value}")]
    try:
        execute(line, settings)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def carry_out(name: str, number: int, told: Mapping[str, str]) -> int:
    """The exit status of a run of a job, done here."""
    output = Path(told["OUTPUT_DIR"])
    jobs = Jobs(open_database(database_url(told["STATE_URL"], output)))
    lock = take_lock(output, name, LOCK_PATIENCE)
    if lock is None:
        print(f"Another process of the job {name!r} is at work in {output}.", file=sys.stderr)
        return 1
    found = jobs.arrive(name, number, os.getpid())
    if found is None:
        print("This run is not wanted any more.", file=sys.stderr)
        return 0
    job, run = found
    pulse = Heartbeat(jobs, run)
    pulse.start()
    status = 1  # of what nobody expects
    try:
        status = crawl(job, told)
    finally:
        pulse.end()
        _write_down(jobs, run, status, job.crawl)
        jobs.engine.dispose()
        lock.release()
    return status


def _write_down(jobs: Jobs, run: Run, status: int, crawl_name: str) -> None:
    """Have the database know how a run ended, unless it is away for too long; the scheduler then sees it."""
    until = time.monotonic() + our_settings.DATABASE_RETRY_SECONDS
    while True:
        try:
            jobs.end(run, status, crawl_name)
            return
        except DatabaseUnavailableError as error:
            if time.monotonic() > until:
                print(printable(f"How this run ended is not written down: {error}"), file=sys.stderr)
                return
            time.sleep(PAUSE)


def main() -> None:
    """Do what the command line says, to the end of this process."""
    name, number = sys.argv[1:]
    try:
        told = json.loads(sys.stdin.read() or "null")
        if told is None:
            sys.exit(2)  # who started it was killed before it could say more
        status = carry_out(name, int(number), told)
    except StateError as error:
        print(printable(f"{error}"), file=sys.stderr)
        status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
