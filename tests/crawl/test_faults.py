"""A crawl that is killed, stopped or starved, and resumed, stores every page exactly once."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random

import postgres
import pytest
from fault_injection import Gate, Left, Running, Web, database, faults, left_by, spun, sqlite_url, wait_for
from fork_server import Nursery, common
from sites import BY_SHARES, Answer
from sqlalchemy import create_engine, text

from crawler.store.heartbeats import expire_worker
from crawler.translation.message import counted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are not Windows'")

SIZE, PAUSE = 100, 0.03
# What may stand at the end of a file whose writer was killed: nothing, a line that was never committed, parts of one.
TAILS = [b"", b'{"url": "http://127.0.0.1/p/1", "text": "half', b'{"url": "http://127.0.0.1/", "text": ""}\n', bytes(9)]


@pytest.fixture(scope="module")
def start() -> Nursery:
    """What starts crawls in a process of their own."""
    return common()


@pytest.fixture
def chance() -> Random:
    """Another course of events in every run; the seed is shown when the test fails."""
    seed = time.time_ns()
    print(f"chance = Random({seed})")
    return Random(seed)


@pytest.fixture
def web() -> Iterator[Web]:
    with spun(SIZE, PAUSE) as web:
        yield web


def left_in(folder: Path) -> Left:
    return left_by(sqlite_url(folder), [folder / "output"])


def finish(start: Nursery, folder: Path, web: Web, **more: str) -> Running:
    """A crawl of the web in this folder, which has ended by itself."""
    web.pause = 0
    with Running(folder, {"seeds": web.url} | more, BY_SHARES, start) as crawl:
        assert crawl.wait() == 0, crawl.said
    return crawl


def test_killed_at_any_moment(start: Nursery, tmp_path: Path, web: Web, chance: Random) -> None:
    arguments = {"seeds": web.url, "images": "yes"}
    output = tmp_path / "output"

    def at_its_start(crawl: Running) -> None:
        crawl.until((output / ".folder_id").exists)
        time.sleep(chance.uniform(0, 0.15))

    def on_its_way(crawl: Running) -> None:
        before = web.asked_for()
        crawl.until(lambda: web.asked_for() > before)
        time.sleep(chance.uniform(0.05, 0.7))

    def as_it_stops(crawl: Running) -> None:
        on_its_way(crawl)
        crawl.send(signal.SIGTERM)
        time.sleep(chance.uniform(0, 0.15))

    def as_it_ends(crawl: Running) -> None:
        last = f"/late/{SIZE // 30 - 1}"
        crawl.until(lambda: web.count[last])
        time.sleep(chance.uniform(0, 0.5))

    moments = [at_its_start, on_its_way, as_it_stops, on_its_way, as_it_ends]
    for number, moment in enumerate(moments):
        with Running(tmp_path, arguments, BY_SHARES, start) as crawl:
            moment(crawl)
            crawl.kill()
            assert "Traceback" not in crawl.said
        for path in output.glob("*.jsonl"):
            with path.open("ab") as file:
                file.write(TAILS[number % len(TAILS)])
    finish(start, tmp_path, web, images="yes")
    left = left_in(tmp_path)
    assert faults(left, web.pages) == []
    assert len(left.images) == 5


@pytest.mark.long
def test_stopped_and_run_again_and_anew(start: Nursery, tmp_path: Path, web: Web) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        before = web.asked_for()
        with Running(tmp_path, {"seeds": web.url}, BY_SHARES, start) as crawl:
            assert crawl.until(lambda before=before: web.asked_for() > before + 30)
            crawl.send(number)
            assert crawl.wait(20) == 0
        assert "Stopped before the end." in crawl.said
    finish(start, tmp_path, web)
    assert faults(left_in(tmp_path), web.pages) == []
    # What was on its way when it was stopped had been let come: nothing was asked for twice.
    assert {path for path, times in web.count.items() if times > 1} == {"/robots.txt"}
    total, output = web.count.total(), tmp_path / "output" / "topic.jsonl"
    assert f"is finished: {len(web.pages)} pages, in output/topic.jsonl" in finish(start, tmp_path, web).said
    assert web.count.total() == total
    earlier = output.read_bytes()
    finish(start, tmp_path, web, fresh="yes")
    assert faults(left_in(tmp_path), web.pages) == []
    assert output.with_name("topic.previous.jsonl").read_bytes() == earlier
    assert web.count.total() > total + len(web.pages)


@pytest.mark.long
@pytest.mark.parametrize("most", [60])
def test_killed_with_max_pages(start: Nursery, tmp_path: Path, web: Web, chance: Random, most: int) -> None:
    for _ in range(3):
        before = web.asked_for()
        with Running(tmp_path, {"seeds": web.url, "max_pages": most}, BY_SHARES, start) as crawl:
            crawl.until(lambda before=before: web.asked_for() > before)
            time.sleep(chance.uniform(0.05, 0.5))
    finish(start, tmp_path, web, max_pages=str(most))
    left = left_in(tmp_path)
    assert faults(left, None) == []
    assert len(left.lines) == len(left.rows) == most


@pytest.mark.long
def test_many_workers(start: Nursery, tmp_path: Path, postgres_server: postgres.Server, chance: Random) -> None:
    """Two share a folder and one has its own; one starts late, two are killed, and one is stopped for good."""
    url = postgres_server.database()
    one, two = tmp_path / "one", tmp_path / "two"
    with ExitStack() as block:
        webs = [block.enter_context(spun(SIZE, PAUSE * 2, host=host)) for host in ("127.0.0.1", "127.0.0.2")]
        seeds = ",".join(web.url for web in webs)
        settings = BY_SHARES | {"STATE_URL": url, "ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}

        def add(folder: Path) -> Running:
            return block.enter_context(Running(folder, {"seeds": seeds}, settings, start))

        def asked_for() -> int:
            return sum(web.asked_for() for web in webs)

        workers = [add(one), add(two)]  # at the same moment, with an empty database
        wait_for(lambda: asked_for() > 20 or workers[0].process.poll() is not None)
        workers.append(add(one))
        for folder in (one, two):
            victim = workers.pop(next(n for n, worker in enumerate(workers) if worker.folder == folder))
            time.sleep(chance.uniform(0.05, 0.5))
            victim.kill()
            assert "Traceback" not in victim.said, victim.said
            workers.append(add(folder))
        before = asked_for()
        wait_for(lambda: asked_for() > before + 40 or workers[0].process.poll() is not None)
        stopped = workers.pop(0)
        stopped.send(signal.SIGTERM)
        assert stopped.wait(20) == 0, stopped.said
        ends: list[float] = []
        for worker in workers:
            assert worker.wait() == 0, worker.said
            assert "Traceback" not in worker.said, worker.said
            ends.append(time.monotonic())
        assert ends[-1] - ends[0] < 5
        pages = {page for web in webs for page in web.pages}
    assert faults(left_by(url, [one / "output", two / "output"]), pages) == []


def crawl_through(start: Nursery, folder: Path, state: str, happening: Callable[[Web], object]) -> list[str]:
    """What is wrong with a crawl that something happened to on its way."""
    with spun(SIZE, PAUSE) as web:
        with Running(folder, {"seeds": web.url}, BY_SHARES | {"STATE_URL": state}, start) as crawl:
            assert crawl.until(lambda: web.asked_for() > 20), crawl.said
            web.pause = 0.1  # so that it does not end before
            happening(web)
            web.pause = 0
            assert crawl.process.poll() is None, "it had ended before anything happened"
            assert crawl.wait() == 0, crawl.said
        assert "Traceback" not in crawl.said, crawl.said
        return faults(left_by(state, [folder / "output"]), web.pages)


def locked(start: Nursery, folder: Path) -> list[str]:
    """Another program locks SQLite's file, for longer than SQLite itself waits."""

    def lock(web: Web) -> None:
        with closing(sqlite3.connect(folder / "output" / "crawl.db", isolation_level=None, timeout=20)) as other:
            other.execute("BEGIN EXCLUSIVE")
            time.sleep(6)

    return crawl_through(start, folder, sqlite_url(folder), lock)


