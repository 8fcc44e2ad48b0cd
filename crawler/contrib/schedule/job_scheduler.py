"""The scheduler: starts jobs that are due, records the ends of runs, and stops the runs it started.

It keeps no jobs in memory and reads the database at each step: a job that is added, paused or started elsewhere takes
effect at once, and several schedulers can share the jobs. If several times passed while no scheduler ran, the job runs
once for all of them, and the run counts the others as missed. If a job is due while a run of it continues, the job is
not started, and the run counts the time as skipped.

If the scheduler of a run dies, the next scheduler of its folder adopts the run. Then the run counts among the crawls
that may run at the same time, and is told to stop when the new scheduler stops.
"""

import logging
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.checked_settings import check_settings
from crawler.command_line.terminal import printable
from crawler.contrib.schedule.cron import Cron, CronError, read_cron
from crawler.contrib.schedule.job_process import RunProcess, Starter, delete_old_logs, lock_of, log_of
from crawler.contrib.schedule.job_store import (
    BY_HAND,
    ON_TIME,
    TOO_LATE,
    DueRun,
    Job,
    Jobs,
    Run,
    RunPlace,
    RunStatus,
    find_job,
)
from crawler.contrib.schedule.run_notice import NoticeSender, NoticeSettings, notice_settings
from crawler.contrib.schedule.schedule_words import date, ended_words, next_run_words
from crawler.errors import ArgumentError, DatabaseUnavailableError, StateError
from crawler.processes.held_lock import is_held
from crawler.processes.machine import cores
from crawler.store.heartbeats import LEASE_SECONDS
from crawler.store.output_files import folder_id
from crawler.translation.message import counted

logger = logging.getLogger(__name__)

LATE_SECONDS = 60.0
"""A run that starts more than this after its time is called late."""
STEADY_SECONDS = LEASE_SECONDS / 2
"""How long the database must have been reachable before runs without a heartbeat count as dead: after an outage, they
need time to write one.
"""
STEP_SECONDS = 1.0
"""The time between two steps of the scheduler."""
CHECK_SECONDS = 0.1
"""The time between two checks whether runs that must stop have ended."""


@dataclass(frozen=True, slots=True)
class SchedulerLimits:
    """The limits of a scheduler."""

    at_once: int
    """The most crawls that run at the same time."""
    _: KW_ONLY
    keep_runs: int = 100
    """The number of runs of a job that are kept, with their logs."""
    stop_seconds: float = 150.0
    """Seconds that crawls have to stop: DATABASE_RETRY_SECONDS, and some more."""
    notices: NoticeSettings = field(default_factory=NoticeSettings)


@dataclass
class StartedRun:
    """A run that this scheduler started, with its process."""

    job: Job
    run: Run
    child: RunProcess


