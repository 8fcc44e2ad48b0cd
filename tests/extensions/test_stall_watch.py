"""A crawl says what it waits for, and gives up what never ends."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from sites import OPEN, Answer, Asked, Site, command, crawl, environment, page, serving

from crawler.extensions.stall_watch import StallWatch
from crawler.outcomes import Code, Outcome
from crawler.settings import ITEM_PIPELINES

HANGING = {"ITEM_PIPELINES": json.dumps(ITEM_PIPELINES | {"hanging_pipeline.HangingPipeline": 800})}
GIVEN_UP = str(Outcome(Code.NEVER_ENDED).message)
QUICK = OPEN | {"STALL_LIMIT": "2"}


def late(asked: Asked) -> Answer:
    time.sleep(1.5)
    return Answer(page("Late."))


@pytest.mark.long
def test_it_says_whose_answer_it_waits_for(tmp_path: Path) -> None:
    with serving(Site({"/": page("One.", links={"/late": "late"}), "/late": late})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, QUICK)
    name = site.url.split("/")[2]
    assert re.search(rf"{name} \(1 request\b", ended.err)
    assert len(ended.items()) == 2


@pytest.mark.long
def test_it_says_that_a_host_rests(tmp_path: Path) -> None:
    busy = {"/": page("One.", links={"/b": "b"})}
    with serving(Site(busy)) as site:
        site.routes["/b"] = lambda asked: (
            Answer(page("Two.")) if asked.times else Answer("", 429, headers={"Retry-After": "3"})
        )
        ended = crawl(tmp_path, {"seeds": site.url}, QUICK)
    assert "No progress for " in ended.err
    assert "a paused host" in ended.err
    assert len(ended.items()) == 2


def test_what_never_ends_is_given_up_and_counted(tmp_path: Path) -> None:
    routes = {"/": page("One.", links={"/hang": "h", "/b": "b"}), "/hang": page("Two."), "/b": page("Three.")}
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, QUICK | HANGING)
    assert ended.status == 0
    assert ended.counts() == {GIVEN_UP: 1}
    assert len(ended.items()) == 2


@pytest.mark.long
def test_a_seed_given_up_is_asked_for_again_at_the_next_start(tmp_path: Path) -> None:
    with serving(Site({"/hang": page("One.")})) as site:
        given = {"seeds": f"{site.url}hang"}
        first = crawl(tmp_path, given, QUICK | HANGING | {"STALL_LIMIT": "1"})
        assert (first.items(), first.counts()) == ([], {GIVEN_UP: 1})
        second = crawl(tmp_path, given, QUICK)
    assert (second.status, len(second.items())) == (0, 1)


def test_zero_gives_nothing_up(tmp_path: Path) -> None:
    with serving(Site({"/": late})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN | {"STALL_LIMIT": "0"})
    assert "No progress for" not in ended.err
    assert len(ended.items()) == 1


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped by Unix's signals")
def test_a_process_that_was_stopped_gives_up_nothing(tmp_path: Path) -> None:
    with serving(Site({"/": page("One.", links={"/late": "late"}), "/late": late})) as site:
        line = command({"seeds": site.url}, QUICK)
        with subprocess.Popen(line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True) as process:
            while "/late" not in site.paths():
                assert process.poll() is None
            process.send_signal(signal.SIGSTOP)
            time.sleep(2.5)
            process.send_signal(signal.SIGCONT)
            _, said = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Given up" not in said
    assert "Traceback" not in said
    assert (tmp_path / "output" / "topic.jsonl").read_bytes().count(b"\n") == 2


def test_a_paused_crawl_does_not_stall() -> None:
    for is_paused in (True, False):
        frontier = SimpleNamespace(ended=1, is_paused=is_paused)
        watch = StallWatch(frontier, str, int, 0.0)  # type: ignore[arg-type]
        watch.check()
        watch.progress_at = 0.0
        watch.logged_at = time.monotonic()
        watch.check()
        assert (watch.progress_at > 0.0) is is_paused


def test_when_something_is_said() -> None:
    rows = [
        (30.0, "", 30.0, 90.0, 90.0, True),
        (30.0, "", 29.9, 90.0, 90.0, False),
        (30.0, "", 90.0, 29.9, 90.0, False),
        (30.0, "locked", 90.0, 90.0, 10.0, True),
        (30.0, "locked", 90.0, 90.0, 9.9, False),
        (2.0, "locked", 1.0, 1.0, 2.0, True),
        (0.0, "", 30.0, 90.0, 90.0, True),
        (0.0, "", 29.9, 90.0, 90.0, False),
        (90.0, "", 30.0, 90.0, 90.0, True),
    ]
    for stall, trouble, since_moved, since_said, since_trouble, due in rows:
        watch = StallWatch(None, str, int, 20 * stall)
        watch.progress_at = 1_000 - since_moved
        watch.logged_at = 1_000 - since_said
        watch.trouble_logged_at = 1_000 - since_trouble
        assert watch.is_due(1_000.0, trouble) is due
