"""The process of a job's run: its start and end, its lock, its log, and the crawl.

`python -m crawler.contrib.schedule.job_process JOB RUN` reads the location of the database from standard input and the
job from the database. It writes heartbeats and its result into the database. Anybody who can write to the database
decides what is crawled; therefore a job's settings are only numbers, words and lists, and cannot name code to run.
"""

import json
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crawler import settings as our_settings
from crawler.arguments import NAME
from crawler.command_line.terminal import printable
from crawler.contrib.schedule.job_store import Job, Jobs, Run
from crawler.errors import ArgumentError, DatabaseUnavailableError, StateError
from crawler.processes.child_process import ChildProcess, ParentPipe
from crawler.processes.held_lock import take_lock
from crawler.store.database import database_url, open_database

LOCK = ".lock"
MOST_BYTES = 65_536
"""The most bytes at the end of a log that are read."""
MOST_LINES = 200
"""The most lines at the end of a log that are shown."""
# Without waiting: a named pipe in place of the log would block the reader.
OPEN_LOG = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def folder_of(output: Path, name: str) -> Path:
    """The folder with the logs and the lock of a job."""
    return output / "logs" / name


def log_of(output: Path, name: str, number: int) -> Path:
    """The log of a job's run."""
    return folder_of(output, name) / f"{number}.log"


def lock_of(output: Path, name: str = "") -> Path:
    """The lock that a job's process holds; without a name, the lock of this folder's scheduler."""
    return folder_of(output, name) / LOCK


def delete_old_logs(output: Path, name: str, before: int) -> None:
    """Delete the logs of a job's runs with a number below `before`."""
    for path in folder_of(output, name).glob("*.log"):
        if path.stem.isdecimal() and int(path.stem) < before:
            path.unlink(missing_ok=True)


class LogTail(NamedTuple):
    """The end of a log."""

    text: str
    lines: int
    """The number of its lines."""
    bytes: int
    """The size of the whole log."""
    is_cut: bool
    """Whether the log has more before the tail."""


def log_tail(output: Path, name: str, number: int) -> LogTail | None:
    """The last lines of a run's log; None if there is no log in this folder.

    Names are not trusted: anybody who can write to the database could give a job any name, and anybody who can write to
    the folder could create a link there.
    """
    if not NAME.fullmatch(name):
        return None
    path = log_of(output, name, number)
    try:
        if path.resolve() != log_of(output.resolve(), name, number):
            return None
        with open(os.open(path, OPEN_LOG), "rb") as file:  # noqa: PTH123 - a descriptor
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            file.seek(max(0, status.st_size - MOST_BYTES))
            text = file.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, RuntimeError):  # a link to itself
        return None

    lines: list[str] = []
    if text:
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    is_larger = status.st_size > MOST_BYTES
    complete_lines = lines
    if is_larger and len(lines) > 1:
        complete_lines = lines[1:]  # the first line may be cut off
    last_lines = complete_lines[-MOST_LINES:]
    is_cut = is_larger or len(last_lines) < len(lines)
    return LogTail(text="\n".join(last_lines), lines=len(last_lines), bytes=status.st_size, is_cut=is_cut)