def file_too_large(start: Nursery, folder: Path) -> list[str]:
    """No file may grow beyond 600 kB, and when that is said, nothing is in the way any more."""
    impatient = BY_SHARES | {"DATABASE_RETRY_SECONDS": "1"}
    with spun(SIZE, 0, length=20) as web:
        with Running(folder, {"seeds": web.url}, impatient, partial(start, file_size=600_000)) as crawl:
            assert crawl.wait() == 1, crawl.said
        last = crawl.said[crawl.said.rindex("Spider closed") :]
        assert "Stopped: " in last
        assert str(Path("output", "topic.jsonl")) in last, last
        assert "Traceback" not in crawl.said, crawl.said
        with database(sqlite_url(folder)) as ask:
            ((kept,),) = ask("SELECT count(*) FROM page")
        assert f"\n{counted(kept, 'item')} in " in last, last
        finish(start, folder, web)
        return faults(left_in(folder), web.pages)


def full_disk(start: Nursery, folder: Path) -> list[str]:
    """The disk fills, and is then given room."""
    disk = folder / "output"
    disk.mkdir(parents=True)
    if sys.platform != "linux" or os.geteuid() != 0 or _mount("-t", "tmpfs", "-o", "size=1m", "none", str(disk)):
        pytest.skip("only root can make a small disk, and not everywhere")
    talkative = BY_SHARES | {"STALL_LIMIT": "16"}
    try:
        with spun(SIZE, 0, length=20) as web, Running(folder, {"seeds": web.url}, talkative, start) as crawl:
            assert crawl.until(lambda: "Waiting: " in crawl.said), crawl.said
            assert _mount("-o", "remount,size=30m", str(disk)) == 0
            assert crawl.wait() == 0, crawl.said
            assert "Traceback" not in crawl.said, crawl.said
            return faults(left_in(folder), web.pages)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _mount(*words: str) -> int:
    return (
        subprocess.run(["mount", *words], capture_output=True, check=False).returncode if shutil.which("mount") else 1
    )


