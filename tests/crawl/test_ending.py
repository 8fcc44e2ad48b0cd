"""How a crawl ends: by itself, wrongly started, stopped, killed; and what it says then."""

import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import refusal_of_crawl
from fork_server import common
from missing import need
from sites import OPEN, Answer, Asked, Site, command, crawl, environment, page, serving

from crawler.command_line.stop_signals import REPEAT_SECONDS
from crawler.command_line.terminal import INTERRUPTED

linux = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals are not Windows'")


WRONG: list[tuple[Mapping[str, str], Mapping[str, str], list[str]]] = [
    ({}, {}, ["no seeds", "demo"]),
    ({"seeds": "missing.txt"}, {}, ["'missing.txt'", "https://"]),
    ({"seeds": "ftp://example.com/"}, {}, ["'ftp://example.com/'", "https://"]),
    ({"seeds": "demo", "max_pages": "many"}, {}, ["max_pages='many'", "whole numbers"]),
    ({"seeds": "demo", "scope": "world"}, {}, ["scope='world'", "host, site, any"]),
    ({"seeds": "demo", "depth": "3"}, {}, ["'depth'", "max_depth"]),
    ({"seeds": "demo"}, {"DOWNLOAD_DELAY": "soon"}, ["DOWNLOAD_DELAY='soon'", "number"]),
    ({"seeds": "demo"}, {"ROBOTSTXT_OBEY": "maybe"}, ["ROBOTSTXT_OBEY='maybe'", "True or False"]),
    ({"seeds": "demo"}, {"LOG_LEVEL": "LOUD"}, ["LOG_LEVEL='LOUD'", "DEBUG"]),
    ({"seeds": "demo"}, {"EXTRACTOR": "magic"}, ["EXTRACTOR='magic'", "leaf-tags"]),
    ({"seeds": "demo"}, {"ALLOWED_PRIVATE_HOSTS": "10.0.0.0/99"}, ["'10.0.0.0/99'", "10.0.0.0/8"]),
    ({"seeds": "demo"}, {"OUTPUT_DIR": "file/output"}, ["'file/output'", "cannot be written"]),
]


def test_what_is_wrong_ends_with_one_line_and_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("not a folder")
    for arguments, settings, words in WRONG:
        refusal = refusal_of_crawl(capsys, arguments, settings)
        assert [word for word in words if word not in refusal] == [], refusal
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_when_every_seed_fails_it_says_why_and_exits_1(tmp_path: Path) -> None:
    seeds = {
        "gone": (Answer(status=404), "404 Not Found"),
        "pdf": (Answer(b"%PDF", content_type="application/pdf"), "not HTML: application/pdf"),
        "list": (Answer("<urlset></urlset>", content_type="text/xml"), "list without addresses"),
        "escapes": (Answer(b"x", content_type="\x1b]0;gone\x07/x"), "not HTML: "),
    }
    with serving(Site({f"/{name}": answer for name, (answer, _) in seeds.items()})) as site:
        ended = crawl(tmp_path, {"seeds": " ".join(site.url + name for name in seeds)})
    assert ended.status == 1
    for name, (_, why) in seeds.items():
        assert f"{site.url}{name}: {why}" in ended.closing()
    assert "\x1b" not in ended.err


def test_the_closing_lines_say_in_words_how_it_went(tmp_path: Path) -> None:
    links = {"/a": "a", "/b": "b", "/c": "c", "/x.pdf": "x"}
    with serving(Site({path: page("Text.", links=links) for path in ("/", "/a", "/b", "/c")})) as site:
        said = crawl(tmp_path, {"seeds": site.url, "max_pages": "2"}).closing()
    assert "2 pages crawled in " in said
    assert "not HTML: .pdf (1)" in said
    assert re.search("^2 addresses .* queued .*max_pages", said, re.MULTILINE)
    assert f"2 items in {Path('output', 'topic.jsonl')}." in said


def test_no_more_than_ten_reasons_are_named(tmp_path: Path) -> None:
    """A server may have another content type for each page: neither these lines nor the counts are to grow with it."""
    routes = {f"/{n}": Answer(b"x", content_type=f"odd/type-{n}") for n in range(103)}
    with serving(Site({"/": page("One.", links={"/gone": "gone"}), **routes})) as site:
        seeds = ",".join(site.url.rstrip("/") + path for path in ["/", *routes])  # links would be put off
        ended = crawl(tmp_path, {"seeds": seeds}, OPEN | {"STATS_DUMP": "True"})
    assert ended.status == 0  # one good seed is enough
    (left_out,) = [line for line in ended.closing().splitlines() if line.startswith("Left out: ")]
    assert left_out.endswith(" (1), other reasons (93).")
    assert left_out.count(": odd/type-") == 10
    assert ended.err.count("'skipped/not_html/odd/type-") == 100
    assert "\nFailed: 404 Not Found (1).\n" in ended.closing()


def test_a_crawl_with_pages_did_not_fail_when_another_seed_does(tmp_path: Path) -> None:
    with serving(Site({"/good": page("Good.")})) as site:
        assert crawl(tmp_path, {"seeds": f"{site.url}good"}).status == 0
        more = crawl(tmp_path, {"seeds": f"{site.url}good,{site.url}bad"})
    assert more.status == 0
    assert "Failed: 404 Not Found (1)." in more.closing()
    assert "Every seed failed" not in more.closing()


def slow(asked: Asked) -> Answer:
    time.sleep(0.05)
    return Answer(page("Slowly.", links={f"{asked.path.rstrip('/')}/{n}": f"page {n}" for n in range(3)}))


