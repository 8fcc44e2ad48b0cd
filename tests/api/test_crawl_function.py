"""`from crawler import crawl`: in a script, in a running event loop, stopped, wrongly asked for, and failing."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from endless_site import BEES, Endless
from fork_server import environment
from sites import OPEN, Site, page, serving

from crawler import CrawlError, crawl
from crawler.outcomes import Code, Outcome

PATIENCE = 60.0
ROUTES = {
    "/": page(BEES, links={"/a": "Bees", "/aa": "Hives", "/b,c": "Wasps"}),
    "/a": page(f"{BEES} They dance on the comb."),
    "/aa": page(f"{BEES} A hive has a queen."),
    "/b,c": page("Wasps make paper of wood."),
}
READ = """
import logging, sys
from crawler import crawl
logging.basicConfig(level=logging.INFO)
for item in crawl(sys.argv[1], topic="honey bees", name="bees", settings={settings}): print(item["url"], flush=True)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.chdir(tmp_path)
    with serving(Site(ROUTES)) as served:
        yield served


@pytest.fixture
def endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.chdir(tmp_path)
    with serving(Endless({})) as served:
        yield served


@pytest.fixture
def reader(endless: Site) -> Iterator["subprocess.Popen[str]"]:
    """A script that reads the items of an endless crawl, and has read the first."""
    line = [sys.executable, "-c", READ.replace("{settings}", repr(OPEN)), endless.url]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, env=environment(), **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == f"{endless.url}\n"
        yield process
        process.kill()


def wait_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < until:
        time.sleep(0.05)
    assert is_so()


def is_quiet(site: Site) -> bool:
    """Whether nothing is asked of a site for a while."""
    asked = len(site.asked)
    time.sleep(0.5)
    return len(site.asked) == asked


def stored(name: str) -> list[str]:
    lines = Path("output", f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["url"] for line in lines]


@pytest.mark.long
def test_items_of_a_list_of_seeds_come_again_without_requests(site: Site) -> None:
    run = crawl([site.url], "honey bees", settings=OPEN, allow=["/a$", "/b, ?c$"], images=False, max_depth=1)
    items = list(run)
    assert sorted(item["url"].rpartition("/")[2] for item in items) == ["", "a", "b,c"]
    assert items[0]["text"] == BEES
    assert "3 items in output/honey-bees-" in run.wait()
    assert [item["url"] for item in items] == stored(run.path.stem)
    asked = len(site.asked)
    again = crawl([site.url], "honey bees", settings=OPEN, allow=["/a$", "/b, ?c$"], images=False, max_depth=1)
    assert list(again) == items
    assert len(site.asked) == asked
    assert Path("output", f"{run.path.stem}.images.jsonl").exists() is False


def test_it_runs_while_an_event_loop_does(site: Site) -> None:
    async def cell() -> list[str]:
        ticks = asyncio.create_task(asyncio.sleep(0))
        found = [item["url"] for item in crawl(site.url, max_pages=2, settings=OPEN)]
        await ticks
        return found

    found = asyncio.run(cell())
    assert (len(found), found[0]) == (2, site.url)


@pytest.mark.long
def test_a_slow_reader_does_not_hold_it_up(site: Site) -> None:
    run = crawl(site.url, name="bees", settings=OPEN)
    items = iter(run)
    first = next(items)["url"]
    assert "4 items in output/bees.jsonl" in run.wait()
    assert [first, *(item["url"] for item in items)] == stored("bees")


@pytest.mark.long
def test_leaving_the_loop_stops_it_and_the_same_call_goes_on(endless: Site) -> None:
    for _ in crawl(endless.url, name="bees", settings=OPEN):
        break
    assert is_quiet(endless)
    before, asked = stored("bees"), len(endless.asked)
    items = [item["url"] for item in crawl(endless.url, name="bees", settings=OPEN, max_pages=len(before) + 5)]
    assert items[: len(before)] == before
    assert len(items) == len(set(items)) == len(before) + 5
    assert all(endless.url[:-1] + one.path not in before for one in endless.asked[asked:])


def test_an_interrupt_stops_it_cleanly(reader: "subprocess.Popen[str]", endless: Site) -> None:
    for _ in range(3):  # as `timeout -s INT` does, and a terminal
        reader.send_signal(signal.SIGINT)
        time.sleep(0.02)
    _, said = reader.communicate(timeout=PATIENCE)
    assert reader.returncode == -signal.SIGINT
    assert "INFO:crawler.api.crawl_run:Stopped before the end." in said
    assert said.endswith("KeyboardInterrupt\n")
    assert is_quiet(endless)


@pytest.mark.long
def test_it_stops_when_its_reader_is_killed(reader: "subprocess.Popen[str]", endless: Site) -> None:
    reader.kill()
    reader.wait()
    wait_for(lambda: is_quiet(endless))
    items = stored("bees")
    again = crawl(endless.url, "honey bees", name="bees", settings=OPEN, max_pages=1)
    assert [item["url"] for item in again] == items


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"tpoic": "bees"}, "there is no argument 'tpoic'; the nearest is topic"),
        ({"max_pages": 0}, "max_pages='0' is wrong; allowed are whole numbers from 1 on"),
        ({"settings": {"DOWNLOAD_DELEY": 1}}, "there is no setting DOWNLOAD_DELEY; the nearest is DOWNLOAD_DELAY"),
    ],
)
def test_a_wrong_call_is_a_value_error(given: Mapping[str, object], sentence: str, tmp_path: Path) -> None:
    folder = tmp_path / "output"
    settings = {"OUTPUT_DIR": folder}
    with pytest.raises(ValueError, match="^" + sentence.replace("'", ".") + "$"):
        crawl("demo", **({"settings": settings} | dict(given)))  # type: ignore[arg-type]
    assert not folder.exists()


@pytest.mark.long
def test_a_crawl_that_fails_says_why(tmp_path: Path) -> None:
    run = crawl("http://127.0.0.1:9/", settings={"OUTPUT_DIR": tmp_path})
    with pytest.raises(CrawlError, match=f"http://127.0.0.1:9/: {Outcome(Code.NOT_PUBLIC).message}"):
        list(run)