class JobScheduler:
    """A scheduler for the crawls with this output folder."""

    def __init__(self, jobs: Jobs, place: RunPlace, output: Path, starter: Starter, limits: SchedulerLimits) -> None:
        self.jobs = jobs
        self.place = place
        self.output = output
        self.starter = starter
        self.limits = limits
        self.notices = NoticeSender(jobs, limits.notices)
        self.first_step_at: float | None = None
        """The time of the first step, by the database's clock."""
        self.started: list[StartedRun] = []
        self.adopted: dict[int, Run] = {}
        """Runs in this folder whose scheduler is dead, by their ids."""
        self.reachable_since: float | None = None
        """Since when the database has been reachable, by the database's clock."""
        self.last_messages: dict[str, object] = {}
        """The subject of the last message about each job, by its name."""

    def step(self) -> None:
        """Record the ends of runs, send notices, and start jobs that are due."""
        self.reap()
        jobs, now = self.jobs.all()
        if self.reachable_since is None or self.reachable_since > now:  # the clock may have been set back
            self.reachable_since = now
        own_run_ids = {started_run.run.id for started_run in self.started}
        for job in jobs:
            if job.now is not None and job.now.id not in own_run_ids:
                self.end_or_adopt(job, job.now, now)
        self._forget_ended(jobs)
        self._send_notices(jobs, now)

        # Start jobs that are due, the longest due first.
        for job in sorted(jobs, key=lambda job: job.next_at or 0.0):
            if job.next_at is None or job.paused:
                continue
            cron = self._cron(job)
            if cron is None:
                continue
            if job.next_at <= now:
                self.start_due(job, cron, now)
            else:
                self._say_once(job.name, job.next_at, str(next_run_words(job.next_at, now, cron)))

    def reap(self) -> None:
        """Record how started runs ended; a run whose end cannot be recorded stays for the next call."""
        for started_run in list(self.started):
            exit_status = started_run.child.poll()
            if exit_status is None:
                continue
            run = self.jobs.end(started_run.run, exit_status, started_run.job.crawl)
            self.started.remove(started_run)
            logger.info("%s", printable(f"{started_run.job.name}: run {run.number} has ended: {ended_words(run)}"))
            self.notices.send_once(started_run.job, run)
            self.jobs.forget(started_run.job, self.limits.keep_runs)

    def end_or_adopt(self, job: Job, run: Run, now: float) -> None:
        """Record the end of a run if the run is dead, or adopt the run if its scheduler is dead. This scheduler did not
        start the run.

        A run that was started by hand is left to its user. Any other run in this folder belongs to a scheduler that
        died, because a folder has one scheduler at a time.
        """
        if self._is_dead(job, run, now):
            self.adopted.pop(run.id, None)
            ended = self.jobs.end(run, None, job.crawl)
            logger.warning("%s", printable(f"{job.name}: run {run.number} is dead: {ended_words(ended)}"))
            self.notices.send_once(job, ended)
        elif run.place == self.place.folder_id and run.how != BY_HAND and run.id not in self.adopted:
            self.adopted[run.id] = run
            who = f"process {run.pid} on {run.host}" if run.pid else f"on {run.host}"
            logger.info("%s", printable(f"{job.name}: run {run.number} is already running ({who}) and continues"))

    def current(self, name: str) -> Job:
        """The job with this name; raises a JobError if there is none. If its run is dead, its end is recorded first."""
        jobs, now = self.jobs.all()
        job = find_job(jobs, name)
        if job.now is None or not self._is_dead(job, job.now, now):
            return job
        self.end_or_adopt(job, job.now, now)
        return find_job(self.jobs.all()[0], name)

    def start_due(self, job: Job, cron: Cron, now: float) -> None:
        """Start a job that is due, unless it is running already or `at_once` crawls are running."""
        assert job.next_at is not None  # noqa: S101 - it is due
        due = DueRun(
            how=TOO_LATE if now - job.next_at > LATE_SECONDS else ON_TIME,
            due_at=job.next_at,
            missed=cron.count(job.next_at, now),
            next_at=cron.after(now),
        )
        if job.now is not None:
            self.jobs.skip_times(job, job.now, due)
            return
        if len(self.started) + len(self.adopted) >= self.limits.at_once:
            self._say_once(job.name, ("waits", job.next_at), "is due, but must wait until another crawl has ended")
            return

        run = self.jobs.start(job, due, self.place)
        if run is None:
            return
        self.begin(job, run)
        message = f"{job.name}: run {run.number} has started"
        if due.how == TOO_LATE:
            message += f", due {date(job.next_at, cron)}"
        if due.missed:
            message += f", also for {counted(due.missed, 'missed time')}"
        message += f"; its log is {log_of(self.output, job.name, run.number)}"
        logger.info("%s", printable(message))

    def begin(self, job: Job, run: Run) -> StartedRun | None:
        """Start the process of a run that is in the database; if that fails, record it and return None."""
        with suppress(OSError):  # failing to delete old logs is no reason to skip the crawl
            delete_old_logs(self.output, job.name, run.number - self.limits.keep_runs + 1)
        try:
            started = StartedRun(job, run, self.starter(job.name, run.number))
        except OSError as error:
            self.notices.send_once(job, self.jobs.end(run, 1, job.crawl))
            logger.error("%s", printable(f"{job.name}: run {run.number} cannot be started: {error}"))
            return None
        self.started.append(started)
        return started

    def run_until(self, wait: Callable[[float], bool]) -> None:
        """Repeat steps until `wait`, which is called between them, returns true. If the database is unreachable, a
        later step tries again.
        """
        last_error = ""
        while True:
            try:
                self.step()
                last_error = ""
            except DatabaseUnavailableError as error:
                self.reachable_since = None
                if str(error) != last_error:
                    last_error = str(error)
                    logger.warning("Waiting: %s", last_error)
            if wait(STEP_SECONDS):
                return

    def stop(self, hurry: Callable[[], bool] = lambda: False) -> int:
        """Cleanly stop the runs that this scheduler started or adopted; returns how many were killed.

        Started runs that do not end within `stop_seconds` are killed. As soon as `hurry` returns true, they are killed
        without waiting any longer.
        """
        until = time.monotonic() + self.limits.stop_seconds
        with suppress(StateError):  # without the database, the reason is not recorded, but started runs stop
            for started_run in self.started:
                self.jobs.stop(started_run.run.id, RunStatus.STOPPING)
            for run in self.adopted.values():
                self.jobs.stop(run.id, RunStatus.TOLD)
        for started_run in self.started:
            started_run.child.tell_to_stop()

        while self._check_runs() and time.monotonic() < until and not hurry():
            time.sleep(CHECK_SECONDS)
        still_running = [started_run for started_run in self.started if started_run.child.poll() is None]
        for started_run in still_running:
            logger.warning(
                "%s",
                printable(f"{started_run.job.name}: run {started_run.run.number} did not end in time and is killed"),
            )
            started_run.child.end()

        self._check_runs()
        for run in self.adopted.values():
            logger.warning(
                "%s",
                printable(f"process {run.pid} on {run.host} has not ended yet; the scheduler does not wait for it"),
            )
        return len(still_running)

    def _check_runs(self) -> bool:
        """Record the ends of runs; returns whether a started or adopted run is still running."""
        with suppress(StateError):
            self.reap()
            if self.adopted:
                self._forget_ended(self.jobs.all()[0])
        return bool(self.adopted) or any(started_run.child.poll() is None for started_run in self.started)

    def _is_dead(self, job: Job, run: Run, now: float) -> bool:
        """Whether a run that this scheduler did not start has no process any more.

        A process in this folder on this machine holds the job's lock. A process elsewhere, or one that is still
        starting, is known only by its heartbeats.
        """
        if RunPlace(run.place, run.host) == self.place and run.pid is not None:
            with suppress(OSError):  # the lock of another user's process cannot be tested
                return not is_held(lock_of(self.output, job.name))
        return now - run.beat > LEASE_SECONDS and now - (self.reachable_since or now) >= STEADY_SECONDS

    def _forget_ended(self, jobs: list[Job]) -> None:
        """Forget adopted runs that have ended, and log how they ended."""
        running_ids = {job.now.id for job in jobs if job.now is not None}
        job_of_ended_run = {job.last.id: job for job in jobs if job.last is not None}
        for run_id in set(self.adopted) - running_ids:
            del self.adopted[run_id]
            job = job_of_ended_run.get(run_id)  # None if the job was removed, or has run again
            if job is not None and job.last is not None:
                logger.info("%s", printable(f"{job.name}: run {job.last.number} has ended: {ended_words(job.last)}"))

    def _send_notices(self, jobs: list[Job], now: float) -> None:
        """Send the notices about runs of this folder that have ended since the first step. `send_once` skips those that
        were sent before.
        """
        if self.first_step_at is None:
            self.first_step_at = now
        for job in jobs:
            last = job.last
            if last is None or last.place != self.place.folder_id:
                continue
            if (last.ended_at or 0.0) >= self.first_step_at:
                self.notices.send_once(job, last)

    def _cron(self, job: Job) -> Cron | None:
        """The cron line of a job; None if it is wrong."""
        try:
            return read_cron(job.cron, job.timezone)
        except CronError as error:
            self._say_once(job.name, (job.cron, job.timezone), str(error))
            return None

    def _say_once(self, name: str, subject: object, message: str) -> None:
        """Log a message about a job unless its last message had the same subject."""
        if self.last_messages.get(name) != subject:
            self.last_messages[name] = subject
            logger.info("%s", printable(f"{name}: {message}"))


