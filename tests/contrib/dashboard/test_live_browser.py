"""A crawl that is looked at while it runs, in a real browser: figures and charts change without a reload."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import browser
import dashboards
import fork_server
import pytest
from dashboard_client import VIEWS
from sites import OPEN, Site, command, serving

SLOWED = OPEN | {"DOWNLOAD_DELAY": "0.8", "RANDOMIZE_DOWNLOAD_DELAY": "False", "CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
pytestmark = pytest.mark.skipif("/crawls/{crawl}" not in VIEWS, reason="There is no view of a crawl yet.")
LOOKS, PAUSE = 200, 200.0
# The demo's site is asked without any pause, and read too soon.
PAGES = 200
BEES = "<title>Bees</title>" + "<p>Honey bees of hive {0} fly out for nectar and make honey of it at home.</p>" * 5
HIVES = Site({f"/{n or ''}": f'{BEES.format(n)}<a href="/{n + 1}">More honey bees</a>' for n in range(PAGES)})
DRAWN = "canvas => canvas.toDataURL()"


@pytest.fixture
def page(chromium: Any, tmp_path: Path, problems: list[str]) -> Iterator[Any]:
    """A visitor's page of a dashboard over a folder in which there was no crawl yet."""
    (tmp_path / "output").mkdir()
    with dashboards.dashboard(tmp_path / "output") as address, browser.watched(chromium, address, problems) as found:
        yield found
    assert problems == []


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    """Starts the crawl, which ends with the test."""
    begun = []

    def started() -> None:
        line = command({"seeds": HIVES.url, "topic": "honey bees", "images": "no"}, SLOWED)
        begun.append(fork_server.common()(line, tmp_path, tmp_path / "log"))

    with serving(HIVES):
        yield started
        for process in begun:
            process.send_signal(signal.SIGKILL)
            process.wait(fork_server.PATIENCE)


def until(page: Any, is_so: Callable[[], bool]) -> None:
    """Wait for something; the page's policy forbids the browser's own way, which reads code from a text."""
    for _ in range(LOOKS):
        if is_so():
            return
        page.wait_for_timeout(PAUSE)
    pytest.fail("It has not come to that.")


def pages_shown(page: Any) -> int:
    """How many pages the first crawl has, as the overview says."""
    return int(page.locator("#crawl-1 [data-label=Pages]").inner_text().replace(",", ""))


@pytest.mark.long
def test_a_crawl_comes_up_and_grows_before_the_visitors_eyes(page: Any, start: Any) -> None:
    page.goto("/")
    assert page.locator("#crawl-1").count() == 0
    page.evaluate("self.stayed = true")
    start()
    page.locator("#crawl-1").wait_for()
    for _ in range(2):
        before = pages_shown(page)
        until(page, lambda: pages_shown(page) > before)  # noqa: B023 - asked at once
    assert page.evaluate("self.stayed")


@pytest.mark.long
def test_charts_go_on_while_the_crawl_runs(page: Any, start: Any) -> None:
    start()
    page.goto("/")
    page.locator("#crawl-1").wait_for()
    page.goto("/crawls/1")
    page.evaluate("self.stayed = true")
    drawn = page.locator("figure.chart canvas").first
    drawn.wait_for()
    before = drawn.evaluate(DRAWN)
    until(page, lambda: drawn.evaluate(DRAWN) != before)
    assert page.evaluate("self.stayed")
