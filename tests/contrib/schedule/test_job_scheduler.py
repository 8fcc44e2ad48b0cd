"""What the scheduler starts, finds and ends: by a clock that is set, with real processes and a real database."""

import json
import logging
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.engine import URL

from crawler.contrib.schedule.job_definition import column_values
from crawler.contrib.schedule.job_process import RunProcess, folder_of, lock_of, log_of
from crawler.contrib.schedule.job_scheduler import LATE_SECONDS, STEADY_SECONDS, JobScheduler, SchedulerLimits
from crawler.contrib.schedule.job_store import (
    BY_HAND,
    ON_TIME,
    DueRun,
    Job,
    Jobs,
    RunPlace,
    RunStatus,
    find_job,
    history_of,
)
from crawler.contrib.schedule.run_notice import NoticeSettings
from crawler.errors import StateError
from crawler.processes.held_lock import is_held
from crawler.store import database
from crawler.store.crawl_tables import job as job_table
from crawler.store.crawl_tables import run as run_table
from crawler.store.database import open_database
from crawler.store.heartbeats import LEASE_SECONDS

HERE, THERE = RunPlace("here", "a.example"), RunPlace("there", "b.example")
DAY = 86_400.0
THREE = 3 * 3_600.0  # o'clock, when the job is due
LASTS = "import time; print('at work', flush=True); time.sleep(60)"
WAITS = (
    "import sys; from crawler.processes.child_process import ParentPipe; parent = ParentPipe(); parent.read_message(); "
    "print('at work', flush=True); parent.wait_for_stop(); "
)
CLEAN = f"{WAITS} sys.exit(0)"
UNCLEAN = f"{WAITS} sys.exit(1)"
PARENT = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {LASTS!r}]).pid, flush=True); {LASTS}"
HOLDS = (
    "import sys, time; from pathlib import Path; from crawler.processes.held_lock import take_lock; "
    "lock = take_lock(Path(sys.argv[1])); print('at work', flush=True); time.sleep(60)"
)


class World:
    """A scheduler, its jobs, the clock, and what processes do that it starts."""

    def __init__(self, url: URL, output: Path, limits: SchedulerLimits) -> None:
        self.now, self.does, self.output = THREE - 60.0, "", output
        self.jobs = Jobs(open_database(url), lambda connection: self.now)
        self.keeper = JobScheduler(self.jobs, HERE, output, self.start, limits)
        self.others: list[RunProcess] = []

    def start(self, name: str, number: int) -> RunProcess:
        return RunProcess(["-c", self.does], {"told": name}, log_of(self.output, name, number))

    def add(self, name: str = "bees", **changes: Any) -> None:
        values = {"cron": "0 3 * * *", "timezone": "UTC", "spider": "topic", "crawl": name, "next_at": THREE}
        self.jobs.add(name, lambda now: values | column_values({}, {}) | changes)

    def job(self, name: str = "bees") -> Job:
        return find_job(self.jobs.all()[0], name)

    def step(self, now: float) -> Job:
        self.now = now
        self.keeper.step()
        return self.job()

    def until_ended(self, now: float) -> Job:
        """The job when its run has ended."""
        until(lambda: all(one.child.poll() is not None for one in self.keeper.started))
        return self.step(now)

    def set_run(self, **values: Any) -> None:
        with self.jobs.writing() as connection:
            connection.execute(update(run_table).values(**values))

    def other(self, name: str, place: RunPlace = HERE, arrived: bool = True, how: str = ON_TIME) -> RunProcess:
        """A process that another scheduler started, and that holds the lock of its job."""
        run = self.jobs.start(self.job(name), DueRun(how), place)
        line = ["-c", HOLDS, str(lock_of(self.output, name))]
        child = RunProcess(line, {}, log_of(self.output, name, run.number))
        self.others.append(child)
        until(lambda: "at work" in child.log.read_text())
        if arrived:
            self.jobs.record_process(name, run.number, child.popen.pid)
        return child


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def url(tmp_path: Path) -> URL:
    return URL.create("sqlite", database=str(tmp_path / "crawl.db"))


@pytest.fixture
def make(url: URL, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Callable[..., World]]:
    caplog.set_level(logging.INFO)
    worlds = []

    def make(at_once: int = 4, keep_runs: int = 100, stop_seconds: float = 10.0, **more: Any) -> World:
        limits = SchedulerLimits(at_once, keep_runs=keep_runs, stop_seconds=stop_seconds, **more)
        worlds.append(World(url, tmp_path / "output", limits))
        return worlds[-1]

    yield make
    for world in worlds:
        for child in [*(one.child for one in world.keeper.started), *world.others]:
            child.kill()
            child.wait()
        world.jobs.engine.dispose()