# These mostly wait, so they do it while the other tests run.
MISFORTUNES: dict[str, Callable[[Nursery, Path], list[str]]] = {
    "locked": locked,
    "file too large": file_too_large,
    "full disk": full_disk,
}


@pytest.fixture(scope="module", autouse=True)
def misfortunes(start: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[list[str]]]]:
    folders = {name: tmp_path_factory.mktemp("misfortune") for name in MISFORTUNES}
    with ThreadPoolExecutor(len(MISFORTUNES)) as pool:
        yield {name: pool.submit(happens, start, folders[name]) for name, happens in MISFORTUNES.items()}


@pytest.mark.parametrize("name", MISFORTUNES)
def test_files_that_cannot_be_written(misfortunes: dict[str, Future[list[str]]], name: str) -> None:
    assert misfortunes[name].result(timeout=150) == []


@contextmanager
def away(before: Callable[[], None], after: Callable[[], None], seconds: float) -> Iterator[None]:
    before()
    try:
        time.sleep(seconds)
        yield
    finally:
        after()


@pytest.mark.long
def test_a_server_that_is_away(start: Nursery, tmp_path: Path, postgres_server: postgres.Server) -> None:
    """It answers nothing for a while, and later ends and comes back."""

    def happen(web: Web) -> None:
        with away(postgres_server.freeze, postgres_server.thaw, 1):
            asked = web.asked_for()
        wait_for(lambda: web.asked_for() > asked + 5)
        with away(postgres_server.stop, postgres_server.start, 1):
            pass

    assert crawl_through(start, tmp_path, postgres_server.database(), happen) == []


