"""Jobs that a scheduler runs by a clock that is set forward to the next of them whenever none runs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import postgres
import wall_clock
from fault_injection import database
from internet import DAY, HOUR
from internet_counts import Run
from internet_crawls import Served
from process_tree import descendants
from resource_use import ResourceUse


class Job(NamedTuple):
    """A crawl of a part of the internet."""

    name: str
    cron: str
    period: float
    """Seconds between two runs."""
    topic: str


JOBS = (
    Job("birds", "0 */2 * * *", 2 * HOUR, "birds and their nests"),
    Job("railways", "30 */6 * * *", 6 * HOUR, "railways and locomotives"),
    Job("music", "15 3 * * *", DAY, "music and composers"),
)


UNDER_WAY = "SELECT name FROM run JOIN job ON job.id = job_id WHERE ended_at IS NULL"


class Worker:
    """A further worker of a crawl, on a machine of its own."""

    def __init__(self, week: "Week", part: int, folder: Path, *more: str, **environment: str) -> None:
        folder.mkdir(exist_ok=True)
        self.log = folder / f"log-{time.monotonic_ns()}"
        line = ["crawl", "topic", *week.arguments(part), "-s", f"STATE_URL={week.database}", *more]
        self.process = week.start(line, folder, self.log, **environment)

    def until_started(self) -> None:
        while self.process.poll() is None and b"Spider opened" not in self.log.read_bytes():
            time.sleep(0.1)

    def end(self) -> str:
        """Let it end; what it said."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(90)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        return self.log.read_text("utf-8", "replace")


class Week:
    """The scheduler, and the clock of all."""

    def __init__(self, web: Served, clock: wall_clock.WallClock, server: postgres.Server, folder: Path) -> None:
        self.web, self.clock, self.server, self.folder = web, clock, server, folder
        self.database = server.database()
        self.chance = Random(1)
        self.wrong: list[str] = []
        self.woken: list[float] = []
        """When workers that were suspended went on, by the steady clock."""
        self.kills = self.jumps = 0
        self.kill_every, self.killed_at = 0.0, time.monotonic()
        self.time_is_up = inf
        """When to stop waiting for a moment, by the steady clock."""
        self.use, self.looked_at = ResourceUse(), 0.0
        self.disturbed: list[tuple[float, float]] = []
        """From when to when something befell the crawls."""

    def start(self, line: Sequence[str], folder: Path, log: Path, **environment: str) -> subprocess.Popen[bytes]:
        with log.open("ab") as file:
            words = [sys.executable, "-m", "scrapy", *line]
            env = {**self.web.environment, **self.clock.environment, **environment}
            return subprocess.Popen(words, cwd=folder, env=env, stderr=file, stdout=file, start_new_session=True)

    def command(self, *words: str) -> None:
        log = self.folder / "commands"
        if self.start([*words, "-s", f"STATE_URL={self.database}"], self.folder / "jobs", log).wait(60):
            sys.exit(f"{words[:3]} failed:\n{log.read_text()[-2000:]}")

    def arguments(self, part: int) -> list[str]:
        given = self.web.arguments(part) | {"topic": JOBS[part].topic, "name": JOBS[part].name}
        return [word for name, value in given.items() for word in ("-a", f"{name}={value}")]

    def begin(self) -> None:
        for part, job in enumerate(JOBS):
            self.command("schedule", "add", job.name, job.cron, "topic", *self.arguments(part), "-a", "workers=2")
        line = ["schedule", "run", "-s", f"STATE_URL={self.database}"]
        self.scheduler = self.start(line, self.folder / "jobs", self.folder / "scheduler.log")

    def end(self) -> None:
        self.scheduler.send_signal(signal.SIGTERM)
        self.scheduler.wait(60)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        while True:
            try:
                with database(self.database) as ask:
                    return ask(query)
            except Exception as error:  # the server is starting again
                if "Operational" not in type(error).__name__:
                    raise
                time.sleep(0.2)

    def running(self) -> list[str]:
        return [name for (name,) in self.ask(UNDER_WAY)]

    def step(self, until: float = inf) -> None:
        """Wait a moment, or skip the time in which nothing happens, but none behind a moment."""
        if self.scheduler.poll() is not None:
            sys.exit(f"the scheduler ended:\n{(self.folder / 'scheduler.log').read_text()[-3000:]}")
        if time.monotonic() > self.looked_at + 2:
            self.use.note(self.scheduler.pid, self.day)
            self.looked_at = time.monotonic()
        # In one query: a run that starts between two of them would be passed over.
        ((soonest,),) = self.ask(f"SELECT min(next_at) FROM job WHERE NOT EXISTS ({UNDER_WAY})")
        if soonest is not None and (rest := min(soonest, until) - self.clock.now()) > 5:
            size = "SELECT pg_database_size(current_database()), (SELECT count(*) FROM page)"
            self.use.database[self.day] = self.ask(size)[0]
            self.clock.ahead += rest
            self.jumps += 1
        self.kill()
        time.sleep(0.3)

    @property
    def day(self) -> int:
        return int((self.clock.now() - self.web.web.span.since) / DAY)

    def until(self, wall: float) -> None:
        """Go on to a moment, or until the time is up."""
        while (self.clock.now() < wall and time.monotonic() < self.time_is_up) or self.running():
            self.step(wall)

    def kill(self) -> None:
        """Kill a process of a run, if it is time and there is one."""
        is_time = self.kill_every and time.monotonic() - self.killed_at > self.kill_every
        if is_time and (found := sorted(descendants(self.scheduler.pid))):
            with suppress(ProcessLookupError), self.disturbing():
                os.kill(self.chance.choice(found), signal.SIGKILL)
            self.kills += 1
            self.killed_at = time.monotonic()

    @contextmanager
    def disturbing(self) -> Iterator[None]:
        """Runs that are under way in this time are disturbed."""
        start = self.clock.now()
        yield
        self.disturbed.append((start, self.clock.now()))

    def is_calm(self, run: Run) -> bool:
        return not any(run.start <= end and start <= run.end for start, end in self.disturbed)

    def wait_for_run(self) -> int:
        """Wait until a run has made some requests, and is still under way; the part that it crawls."""
        while True:
            count, names = len(self.web.server.log), self.running()
            time.sleep(0.5)
            if names and len(self.web.server.log) >= count + 3:
                return [job.name for job in JOBS].index(names[0])
            self.step()

    def tell(self, what: str) -> None:
        day = (self.clock.now() - self.web.web.span.since) / DAY
        print(f"day {day:.4f}: {what}", flush=True)
