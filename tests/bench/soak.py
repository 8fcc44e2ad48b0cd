"""A week of three scheduled crawls of a small internet on loopback, through misfortunes; and a verdict on what is left.

`python tests/bench/soak.py [--days N] [--hosts N] [--pages N] [--kills SECONDS]` serves 201 hosts with articles of the
encyclopaedia of ../shared, each host with a habit (tests/support/internet_habits.py). Three jobs with different topics
run every two hours, every six hours and every day, in a scheduler, with two workers each and guests that come and go.

The wall clock of all of them is set forward whenever no crawl runs, to the moment when the next one is due. So a week
takes as long as its crawls do, and pauses, leases and timeouts are as long as ever. Meanwhile a worker is killed every
so many seconds, PostgreSQL crashes twice, a disk is full, clocks jump, and a machine is suspended.

The exit status is 1 if the logs of the servers and the database say that anything was wrong.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import numpy as np
import postgres
import recrawl
import wall_clock
from fault_injection import database
from internet import DAY, HOUR, Article, Internet, Span
from internet_crawls import Served, served
from internet_habits import HABITS
from internet_server import Hit
from internet_settings import DOWNLOAD_DELAY, RECRAWL_MOST
from internet_verdict import (
    Row,
    dashboard_wrong,
    fetches,
    lines_wrong,
    pages_wrong,
    pauses_wrong,
    promises_wrong,
    requests_wrong,
    runs_wrong,
    state_wrong,
)

WIKI = Path(os.environ.get("WINNOW_DATA", ROOT.parent / "shared" / "data")).parent / "tools" / "wikiweb.py"
TOPICS = ("Science.Biology.Birds", "Design_and_Technology.Railway_transport", "Music")
WORDS = ("birds and their nests", "railways and locomotives", "music and composers")
JOBS = {"birds": "0 */2 * * *", "railways": "30 */6 * * *", "music": "15 3 * * *"}
PERIODS = (2 * HOUR, 6 * HOUR, DAY)
DISK = "64m"
CALM = DAY / 4
"""How long nothing befalls the crawls at the end, so that each page is as it was sent last."""


def wiki(pages: int) -> list[list[Article]]:
    """So many articles for each part, those of its topic first."""
    spec = spec_from_file_location("wikiweb", WIKI)
    assert spec is not None
    assert spec.loader is not None
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    articles = tool.load()

    def name(title: str) -> str:
        return "".join(one if one.isascii() and one.isalnum() else "-" for one in title.lower())

    def article(one: Any) -> Article:
        texts = tuple(text for _, text in tool.figures_and_paragraphs(one["text"]))[:8]
        return Article(name(one["name"]), one["title"], texts, tuple(map(name, one["links"])))

    def is_about(one: Any, topic: str) -> bool:
        return any(f"{category}.".startswith(f"{topic}.") for category in one["categories"])

    long = {name(one["name"]): one for one in articles if len(one["text"]) > 1_000}
    parts: list[list[Article]] = []
    for topic in TOPICS:
        first = [key for key, one in long.items() if is_about(one, topic)][:pages]
        rest = [key for key, one in long.items() if not any(is_about(one, other) for other in TOPICS)]
        chosen = first + rest[: pages - len(first)]
        parts.append([article(long.pop(key)) for key in chosen])
    return parts


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
    """The scheduler and what befalls it."""

    def __init__(self, web: Served, clock: wall_clock.WallClock, server: postgres.Server, folder: Path) -> None:
        self.web, self.clock, self.server, self.folder = web, clock, server, folder
        self.database = server.database()
        self.chance = Random(1)
        self.wrong: list[str] = []
        self.calm_since = 0.0
        self.kills = self.jumps = 0
        self.kill_every, self.killed_at = 0.0, time.monotonic()
        self.memory: list[tuple[int, int]] = []
        """Kilobytes and open files of the scheduler."""

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
        given = self.web.arguments(part) | {"topic": WORDS[part], "name": list(JOBS)[part]}
        return [word for name, value in given.items() for word in ("-a", f"{name}={value}")]

    def begin(self) -> None:
        for part, (name, cron) in enumerate(JOBS.items()):
            self.command("schedule", "add", name, cron, "topic", *self.arguments(part), "-a", "workers=2")
        line = ["schedule", "run", "-s", f"STATE_URL={self.database}"]
        self.scheduler = self.start(line, self.folder / "jobs", self.folder / "scheduler.log")

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
        return [name for (name,) in self.ask("SELECT name FROM run JOIN job ON job.id = job_id WHERE ended_at IS NULL")]

    def step(self) -> None:
        """Wait a moment, or skip the time in which nothing happens."""
        if self.scheduler.poll() is not None:
            sys.exit(f"the scheduler ended:\n{(self.folder / 'scheduler.log').read_text()[-3000:]}")
        if not self.running():
            ((soonest,),) = self.ask("SELECT min(next_at) FROM job")
            if (rest := soonest - self.clock.now()) > 5:
                self.clock.ahead += rest
                self.jumps += 1
                self.memory.append(used_by(self.scheduler.pid))
        self.kill()
        time.sleep(0.3)

    def until(self, wall: float) -> None:
        """Go on to a moment."""
        while self.clock.now() < wall or self.running():
            self.step()

    def kill(self) -> None:
        """Kill a process of a run, if it is time and there is one."""
        found = [pid for pid in descendants(self.scheduler.pid) if pid != self.scheduler.pid]
        if found and self.kill_every and time.monotonic() - self.killed_at > self.kill_every:
            with suppress(ProcessLookupError):
                os.kill(self.chance.choice(found), signal.SIGKILL)
            self.kills += 1
            self.killed_at = time.monotonic()

    def wait_for_run(self) -> int:
        """Wait until a run has made some requests, and is still under way; the part that it crawls."""
        while True:
            count, names = len(self.web.server.log), self.running()
            time.sleep(0.5)
            if names and len(self.web.server.log) > count + 5:
                return list(JOBS).index(names[0])
            self.step()

    def tell(self, what: str) -> None:
        day = (self.clock.now() - self.web.web.span.since) / DAY
        print(f"day {day:.1f}: {what}", flush=True)


def descendants(pid: int) -> Iterator[int]:
    """A process and all that it started."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from descendants(int(child))