@pytest.fixture
def world(make: Callable[..., World]) -> World:
    return make()


def test_what_is_due_starts_once(world: World) -> None:
    world.does = (
        "import sys; from crawler.processes.child_process import ParentPipe; "
        "print(ParentPipe().read_message().decode(), flush=True); print('oh', file=sys.stderr)"
    )
    world.add()
    assert world.step(THREE - 0.001).now is None
    job = world.step(THREE)
    assert (job.now.number, job.now.how, job.now.due, job.now.missed) == (1, "cron", THREE, 0)
    assert job.next_at == THREE + DAY
    job = world.until_ended(THREE + 5)
    assert (job.now, job.last.status, job.last.exit, job.last.ended_at) == (None, "done", 0, THREE + 5)
    assert log_of(world.output, "bees", 1).read_text() == '{"told": "bees"}\noh\n'
    assert world.step(THREE + DAY - 1).runs == 1
    assert world.step(THREE + DAY).now.number == 2


@pytest.mark.parametrize(
    ("now", "how", "missed", "next_at"),
    [
        (THREE + LATE_SECONDS, "cron", 0, THREE + DAY),
        (THREE + LATE_SECONDS + 1, "late", 0, THREE + DAY),
        (THREE + DAY - 1, "late", 0, THREE + DAY),
        (THREE + DAY, "late", 1, THREE + 2 * DAY),
        (THREE + 9.5 * DAY, "late", 9, THREE + 10 * DAY),
    ],
)
def test_of_times_that_were_missed_one_is_made_up_for(
    world: World, now: float, how: str, missed: int, next_at: float
) -> None:
    world.add()
    job = world.step(now)
    assert (job.now.how, job.now.due, job.now.missed, job.next_at) == (how, THREE, missed, next_at)
    assert world.until_ended(now + 0.5).runs == 1