class RunProcess(ChildProcess):
    """The process of a job's run, which writes into a log. It continues when the process that started it ends."""

    def __init__(self, command_line: Sequence[str], scheduler_settings: Mapping[str, str], log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            super().__init__(command_line, own_session=True, stdout=file, stderr=file)
        self.log = log
        # Not as arguments, which other users see: the URL of the database may hold a password.
        self.send(json.dumps(scheduler_settings).encode())


Starter = Callable[[str, int], RunProcess]
"""A function that starts the process of a job's run, by the job's name and the run's number."""


@cache
def starting_thread() -> ThreadPoolExecutor:
    """The one thread that starts runs.

    It must be started before the dashboard lowers its own priority, so that runs keep the normal priority: on Linux
    each thread has a priority, which its child processes inherit. On other systems, runs have the dashboard's priority.
    """
    starter = ThreadPoolExecutor(1, "starter")
    starter.submit(int).result()  # the executor creates its thread with its first task
    return starter


BEAT_SECONDS = 2.0  # between two heartbeats
LOCK_SECONDS = 10.0  # to wait for the job's lock, which the previous process of the job may hold while it ends
RETRY_SECONDS = 1.0  # between two attempts to record the end of a run


class Heartbeat(threading.Thread):
    """Writes heartbeats, and stops the crawl if the run must stop."""

    def __init__(self, jobs: Jobs, run: Run) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self.jobs = jobs
        self.run_id = run.id
        self.has_ended = threading.Event()

    def run(self) -> None:
        """Write a heartbeat every BEAT_SECONDS."""
        while not self.has_ended.wait(BEAT_SECONDS):
            try:
                may_continue = self.jobs.beat(self.run_id)
            except StateError:  # the crawl itself reports an error of the database
                continue
            if not may_continue and not self.has_ended.is_set():
                _terminate()
                return

    def end(self) -> None:
        """End the thread."""
        self.has_ended.set()
        self.join()


def _terminate() -> None:
    """Send this process the signal at which Scrapy stops a crawl cleanly."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGTERM)
    else:  # to the main thread, which handles signals: sent to another thread, it would not wake it
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def crawl(job: Job, scheduler_settings: Mapping[str, str]) -> int:
    """Run a job's crawl in this process; returns the exit status."""
    # Imported here, as the processes that start runs import this module, too, and do not need Scrapy's commands.
    from scrapy.cmdline import execute
    from scrapy.utils.project import get_project_settings

    from crawler.contrib.schedule.job_definition import SCHEDULER_SETTINGS, checked

    settings = get_project_settings()
    for name in SCHEDULER_SETTINGS:
        settings.set(name, scheduler_settings[name], priority="cmdline")
    try:
        arguments = json.loads(job.arguments)
        job_settings = json.loads(job.settings)
        checked(job.spider, arguments, job_settings, settings)
    except (ArgumentError, StateError) as error:
        print(printable(f"the job {job.name!r} cannot be run: {error}"), file=sys.stderr)
        return 2
    command_line = ["scrapy", "crawl", job.spider]
    command_line += [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    command_line += [word for name, value in job_settings.items() for word in ("-s", f"{name}={value}")]
    try:
        execute(command_line, settings)
    except SystemExit as error:
        if isinstance(error.code, int):
            return error.code
        return int(error.code is not None)  # Python exits with 1 if the code is a message
    return 0


def carry_out(name: str, number: int, scheduler_settings: Mapping[str, str]) -> int:
    """Carry out a run of a job in this process; returns the exit status."""
    output = Path(scheduler_settings["OUTPUT_DIR"])
    jobs = Jobs(open_database(database_url(scheduler_settings["STATE_URL"], output)))
    lock = take_lock(lock_of(output, name), LOCK_SECONDS)
    if lock is None:
        print(f"Another process of the job {name!r} is running in {output}.", file=sys.stderr)
        return 1
    job_and_run = jobs.record_process(name, number, os.getpid())
    if job_and_run is None:
        print("This run is not wanted any more.", file=sys.stderr)
        return 0
    job, run = job_and_run

    heartbeat = Heartbeat(jobs, run)
    heartbeat.start()
    status = 1  # any unexpected error
    try:
        status = crawl(job, scheduler_settings)
    finally:
        heartbeat.end()
        _record_end(jobs, run, status, job.crawl)
        jobs.engine.dispose()
        lock.release()
    return status


def _record_end(jobs: Jobs, run: Run, status: int, crawl_name: str) -> None:
    """Record how a run ended; if the database is unreachable for too long, the scheduler records that the run died."""
    until = time.monotonic() + our_settings.DATABASE_RETRY_SECONDS
    while True:
        try:
            jobs.end(run, status, crawl_name)
            return
        except DatabaseUnavailableError as error:
            if time.monotonic() > until:
                print(printable(f"How this run ended could not be recorded: {error}"), file=sys.stderr)
                return
            time.sleep(RETRY_SECONDS)


def _stop_when_told(parent: ParentPipe) -> None:
    """Wait until the parent process sends the request to stop, then stop the crawl."""
    if parent.wait_for_stop():
        _terminate()


def main() -> None:
    """Carry out the run that the command line names."""
    name, number = sys.argv[1:]
    parent = ParentPipe()
    scheduler_settings = parent.read_message()
    if scheduler_settings is None:
        sys.exit(2)  # the parent process was killed before it had sent the location of the database
    threading.Thread(target=_stop_when_told, args=(parent,), daemon=True).start()
    try:
        status = carry_out(name, int(number), json.loads(scheduler_settings))
    except StateError as error:
        print(printable(f"{error}"), file=sys.stderr)
        status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