class Endless(dict[str, Callable[[Asked], Answer]]):
    """Every path leads to three more."""

    def get(self, path: str, default: Any = None) -> Any:
        return default if path == "/robots.txt" else slow


@pytest.fixture
def endless_site() -> Any:
    site = Site({})
    site.routes = Endless()
    with serving(site):
        yield site


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} never held {count} lines")


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_first_signal_ends_the_crawl_cleanly(tmp_path: Path, endless_site: Site, number: int) -> None:
    output, log = tmp_path / "output" / "topic.jsonl", tmp_path / "log"
    process = common()(command({"seeds": endless_site.url}, OPEN), tmp_path, log)
    wait_for_lines(output, 10)
    process.send_signal(number)
    assert process.wait(20) == 0
    said = log.read_text()
    assert "Stopped before the end." in said
    assert f"{output.read_bytes().count(10)} pages crawled" in said


@linux
def test_a_signal_that_comes_twice_at_once_ends_the_crawl_cleanly(tmp_path: Path, endless_site: Site) -> None:
    log = tmp_path / "log"
    process = common()(command({"seeds": endless_site.url}, OPEN), tmp_path, log)
    wait_for_lines(tmp_path / "output" / "topic.jsonl", 5)
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    assert process.wait(20) == 0
    assert re.search("^[0-9,]+ addresses .* queued", log.read_text(), re.MULTILINE)


@linux
def test_a_signal_before_the_first_page_is_an_interrupt(tmp_path: Path) -> None:
    """The database accepts a connection and says nothing."""
    need("psycopg")
    log = tmp_path / "log"
    with socket.create_server(("127.0.0.1", 0)) as database:
        database.settimeout(30.0)
        settings = OPEN | {"STATE_URL": f"postgresql+psycopg://127.0.0.1:{database.getsockname()[1]}/bees"}
        process = common()(command({"seeds": "http://a.example/"}, settings), tmp_path, log)
        connection, _ = database.accept()
        with connection:
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == INTERRUPTED
    assert log.read_text().count("\n") == 1


class Hanging(dict[str, Callable[[Asked], Answer]]):
    """The first page links to others, which never come."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()

    def get(self, path: str, default: Any = None) -> Any:
        return {"/robots.txt": default, "/": slow}.get(path, self.hang)

    def hang(self, asked: Asked) -> Answer:
        self.begun.set()
        self.ended.wait(60.0)
        return Answer("", 404)


@linux
def test_a_second_signal_after_a_moment_ends_the_crawl_at_once(tmp_path: Path) -> None:
    site = Site({})
    site.routes = hanging = Hanging()
    with serving(site):
        log = tmp_path / "log"
        process = common()(command({"seeds": site.url}, OPEN), tmp_path, log)
        assert hanging.begun.wait(30.0)
        process.send_signal(signal.SIGINT)
        time.sleep(REPEAT_SECONDS + 0.1)
        assert process.poll() is None  # it waits for the pages that were requested
        process.send_signal(signal.SIGINT)
        process.wait(20)
        hanging.ended.set()
    assert log.read_text().splitlines()[-1].startswith("Stopped")


@pytest.mark.long
@linux
def test_after_kill_9_every_line_is_whole(tmp_path: Path, endless_site: Site) -> None:
    output = tmp_path / "output" / "topic.jsonl"
    line = command({"seeds": endless_site.url}, OPEN)
    with subprocess.Popen(line, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as process:
        wait_for_lines(output, 25)
        process.kill()
    data = output.read_bytes()
    assert data.endswith(b"}\n")
    assert data.count(b"\n") >= 25


def sluggish(asked: Asked) -> Answer:
    time.sleep(0.3)
    return Answer(page("Very slowly."))


def test_in_a_pipe_progress_is_plain_log_lines(tmp_path: Path) -> None:
    with serving(Site({"/": slow, "/2": sluggish})) as site:  # the other two pages are missing
        said = crawl(tmp_path, {"seeds": site.url}, OPEN | {"LOGSTATS_INTERVAL": "0.1"}).err
    lines = [line for line in said.splitlines() if " done, " in line]
    assert lines
    assert all(words in lines[-1] for words in ("INFO: ", "queued", "pages/s"))
    figures = [match.groups() for line in lines if (match := re.search(r"(\d+) skipped, (\d+) failed", line))]
    assert {skipped for skipped, _ in figures} == {"0"}
    assert {failed for _, failed in figures} & {"1", "2"}
    assert "\x1b" not in said


@pytest.mark.long
@linux
def test_on_a_terminal_a_live_bar_does_not_tear_the_log(tmp_path: Path, endless_site: Site) -> None:
    ours, theirs = pty.openpty()
    line = command({"seeds": endless_site.url, "max_pages": "30"}, OPEN | {"LOG_COLOR": "False"}, "-L", "DEBUG")
    with subprocess.Popen(line, cwd=tmp_path, env=environment() | {"TERM": "xterm"}, stderr=theirs) as process:
        os.close(theirs)
        shown = read_all(ours, process)
    assert "pages done" in shown
    logged = [line for line in shown.replace("\x1b[2K", "\n").splitlines() if "DEBUG: Crawled (200)" in line]
    assert len(logged) >= 30
    assert all(line.startswith("20") and line.rstrip().endswith("(referer: None)") for line in logged)
    assert "30 items in" in shown[shown.rindex("\x1b") :]


def read_all(terminal: int, process: subprocess.Popen[bytes]) -> str:
    """Everything the process writes to its terminal."""
    data = b""
    while select.select([terminal], [], [], 30)[0]:
        try:
            data += os.read(terminal, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
    os.close(terminal)
    process.wait(timeout=10)
    return data.decode()
