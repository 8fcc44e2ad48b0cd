"""`scrapy schedule`: what it says of jobs, and real schedulers with real crawls, ended and killed."""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import fork_server
import postgres
import pytest
from command_line import run_command
from sites import OPEN, Answer, Asked, Site, page, serving
from sqlalchemy import Engine, update
from sqlalchemy.engine import URL, make_url

from crawler.command_line import stop_signals
from crawler.contrib.schedule.job_store import Job, Jobs, find_job
from crawler.contrib.schedule.manage_jobs import stopping
from crawler.store.crawl_tables import job as job_table
from crawler.store.database import open_database

PATIENCE = 60.0


@dataclass
class Said:
    """What the command said, and its exit status."""

    status: int
    out: str
    err: str


class World:
    """A folder, a database, the command given there, and the schedulers that were started there."""

    def __init__(self, folder: Path, url: URL | None = None) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.settings = {"OUTPUT_DIR": str(folder / "output")}
        if url is not None:
            self.settings["STATE_URL"] = url.render_as_string(hide_password=False)
        self.url = url or URL.create("sqlite", database=str(folder / "output" / "crawl.db"))
        self.started: list[fork_server.Forked] = []

    def words(self, *words: str, **settings: str) -> list[str]:
        given = self.settings | settings
        return ["schedule", *words, *(word for name, value in given.items() for word in ("-s", f"{name}={value}"))]

    def say(self, capture: pytest.CaptureFixture[str], *words: str, **settings: str) -> Said:
        """What the command says, given here."""
        return Said(*run_command(capture, *self.words(*words, **settings)))

    def start(self, *words: str) -> fork_server.Forked:
        """The command in a process of its own, what it says in a file."""
        log = str(self.folder / f"said-{len(self.started)}")
        line = ["scrapy", *self.words(*words)]
        self.started.append(fork_server.common().start(line, self.folder, (log, log), fork_server.environment()))
        return self.started[-1]

    def said(self, number: int = 0) -> str:
        path = self.folder / f"said-{number}"
        return path.read_text() if path.exists() else ""

    @cached_property
    def engine(self) -> Engine:
        return open_database(self.url)

    def job(self, name: str = "bees") -> Job:
        return find_job(Jobs(self.engine).all()[0], name)

    def change(self, table: Any, **values: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(update(table).values(**values))

    def is_due(self) -> None:
        """Let every job be due since an hour."""
        self.change(job_table, next_at=time.time() - 3_600)

    def lines(self, name: str = "bees") -> int:
        path = self.folder / "output" / f"{name}.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def end(self) -> None:
        for process in self.started:
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            process.wait(PATIENCE)

    def close(self) -> None:
        self.end()
        self.engine.dispose()


def until(true: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Makes worlds that end with the test."""
    with ExitStack() as stack:
        yield lambda name, url=None: stack.enter_context(closing(World(tmp_path / name, url)))


@pytest.fixture
def world(made: Callable[..., World]) -> World:
    return made("here")


def slow(asked: Asked) -> Answer:
    time.sleep(0.05)
    path = asked.path.rstrip("/")
    return Answer(page("Slowly, as bees fly.", links={f"{path}/{n}": f"page {n}" for n in range(3)}))


class Endless(dict[str, Callable[[Asked], Answer]]):
    """Every path leads to three more."""

    def get(self, path: str, default: Any = None) -> Any:
        return default if path == "/robots.txt" else slow


@pytest.fixture(scope="module")
def endless() -> Iterator[Site]:
    site = Site({})
    site.routes = Endless()
    with serving(site):
        yield site


@pytest.fixture
def say(world: World, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    return lambda *words, **settings: world.say(capsys, *words, **settings)


ADD = ("add", "bees", "0 3 * * *", "topic", "-a", "seeds=demo")


def options(seeds: str) -> list[str]:
    """A crawl of a tester's own site."""
    return ["-a", f"seeds={seeds}", *(word for name, value in OPEN.items() for word in ("-s", f"{name}={value}"))]


WHEN = r"every day at 03:00, next in \d+ (?:h|min|s), [A-Z]\w+day \d+ [A-Z]\w+ \d{4} 03:00 Europe/Berlin"


def test_a_job_is_added_shown_paused_and_removed(world: World, say: Callable[..., Said]) -> None:
    assert str(world.folder) in say("list").out
    assert not (world.folder / "output").exists()
    said = say(*ADD, "-a", "topic=honey bees", "--timezone", "Europe/Berlin", DOWNLOAD_DELAY="0")
    assert (said.status, said.err) == (0, "")
    assert re.fullmatch(f"bees: {WHEN}\n", said.out)
    job = world.job()
    assert job.arguments == '{"seeds": "demo", "topic": "honey bees", "name": "bees"}'
    assert job.settings == '{"DOWNLOAD_DELAY": "0"}'
    command = "winnow crawl topic -a seeds=demo -a 'topic=honey bees' -a name=bees -s DOWNLOAD_DELAY=0"
    listed = say("list")
    assert re.fullmatch(f"bees: {WHEN}\n  crawl  {command}\n  last   .*\n", listed.out)
    assert re.fullmatch(f"bees: {WHEN}\n  .*\n", say("history", "bees").out)
    paused = say("pause", "bees").out
    assert re.fullmatch("bees: paused; .* 03:00 Europe/Berlin\n", paused)
    assert say("pause", "bees").out == paused
    assert say("list").out.startswith(paused)
    assert re.fullmatch(f"bees: {WHEN}\n", say("resume", "bees").out)
    assert "'bees'" in say("remove", "bees").out
    assert say("list").out.endswith(f" {world.folder / 'output' / 'crawl.db'}.\n")


@pytest.mark.parametrize(
    ("words", "settings", "said"),
    [
        (
            ["bees", "0 3 * *", "topic", "-a", "seeds=demo"],
            {},
            "cron line '0 3 * *' is wrong: it does not have five fields",
        ),
        (["bees", "0 25 * * *", "topic", "-a", "seeds=demo"], {}, "its hour is invalid"),
        (["bees", "@daily", "topik", "-a", "seeds=demo"], {}, "there is no spider 'topik'; there is topic"),
        (["bees", "@daily", "topic", "-a", "seeds=demo", "-a", "depth=1"], {}, "'depth'; the nearest is max_depth"),
        (["bees", "@daily", "topic", "-a", "seeds=demo", "-a", "max_pages=-1"], {}, "max_pages='-1' is wrong"),
        (["bees", "@daily", "topic", "-a", "seeds=missing.txt"], {}, "seeds='missing.txt' cannot be read"),
        (["bees", "@daily", "topic"], {}, "no seeds"),
        (["bees", "@daily", "topic", "-a", "seeds"], {}, "give arguments as -a NAME=VALUE"),
        (["bees", "@daily", "topic", "-a"], {}, "argument -a: expected one argument"),
        (["bees", "@daily", "topic", "-a", "seeds=demo", "--now"], {}, "unrecognized arguments: --now"),
        (["bees", "0", "3", "*", "*", "*", "topic"], {}, "unrecognized arguments: * * * topic"),
        (
            ["bees", "0 3 * * *", "topic", "bees"],
            {},
            'usage: winnow schedule add [-a NAME=VALUE] [--timezone ZONE] [--notify ADDRESS] NAME "CRON"',
        ),
        (["bees", "@daily"], {}, "the following arguments are required: topic"),
        (["b/ees", "@daily", "topic", "-a", "seeds=demo"], {}, "name='b/ees' cannot be a file name"),
        (["bees", "@daily", "topic", "-a", "seeds=demo", "--notify", "mailto:x"], {}, "a webhook is an address with"),
        (["bees", "@daily", "topic", "-a", "seeds=demo", "--timezone", "Mars"], {}, "time zone 'Mars' is not known"),
        (["bees", "@daily", "topic", "-a", "seeds=demo"], {"DOWNLOAD_DELAY": "x"}, "DOWNLOAD_DELAY='x' is wrong"),
        (["bees", "@daily", "topic", "-a", "seeds=demo"], {"MISSPELT": "x"}, "may not have the setting 'MISSPELT'"),
        (["bees", "@daily", "topic", "-a", "seeds=demo"], {"STATE_URL": "bees"}, "setting STATE_URL is wrong"),
        (["bees", "@daily", "topic", "-a", "seeds=demo"], {"IGNORED_PARAMETERS": "("}, "IGNORED_PARAMETERS is wrong"),
    ],
)
def test_what_is_wrong_is_refused_when_it_is_added(
    world: World, say: Callable[..., Said], words: list[str], settings: dict[str, str], said: str
) -> None:
    found = say("add", *words, **settings)
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith("schedule add: ")
    assert said in found.err
    assert found.err.count("\n") == 1
    assert not (world.folder / "output").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("remove", "wasps"), "there is no job 'wasps'; there are bees"),
        (("pause", "wasps"), "there is no job 'wasps'; there are bees"),
        (("resume", "wasps"), "there is no job 'wasps'; there are bees"),
        (("history", "wasps"), "there is no job 'wasps'; there are bees"),
        (("run-now", "wasps"), "there is no job 'wasps'; there are bees"),
        (("history",), "the following arguments are required: NAME; usage: winnow schedule history NAME"),
        (("remove", "bees", "wasps"), "unrecognized arguments: wasps; usage: winnow schedule remove NAME"),
        (("list", "bees"), "unrecognized arguments: bees"),
        (("run", "bees"), "unrecognized arguments: bees"),
        (ADD, "there is already a job 'bees'; winnow schedule remove bees removes it"),
        (
            ("add", "ants", "@daily", "topic", "-a", "seeds=demo", "-a", "name=bees"),
            "the crawl 'bees' already belongs to the",
        ),
    ],
)
def test_what_cannot_be_done_is_said(say: Callable[..., Said], words: tuple[str, ...], said: str) -> None:
    say(*ADD)
    found = say(*words)
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith(f"schedule {words[0]}: {said}")
    assert found.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("SCHEDULE_AT_ONCE", "0", False),
        ("SCHEDULE_AT_ONCE", "1", True),
        ("DATABASE_RETRY_SECONDS", "soon", False),
    ],
)
def test_settings_of_the_scheduler_are_checked(say: Callable[..., Said], name: str, value: str, right: bool) -> None:
    said = say("run-now", "bees", **{name: value})
    assert said.status == 2
    assert ("'bees'" if right else f"{name}='{value}'") in said.err