def scheduler_of(jobs: Jobs, settings: BaseSettings) -> JobScheduler:
    """A scheduler for the crawls with this output folder; raises an ArgumentError if a setting is wrong."""
    check_settings(settings)
    output = Path(settings["OUTPUT_DIR"])
    try:
        output.mkdir(parents=True, exist_ok=True)
        output_id = folder_id(output)
    except OSError as error:
        raise ArgumentError(
            "setting OUTPUT_DIR={path} cannot be written to ({why})", path=repr(str(output)), why=error.strerror
        ) from None
    place = RunPlace(folder_id=output_id, host=socket.gethostname())
    limits = SchedulerLimits(at_once=settings.getint("SCHEDULE_AT_ONCE"), notices=notice_settings(settings))
    return JobScheduler(jobs, place, output, starter(settings), limits)


def workers_of_a_job(settings: BaseSettings, processors: int) -> int:
    """The most workers of each job: all jobs that may run at once have together no more than there are processors.

    >>> [workers_of_a_job(BaseSettings({"SCHEDULE_AT_ONCE": jobs}), 16) for jobs in (1, 4, 5, 40)]
    [16, 4, 3, 1]
    """
    share = max(1, processors // settings.getint("SCHEDULE_AT_ONCE"))
    return min(share, settings.getint("AUTO_WORKERS_LIMIT") or share)


def starter(settings: BaseSettings) -> Callable[[str, int], RunProcess]:
    """A function that starts the process of a run."""
    output = Path(settings["OUTPUT_DIR"])
    scheduler_settings = {
        "OUTPUT_DIR": str(output),
        "STATE_URL": settings["STATE_URL"],
        "AUTO_WORKERS_LIMIT": str(workers_of_a_job(settings, cores())),
    }

    def start(name: str, number: int) -> RunProcess:
        command_line = ["-m", "crawler.contrib.schedule.job_process", name, str(number)]
        return RunProcess(command_line, scheduler_settings, log_of(output, name, number))

    return start