def used_by(pid: int) -> tuple[int, int]:
    """The kilobytes of memory and the open files of a process."""
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * 4, len(list(Path(f"/proc/{pid}/fd").iterdir()))


def crash_of_database(week: Week) -> None:
    week.wait_for_run()
    week.server.stop()
    time.sleep(3)
    week.server.start()


def guest(week: Week) -> None:
    """A worker of another machine joins a run, and leaves before its end."""
    worker = Worker(week, week.wait_for_run(), week.folder / "guest")
    worker.until_started()
    time.sleep(3)
    worker.process.send_signal(signal.SIGTERM)
    check(week, "a guest", worker)


def full_disk(week: Week) -> None:
    """There is no room for what the runs write, for a while."""
    if not (week.folder / "jobs").is_mount():
        week.tell("no disk could be made here, so none is full")
        return
    week.wait_for_run()
    ballast = week.folder / "jobs" / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4_096))
    time.sleep(15)
    ballast.unlink()


def clocks(week: Week) -> None:
    """The clock of a guest is a day ahead, then an hour behind; that of the database and all others jumps as well."""
    own = wall_clock.WallClock(week.folder / "own-clock", Path(week.clock.environment["LD_PRELOAD"]))
    own.ahead = week.clock.ahead + DAY
    worker = Worker(week, week.wait_for_run(), week.folder / "guest", **own.environment)
    worker.until_started()
    time.sleep(2)
    own.ahead = week.clock.ahead - HOUR
    time.sleep(3)
    week.clock.ahead += 600
    check(week, "a worker with a wrong clock", worker)


def suspended(week: Week) -> None:
    """A worker sleeps for longer than its lease, and wakes up."""
    week.wait_for_run()
    with suppress(ProcessLookupError, StopIteration):
        sleeper = next(pid for pid in descendants(week.scheduler.pid) if pid != week.scheduler.pid)
        os.kill(sleeper, signal.SIGSTOP)
        time.sleep(70)
        os.kill(sleeper, signal.SIGCONT)


def check(week: Week, what: str, worker: Worker) -> None:
    """Note what is wrong with how a worker ended."""
    said = worker.end()
    code = worker.process.returncode
    last = said.strip().splitlines()[-1][:150] if said.strip() else ""
    week.tell(f"{what} ended with {code}: {last}")
    if "Traceback" in said or code:
        week.wrong.append(f"{what} ended with {code}: {said[-1500:]}")


MISFORTUNES: Sequence[tuple[float, Callable[[Week], None]]] = (
    (0.05, guest),
    (0.15, crash_of_database),
    (0.25, full_disk),
    (0.35, clocks),
    (0.50, guest),
    (0.60, suspended),
    (0.75, crash_of_database),
    (0.85, guest),
)
"""What happens, and after which share of the time."""