def test_files_are_found_from_any_folder(
    world: World, say: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.folder)
    Path("seeds.txt").write_text("http://a.example/")
    Path("list.txt").write_text("||ads.example^\n")
    assert say(*ADD[:-1], "seeds=seeds.txt", IMAGE_NOISE_LISTS="list.txt").status == 0
    job = world.job()
    assert json.loads(job.arguments)["seeds"] == str(world.folder / "seeds.txt")
    assert json.loads(job.settings) == {"IMAGE_NOISE_LISTS": str(world.folder / "list.txt")}


def test_what_stands_in_the_database_moves_no_cursor(world: World, say: Callable[..., Said]) -> None:
    say(*ADD)
    world.change(job_table, spider="\x1b[2J\nx", cron="\x1b[1m", next_at=float("inf"))
    said = say("list")
    assert said.status == 0
    assert "\x1b" not in said.out
    assert r"'\x1b[1m'" in said.out


def test_run_now_ends_with_the_crawls_status(world: World, endless: Site, say: Callable[..., Said]) -> None:
    with serving(Site({"/": page("Bees fly."), "/gone": Answer("", 404)})) as site:
        say("add", "bees", "0 3 * * *", "topic", *options(site.url))
        say("add", "wasps", "0 3 * * *", "topic", *options(f"{site.url}gone"))
        say("add", "ants", "0 3 * * *", "topic", *options(endless.url))
        say("pause", "bees")  # which says nothing of what is asked for by hand
        good, bad, killed = (world.start("run-now", name) for name in ("bees", "wasps", "ants"))
        run = until(lambda: (now := world.job("ants").now) and now.pid and now)
        os.kill(run.pid, signal.SIGKILL)
        assert (good.wait(PATIENCE), bad.wait(PATIENCE), killed.wait(PATIENCE)) == (0, 1, 128 + signal.SIGKILL)
    log = world.folder / "output" / "logs" / "bees" / "1.log"
    assert "1 page crawled in " in log.read_text()
    assert world.said(0) == log.read_text()
    assert "Every seed failed:" in world.said(1)
    job = world.job()
    assert (job.last.how, job.last.status, job.last.exit, job.last.pages, job.now) == ("now", "done", 0, 1, None)
    assert (world.job("wasps").last.status, world.job("wasps").last.exit) == ("failed", 1)
    said = say("history", "bees").out.splitlines()
    assert re.fullmatch(rf"  run 1, .* UTC, by hand, done, \d+ s, 1 page .*; {re.escape(str(log))}", said[1])
    assert re.search(r"\n  last   run 1, .*, failed \(.* 1\), \d+ s, 0 pages .*\n", say("list").out)