def test_a_time_that_comes_while_it_runs_is_left_out(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.does = CLEAN
    world.add(cron="* * * * *")
    assert world.step(THREE).runs == 1
    assert world.step(THREE + 59.9).now.passed == 0
    job = world.step(THREE + 60)
    assert (job.now.number, job.now.passed, job.next_at) == (1, 1, THREE + 120)
    job = world.step(THREE + 200)
    assert (job.now.number, job.now.passed, job.next_at) == (1, 3, THREE + 240)
    world.keeper.started[0].child.kill()
    job = world.until_ended(THREE + 210)
    assert (job.runs, job.last.passed) == (1, 3)
    assert "3 times skipped meanwhile" in caplog.text
    assert world.step(THREE + 240).runs == 2


def test_no_more_run_at_once_than_may(make: Callable[..., World], caplog: pytest.LogCaptureFixture) -> None:
    world = make(2, 100, 10.0)
    world.does = LASTS
    for number, name in enumerate(("ants", "bees", "wasps")):
        world.add(name, next_at=THREE - number)
    for _ in range(3):
        world.step(THREE)
    assert [world.job(name).runs for name in ("ants", "bees", "wasps")] == [0, 1, 1]  # who was due first
    assert sum(line.startswith("ants: ") for line in caplog.messages) == 1
    world.keeper.started[0].child.kill()
    world.keeper.started[0].child.wait()
    world.step(THREE + 1)
    assert world.job("ants").now.due == THREE


def test_whoever_sees_the_end_of_a_run_tells_of_it_once(
    make: Callable[..., World], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "told"
    copies = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read() + chr(10))"
    world = make(notices=NoticeSettings((sys.executable, "-c", copies, str(file))))

    def told() -> list[tuple[str, int, int | None]]:
        found = [json.loads(line) for line in file.read_text().splitlines()]
        return [(one["event"], one["run"], one["exit"]) for one in found]

    world.add(notify="http://127.0.0.1:1/")
    world.step(THREE)
    world.until_ended(THREE + 5)
    world.keeper.notices.wait()
    assert told() == [("ended", 1, 0)]
    assert world.job().last.notice == "private"
    assert "bees: run 1: " in caplog.text
    child = world.other("bees", how=BY_HAND)  # of a dashboard that died
    child.kill()
    child.wait()
    for now in (THREE + 10, THREE + 11):
        world.step(now)
        world.keeper.notices.wait()
    assert told()[1:] == [("failed", 2, None)]
    run = world.jobs.start(world.job(), DueRun(BY_HAND), HERE)
    world.jobs.end(run, 3, "bees")  # as its process does
    for now in (THREE + 20, THREE + 21):
        world.step(now)
        world.keeper.notices.wait()
    assert told()[2:] == [("failed", 3, 3)]
    run = world.jobs.start(world.job(), DueRun(BY_HAND), THERE)
    world.jobs.end(run, 0, "bees")  # another folder's
    world.step(THREE + 30)
    assert world.job().last.notice is None
    assert len(told()) == 3


def test_what_is_paused_waits(world: World) -> None:
    world.add()
    world.jobs.pause("bees")
    assert world.step(THREE + DAY).runs == 0


@pytest.mark.parametrize(
    ("does", "status", "number"),
    [("", "done", 0), ("raise SystemExit(1)", "failed", 1), ("import os; os.kill(os.getpid(), 9)", "failed", -9)],
)
def test_how_it_ended_is_written_down(
    world: World, caplog: pytest.LogCaptureFixture, does: str, status: str, number: int
) -> None:
    world.does = does
    world.add()
    world.step(THREE)
    job = world.until_ended(THREE + 1)
    assert (job.last.status, job.last.exit) == (status, number)
    assert re.search(f"bees: run 1 .*: {status}", caplog.text)
    assert "bees: next in 23 h, Friday 2 January 1970 03:00 UTC" in caplog.text


def test_one_that_another_scheduler_started_goes_on(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.add()
    child = world.other("bees")
    for second in range(3):
        assert world.step(THREE + DAY * second).now.number == 1  # its lock says more than its silence
    assert re.search(rf"bees: run 1 .*\(process {child.popen.pid} on a\.example\)", caplog.text)
    world.jobs.end(world.job().now, 0, "bees")  # as the process itself does
    world.step(THREE + DAY * 3)
    assert not any("dead" in line for line in caplog.messages)
    assert len(re.findall("bees: run 1 .*: done", caplog.text)) == 1


def test_one_that_is_dead_has_failed(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.add()
    child = world.other("bees")
    assert world.step(THREE - 1).now is not None
    child.kill()
    child.wait()
    job = world.step(THREE - 0.5)
    assert (job.now, job.last.status, job.last.exit) == (None, "failed", None)
    assert re.search("bees: run 1 .*: failed", caplog.text)
    assert world.step(THREE).now.number == 2


@pytest.mark.parametrize(("place", "arrived"), [(THERE, True), (HERE, False), (RunPlace("here", "b.example"), True)])
def test_where_no_lock_can_be_tried_silence_tells(world: World, place: RunPlace, arrived: bool) -> None:
    world.add(next_at=None)
    world.other("bees", place, arrived).kill()
    began = world.now
    assert world.step(began + LEASE_SECONDS).now is not None
    assert world.step(began + LEASE_SECONDS + 1).now is not None  # this scheduler has only just come
    assert world.step(began + LEASE_SECONDS + STEADY_SECONDS - 1).now is not None
    world.set_run(beat=began + LEASE_SECONDS)
    assert world.step(began + 2 * LEASE_SECONDS).now is not None
    assert world.step(began + 2 * LEASE_SECONDS + 1).last.status == "failed"


def test_ones_found_count_among_those_at_once(make: Callable[..., World]) -> None:
    world = make(1, 100, 10.0)
    world.add()
    world.add("wasps", next_at=None)
    child = world.other("wasps")
    assert world.step(THREE).now is None
    child.kill()
    child.wait()
    assert world.step(THREE + 1).now.number == 1


def test_what_cannot_be_started_has_failed(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.add()
    world.add("wasps")
    folder_of(world.output, "bees").parent.mkdir(parents=True)
    folder_of(world.output, "bees").write_text("not a folder")
    job = world.step(THREE)
    assert (job.now, job.last.status, job.next_at) == (None, "failed", THREE + DAY)
    assert any(line.startswith("bees: run 1 ") for line in caplog.messages)
    assert world.job("wasps").runs == 1


@pytest.mark.parametrize(
    ("does", "status", "number", "killed"),
    [
        (CLEAN, "stopped", 0, 0),
        (LASTS, "stopped", -signal.SIGKILL, 1),
        (UNCLEAN, "failed", 1, 0),
    ],
)
def test_when_it_ends_its_children_do(
    make: Callable[..., World], does: str, status: str, number: int, killed: int
) -> None:
    world = make(4, 100, 1.0)
    world.does = does
    world.add()
    world.step(THREE)
    until(lambda: "at work" in log_of(world.output, "bees", 1).read_text())
    assert world.keeper.stop() == killed
    last = world.job().last
    assert (last.status, last.exit) == (status, number)


def test_in_a_hurry_nothing_is_waited_for(world: World) -> None:
    world.does = PARENT
    world.add()
    world.step(THREE)
    log = log_of(world.output, "bees", 1)
    until(lambda: log.read_text().count("at work") == 2)
    began = time.monotonic()
    assert world.keeper.stop(lambda: True) == 1
    assert time.monotonic() - began < 5
    grandchild = Path("/proc", log.read_text().split()[0])
    until(lambda: not grandchild.exists() or ") Z " in grandchild.joinpath("stat").read_text())


def test_ones_found_are_told_to_stop_and_not_killed(
    make: Callable[..., World], caplog: pytest.LogCaptureFixture
) -> None:
    world = make(4, 100, 0.3)
    world.add()
    child = world.other("bees")
    world.step(THREE - 1)
    assert world.keeper.stop() == 0
    run = world.job().now
    assert run.status == RunStatus.TOLD
    assert not world.jobs.beat(run.id)
    assert child.poll() is None
    assert is_held(lock_of(world.output, "bees"))
    assert f"process {child.popen.pid} on a.example " in caplog.text


def test_ones_started_by_hand_are_left_to_who_did_so(make: Callable[..., World]) -> None:
    world = make(1, 100, 10.0)
    world.add()
    world.add("wasps", next_at=None)
    child = world.other("wasps", how=BY_HAND)
    assert world.step(THREE).now.number == 1  # they do not count among those at once
    world.keeper.stop()
    assert (world.job("wasps").now.status, child.poll()) == ("running", None)
    child.kill()
    child.wait()
    world.step(THREE + 1)
    assert world.job("wasps").last.status == "failed"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cron": "nonsense"}, "cron line 'nonsense' is wrong"),
        ({"timezone": "Mars\x1b[2J"}, r"time zone 'Mars\x1b[2J' is not known"),
    ],
)
def test_what_is_wrong_in_the_database_costs_its_own_job_alone(
    world: World, caplog: pytest.LogCaptureFixture, changes: dict[str, Any], said: str
) -> None:
    world.add()
    world.add("wasps")
    with world.jobs.writing() as connection:
        connection.execute(update(job_table).where(job_table.c.name == "bees").values(**changes))
    for _ in range(3):
        world.now = THREE
        world.keeper.step()
    assert world.job("bees").runs == 0
    assert world.job("wasps").runs == 1
    assert caplog.text.count(said) == 1


def test_no_more_logs_are_kept_than_runs(make: Callable[..., World]) -> None:
    world = make(4, 2, 10.0)
    world.add(cron="* * * * *")
    folder = folder_of(world.output, "bees")
    folder.mkdir(parents=True)
    (folder / "notes.log").write_text("mine")
    for minute in range(4):
        world.step(THREE + 60 * minute)
        world.until_ended(THREE + 60 * minute + 1)
    with world.jobs.reading() as connection:
        assert [run.number for run in history_of(connection, "bees")[1]] == [4, 3]
    assert sorted(path.name for path in folder.glob("*.log")) == ["3.log", "4.log", "notes.log"]


def test_a_database_that_is_away_is_waited_for(
    url: URL, make: Callable[..., World], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.05)
    world = make()
    world.add()
    world.now = THREE
    other = sqlite3.connect(str(url.database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waits = iter([False, False, False, True])

    def wait(seconds: float) -> bool:
        if caplog.text.count("Waiting: ") and other.in_transaction:
            assert world.job().runs == 0
            other.execute("ROLLBACK")
        return next(waits)

    world.keeper.run_until(wait)
    assert world.job().runs == 1
    assert caplog.text.count("Waiting: the database ") == 1
    other.close()


def test_without_its_database_it_ends(url: URL, world: World) -> None:
    world.add()
    Path(str(url.database)).unlink()
    with pytest.raises(StateError, match=r"was deleted$"):
        world.keeper.run_until(lambda seconds: False)
    assert world.keeper.stop() == 0
