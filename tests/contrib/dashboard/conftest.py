"""A crawl that has been, a dashboard over it, and a browser to look at it with."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import dashboards
import missing
import pytest
import sites
from scrapy.settings import Settings
from sqlalchemy import Engine, insert

from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.store.crawl_tables import crawl

CRAWLED = sites.OPEN


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a crawl of the demo site that kept its answers; for tests that change nothing there.

    The processes of a run of tests share one crawl, and each has a copy of it.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / "crawled.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "crawled-once"
        if not folder.exists():
            begun = tmp_path_factory.mktemp("crawled")
            ended = sites.crawl(begun, {"seeds": "demo", "topic": "honey bees"}, CRAWLED)
            assert ended.status == 0, ended.err
            begun.rename(folder)
    return dashboards.copy(folder / "output", tmp_path_factory.mktemp("copy") / "output")


@pytest.fixture
def copied(crawled: Path, tmp_path: Path) -> Path:
    """The same for one test, which may change it."""
    return dashboards.copy(crawled, tmp_path / "copied" / "output")


@pytest.fixture(scope="session")
def dashboard(crawled: Path) -> Iterator[str]:
    """The address of a dashboard over the crawl, for tests that change nothing."""
    with dashboards.dashboard(crawled) as address:
        yield address


@pytest.fixture
def own_dashboard(copied: Path) -> Iterator[str]:
    """The address of a dashboard over the copy, for a test that marks, adds or removes."""
    with dashboards.dashboard(copied) as address:
        yield address


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    """A database with a crawl and no page."""
    with sqlite_engine.begin() as connection:
        connection.execute(insert(crawl).values(id=1, name="bees", seeds="[]", started_at=0.0))
    return sqlite_engine


@pytest.fixture
def desk(engine: Engine, tmp_path: Path) -> DashboardContext:
    """What a dashboard over this database goes by, with the settings that Winnow has."""
    settings = Settings()
    settings.setmodule("crawler.settings")
    return DashboardContext(engine.url, tmp_path, settings, AccessControl())


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, for the tests of a module: while it runs, nothing else of its thread can run an event loop."""
    missing.skip(browser.missing())
    with browser.browsing() as found:
        yield found


@pytest.fixture
def problems() -> list[str]:
    """What the browser complained of; a test for which that is right takes it from the list."""
    return []


@pytest.fixture
def how() -> dict[str, Any]:
    """What is special about the visitor, as Playwright's new_context() has it; for tests to give."""
    return {}


@pytest.fixture
def page(chromium: Any, dashboard: str, problems: list[str], how: dict[str, Any]) -> Iterator[Any]:
    """A visitor's page of the dashboard, with no problem at its end: `page.goto("/pages")`."""
    yield from _watched(chromium, dashboard, problems, how)


@pytest.fixture
def own_page(chromium: Any, own_dashboard: str, problems: list[str], how: dict[str, Any]) -> Iterator[Any]:
    """The same of the dashboard that the test may change."""
    yield from _watched(chromium, own_dashboard, problems, how)


def _watched(chromium: Any, address: str, problems: list[str], how: dict[str, Any]) -> Iterator[Any]:
    with browser.watched(chromium, address, problems, **how) as found:
        yield found
    assert problems == []