@pytest.mark.long
def test_a_missed_run_starts_at_once_and_a_killed_one_is_marked(
    world: World, endless: Site, say: Callable[..., Said]
) -> None:
    say("add", "bees", "0 3 * * *", "topic", *options(endless.url))
    world.is_due()
    scheduler = world.start("run")
    until(lambda: "The scheduler runs 1 job" in world.said())
    refused = say("run")
    assert (refused.status, f"'{world.folder / 'output'}'" in refused.err) == (2, True)
    run = until(lambda: (now := world.job().now) and now.pid and world.lines() and now)
    assert (run.number, run.how) == (1, "late")
    os.kill(run.pid, signal.SIGKILL)
    job = until(lambda: (job := world.job()).last and job)
    assert (job.last.status, job.last.exit, job.now) == ("failed", -signal.SIGKILL, None)
    before = world.lines()
    world.is_due()
    until(lambda: world.lines() > before + 3)
    assert re.search(r"\n  now    run 2, .*, late, running .* \d+ s \(process \d+ ", say("list").out)
    assert re.match("schedule remove: run 2 .*'bees'", say("remove", "bees").err)
    scheduler.send_signal(signal.SIGTERM)
    assert scheduler.wait(PATIENCE) == 0
    last = world.job().last
    assert (last.number, last.status, last.exit) == (2, "stopped", 0)
    assert last.pages > 3
    assert "Stopped before the end." in (world.folder / "output" / "logs" / "bees" / "2.log").read_text()
    assert (world.folder / "output" / "bees.jsonl").read_bytes().endswith(b"}\n")
    told = world.said()
    for words in ("bees: run 1 has started, due ", "run 1 has ended: failed (killed by signal 9)", "next in "):
        assert words in told
    assert re.search("bees: run 2 .*: stopped, ", told)