def verdict(week: Week) -> list[str]:
    """All that is wrong, and figures on standard output."""
    web, log = week.web.web, week.web.server.log
    wrong = [*week.wrong, *requests_wrong(web, log), *pauses_wrong(web, log, DOWNLOAD_DELAY)]
    wrong += [*state_wrong(week.ask), *dashboard_wrong(week.folder / "jobs" / "output", week.database, week.ask)]
    for part, name in enumerate(JOBS):
        crawl = f"FROM page JOIN crawl ON crawl.id = page.crawl_id WHERE crawl.name = '{name}'"
        rows = [Row(*row) for row in week.ask(f"SELECT url, text {crawl}")]
        wrong += pages_wrong(web, log, rows, [part])
        wrong += lines_wrong(name, rows, week.folder.glob("*/output"))
        wrong += promises_wrong(web, log, part, RECRAWL_MOST + 2 * PERIODS[part])
    wrong += runs_wrong(web, log, week.ask, {name: part for part, name in enumerate(JOBS)}, week.calm_since)
    (size,), (pages,) = week.ask(
        "SELECT pg_database_size(current_database()) UNION ALL SELECT count(*) FROM page ORDER BY 1 DESC"
    )
    print(f"\n{pages:,} pages, {size / pages / 1000:.1f} kB of database a page; {len(log):,} requests")
    for part, name in enumerate(JOBS):
        print(f"{name:9} {freshness(web, log, part)}")
    first, last = week.memory[len(week.memory) // 5], week.memory[-1]
    print(f"scheduler: {first[0] / 1000:.0f} then {last[0] / 1000:.0f} MB, {first[1]} then {last[1]} files")
    if last[0] > 1.2 * first[0] or last[1] > first[1] + 2:
        wrong.append("the scheduler grew")
    return wrong


def freshness(web: Internet, log: Sequence[Hit], part: int) -> str:
    """How current the copies of a part were, beside the best that can be done with as many fetches."""
    found = {place: hits for place, hits in fetches(web, log, part).items() if place in web.changes}
    start, end = max(hits[0].wall for hits in found.values()), log[-1].wall
    changes = [np.array([one - start for one in web.changes[place] if start < one < end]) for place in found]
    rates = np.array([web.hosts[host].rate for host, _ in found])
    times = [np.array([0.0, *(hit.wall - start for hit in hits if hit.wall > start)]) for hits in found.values()]
    pages = recrawl.Pages(changes, rates, [None] * len(changes))
    ours = recrawl.score(pages, times, end - start)
    gaps = recrawl.best_intervals(rates, ours.fetches / (end - start))
    best = recrawl.score(pages, recrawl.at_intervals(gaps, end - start, 1), end - start)
    return f"{len(times)} pages, {ours.fetches} fetches, freshness {ours.freshness:.3f}, at best {best.freshness:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--days", type=float, default=7.0, help="how long, by the wall clock (7)")
    parser.add_argument("--hosts", type=int, default=201, help="how many (201)")
    parser.add_argument("--pages", type=int, default=8, help="articles of a host (8)")
    parser.add_argument("--kills", type=float, default=120.0, help="seconds between two kills (120)")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))  # by way of `finally`
    if why := postgres.missing() or wall_clock.missing():
        sys.exit(why)
    if not WIKI.exists():
        sys.exit(f"The encyclopaedia is not there: {WIKI} is looked for beside the project.")
    folder, began = Path(mkdtemp(prefix="soak-")), time.monotonic()
    folder.chmod(0o755)
    clock = wall_clock.WallClock(folder / "clock", wall_clock.library(folder))
    os.environ |= clock.environment  # of PostgreSQL; this process itself loads nothing
    now = time.time()
    web = Internet(wiki(asked.hosts * asked.pages // 3), asked.hosts, HABITS, Span(now, now + (asked.days + 2) * DAY))
    (folder / "jobs").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder / "jobs"], capture_output=True)
    with ExitStack() as block:
        week = Week(
            block.enter_context(served(web, folder, clock.now)), clock, block.enter_context(postgres.running()), folder
        )
        week.begin()
        week.kill_every = asked.kills
        try:
            for share, happen in MISFORTUNES:
                week.until(now + share * asked.days * DAY)
                week.tell(happen.__name__.replace("_", " "))
                happen(week)
            week.until(now + asked.days * DAY)
            week.tell("no more misfortunes")
            week.kill_every, week.calm_since = 0.0, week.clock.now()
            week.until(week.clock.now() + CALM)
            wrong = verdict(week)
            print(f"{week.kills} kills, {week.jumps} times skipped, {time.monotonic() - began:.0f} s; in {folder}")
        finally:
            week.scheduler.send_signal(signal.SIGTERM)
            week.scheduler.wait(60)
            subprocess.run(["umount", folder / "jobs"], capture_output=True)
    if wrong:
        sys.exit("\n".join([f"{len(wrong)} faults:", *wrong[:60]]))
    print("Every page is stored once in its latest text, and nothing else was wrong.")


if __name__ == "__main__":
    main()