@pytest.mark.parametrize(("retry_seconds", "status"), [(60, 0), (0.5, 1)])
def test_a_server_that_is_away_when_the_crawl_starts(
    start: Nursery, tmp_path: Path, web: Web, postgres_server: postgres.Server, retry_seconds: float, status: int
) -> None:
    settings = BY_SHARES | {"STATE_URL": postgres_server.database(), "DATABASE_RETRY_SECONDS": str(retry_seconds)}
    web.pause = 0
    postgres_server.stop()
    try:
        with Running(tmp_path, {"seeds": web.url, "max_depth": "0"}, settings, start) as crawl:
            assert crawl.until(lambda: "cannot be opened: " in crawl.said), crawl.said
            if status:
                assert crawl.wait() == status, crawl.said
            postgres_server.start()
            assert crawl.wait() == status, crawl.said
        assert "Traceback" not in crawl.said
    finally:
        postgres_server.start()


def test_told_to_stop_as_soon_as_it_has_begun(start: Nursery, tmp_path: Path, web: Web) -> None:
    with Running(tmp_path, {"seeds": web.url}, BY_SHARES, start) as crawl:
        assert crawl.until(lambda: "Spider opened" in crawl.said)
        crawl.send(signal.SIGINT)
        assert crawl.wait(20) == 0, crawl.said
    assert "Traceback" not in crawl.said
    with database(sqlite_url(tmp_path)) as ask:
        assert ask("SELECT * FROM worker") == []


@pytest.mark.long
def test_told_to_stop_while_the_server_answers_nothing(
    start: Nursery, tmp_path: Path, web: Web, postgres_server: postgres.Server
) -> None:
    url = postgres_server.database()
    settings = BY_SHARES | {"STATE_URL": url, "DATABASE_RETRY_SECONDS": "1"}
    with Running(tmp_path, {"seeds": web.url}, settings, start) as crawl:
        assert crawl.until(lambda: web.asked_for() > 30)
        with away(postgres_server.freeze, postgres_server.thaw, 0.5):
            crawl.send(signal.SIGTERM)
            # Fifteen seconds of patience, and ten for each connection that nobody answers.
            assert crawl.wait(60) == 1, crawl.said
    assert "Stopped: " in crawl.said
    assert "Traceback" not in crawl.said
    web.pause = 0
    with Running(tmp_path, {"seeds": web.url}, settings, start) as crawl:
        assert crawl.wait() == 0, crawl.said
    assert faults(left_by(url, [tmp_path / "output"]), web.pages) == []


@pytest.mark.long
def test_what_the_server_said_is_lost(start: Nursery, tmp_path: Path, postgres_server: postgres.Server) -> None:
    """The connection breaks when a transaction is committed and the crawl does not know it yet; three times."""
    gate = Gate(postgres_server.port)
    url = postgres_server.database()

    def happen(web: Web) -> None:
        for number in range(3):
            gate.to_lose += 1
            wait_for(lambda number=number: gate.lost > number)
            asked = web.asked_for()
            wait_for(lambda asked=asked: web.asked_for() > asked)

    state = url.replace(f":{postgres_server.port}/", f":{gate.own_port}/")
    with closing(gate):
        assert crawl_through(start, tmp_path, state, happen) == []
    assert gate.lost == 3


@pytest.mark.long
def test_taken_for_dead(start: Nursery, tmp_path: Path, postgres_server: postgres.Server) -> None:
    """Others give up a worker that lives: what it holds is theirs, and what it brings then is not counted."""
    url = postgres_server.database()

    def happen(web: Web) -> None:
        slow = web.routes["/late/1"]
        assert isinstance(slow, str)
        web.routes["/late/1"] = lambda asked: time.sleep(0.6) or Answer(slow)
        wait_for(lambda: web.count["/late/1"])
        engine = create_engine(url)
        with database(url) as ask:
            ((alive,),) = ask("SELECT id FROM worker")
        with engine.connect() as other, other.begin():
            with engine.begin() as connection:
                expire_worker(connection, alive)
                # The worker learns of it, and is not lent anything until its page has come.
                other.execute(text("LOCK TABLE shared_example"))
            time.sleep(1.2)
        engine.dispose()

    assert crawl_through(start, tmp_path, url, happen) == []