@pytest.mark.long
def test_after_kill_9_of_the_scheduler_its_crawl_is_found(
    world: World, endless: Site, say: Callable[..., Said]
) -> None:
    say("add", "bees", "0 3 * * *", "topic", *options(endless.url))
    world.is_due()
    other = world.start("run")
    until(lambda: (now := world.job().now) and now.pid and world.lines())
    other.send_signal(signal.SIGKILL)
    other.wait(PATIENCE)
    before, run = world.lines(), world.job().now
    world.is_due()
    scheduler = world.start("run")
    until(lambda: f"bees: run {run.number} is already running (process {run.pid} on " in world.said(1))
    until(lambda: world.job().now.passed == 1 and world.lines() > before)
    assert world.start("run-now", "bees").wait(PATIENCE) == 1
    assert re.fullmatch("schedule run-now: .*'bees'.*\n", world.said(2))
    scheduler.send_signal(signal.SIGTERM)
    assert scheduler.wait(PATIENCE) == 0
    job = world.job()
    assert (job.now, job.last.number, job.last.status, job.last.exit) == (None, run.number, "stopped", 0)


def test_after_kill_9_of_both_the_run_has_failed(world: World, endless: Site, say: Callable[..., Said]) -> None:
    say("add", "bees", "0 3 * * *", "topic", *options(endless.url))
    by_hand = world.start("run-now", "bees")
    for number in (1, 2):  # which is found by who runs it again by hand, and by a scheduler
        run = until(lambda: (now := world.job().now) and now.pid and now)
        assert run.number == number
        by_hand.send_signal(signal.SIGKILL)
        os.kill(run.pid, signal.SIGKILL)
        by_hand.wait(PATIENCE)
        by_hand = world.start(*(("run-now", "bees") if number == 1 else ("run",)))
        last = until(lambda: (last := world.job().last) and last.number == number and last)  # noqa: B023 - asked at once
        assert (last.status, last.exit) == ("failed", None)
    until(lambda: "bees: run 2 is dead: failed (killed, or its machine failed)" in world.said(2))


def test_a_signal_that_comes_twice_at_once_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 1_000.0
    monkeypatch.setattr(stop_signals, "monotonic", lambda: seconds)
    monkeypatch.setattr(stop_signals.OnceAMoment, "last", 0.0)
    before = signal.getsignal(signal.SIGTERM)
    with stopping() as stop:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert (stop.has_request.is_set(), stop.is_repeated) == (True, False)
        seconds += stop_signals.REPEAT_SECONDS
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_repeated
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.long
def test_ctrl_c_ends_what_runs_by_hand_cleanly(world: World, endless: Site, say: Callable[..., Said]) -> None:
    say("add", "bees", "0 3 * * *", "topic", *options(endless.url))
    by_hand = world.start("run-now", "bees")
    until(lambda: world.lines() > 2)
    by_hand.send_signal(signal.SIGINT)
    assert by_hand.wait(PATIENCE) == 0
    assert (world.job().last.status, world.job().last.exit) == ("stopped", 0)
    assert "Stopped before the end." in world.said()


@pytest.mark.long
def test_two_schedulers_at_one_postgresql_run_nothing_twice(
    made: Callable[..., World], postgres_server: postgres.Server, capsys: pytest.CaptureFixture[str]
) -> None:
    url = make_url(postgres_server.database())
    here, there = made("here", url), made("there", url)
    names = ("ants", "bees", "wasps")
    with serving(Site({"/": page("Bees fly.")})) as site:
        for name in names:
            here.say(capsys, "add", name, "0 3 * * *", "topic", *options(site.url))
        here.start("run")
        there.start("run")
        until(lambda: all("The scheduler runs 3 jobs" in world.said() for world in (here, there)))
        here.is_due()
        until(lambda: all(here.job(name).last for name in names))
        for world in (here, there):
            world.end()
            assert world.started[0].status == 0
    listed = here.say(capsys, "list").out
    assert len(re.findall(r"\n  last   run 1, .*, late, done, \d+ s, 1 page ", listed)) == 3
    histories = [world.say(capsys, "history", "bees").out for world in (here, there)]
    assert sorted("1.log" in said for said in histories) == [False, True]  # it ran in one of the folders
    assert [(here.job(name).runs, here.job(name).last.status) for name in names] == [(1, "done")] * 3
    started = [re.findall(r"(\w+): run (\d) has started", world.said()) for world in (here, there)]
    assert sorted(started[0] + started[1]) == [(name, number) for name in names for number in "1"]
    logs = [sorted((world.folder / "output").glob("logs/*/*.log")) for world in (here, there)]
    assert len(logs[0]) + len(logs[1]) == 3


def test_nothing_else_is_a_subcommand(say: Callable[..., Said]) -> None:
    said = say("sing")
    assert (said.status, said.out) == (2, "")
    assert re.fullmatch("schedule: .*'sing'.*add, list, history, pause, resume, remove, run, run-now\n", said.err)
