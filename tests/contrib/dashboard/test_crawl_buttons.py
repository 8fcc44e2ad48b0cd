"""Crawls that run on, paused, resumed and stopped from the dashboard, and crawls whose seeds fail."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fork_server
import pytest
from dashboard_client import Answer, Request, answer
from endless_site import Endless
from fork_server import PATIENCE
from scrapy.settings import Settings
from sites import OPEN, Site, command, crawl, page, serving
from sites import Answer as Served
from sqlalchemy import Engine, insert
from sqlalchemy.engine import make_url

from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.store.crawl_tables import crawl as crawls


class Visitor:
    """A visitor of a dashboard over the output of one crawl."""

    def __init__(self, output: Path, url: str) -> None:
        settings = Settings()
        settings.setmodule("crawler.settings", priority="project")
        settings.setdict({"OUTPUT_DIR": str(output), "STATE_URL": url}, priority="cmdline")
        self.context = DashboardContext(make_url(url), output, settings, AccessControl())

    def post(self, path: str, **form: str) -> Answer:
        sent = {"token": self.context.access.token} | form
        return answer(self.context, Request("POST", path, {}, sent, {"host": "localhost"}))

    def get(self, path: str) -> str:
        return answer(self.context, Request("GET", path, {}, {}, {"host": "localhost"})).body.decode()

    def json(self, path: str) -> Any:
        return json.loads(self.get(path))

    @property
    def status(self) -> str:
        found: str = self.json("/api/crawls")["crawls"][0]["status"]
        return found


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def where(found: Answer) -> str:
    assert found.status == 303, found.body.decode()[:2_000]
    return dict(found.headers)["Location"]


def is_quiet(site: Site) -> bool:
    """Whether nothing is asked of a site for a while."""
    asked = len(site.asked)
    time.sleep(0.6)
    return len(site.asked) == asked


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        found: str = request.getfixturevalue("postgres_server").database()
        return found
    return f"sqlite:///{tmp_path / 'output' / 'crawl.db'}"


@pytest.fixture
def endless() -> Iterator[Site]:
    with serving(Endless({})) as site:
        yield site


def test_a_crawl_is_paused_resumed_and_stopped(database: str, endless: Site, tmp_path: Path) -> None:
    settings = OPEN | {"STATE_URL": database}
    line = command({"seeds": endless.url, "images": "no"}, settings)
    log = tmp_path / "log"
    process = fork_server.common()(line, tmp_path, log)
    try:
        until(lambda: len(endless.asked) > 20)
        visitor = Visitor(tmp_path / "output", database)
        assert visitor.status == "running"
        assert where(visitor.post("/crawls/1/pause")) == "/crawls/1?said=pausing"
        assert visitor.status == "paused"
        until(lambda: is_quiet(endless))
        assert 'id="resume"' in visitor.get("/crawls/1")
        assert where(visitor.post("/crawls/1/resume")) == "/crawls/1?said=resumed"
        asked = len(endless.asked)
        until(lambda: len(endless.asked) > asked + 20)
        assert where(visitor.post("/crawls/1/stop")) == "/crawls/1?said=stopping"
        assert where(visitor.post("/crawls/1/pause")) == "/crawls/1?said=idle"
        assert process.wait(PATIENCE) == 0
    finally:
        process.send_signal(signal.SIGKILL)
    said = log.read_text("utf-8")
    assert "Paused on the dashboard" in said
    assert "Stopped on the dashboard." in said
    assert visitor.status == "stopped"
    assert where(visitor.post("/crawls/1/stop")) == "/crawls/1?said=idle"
    stored = len((tmp_path / "output" / "topic.jsonl").read_text("utf-8").splitlines())
    again = crawl(tmp_path, {"seeds": endless.url, "images": "no", "max_pages": stored + 3}, settings)
    assert len({item["url"] for item in again.items()}) == len(again.items()) == stored + 3


def test_a_change_needs_the_token(tmp_path: Path, sqlite_engine: Engine) -> None:
    with sqlite_engine.begin() as connection:
        connection.execute(insert(crawls).values(id=1, name="bees", seeds="[]", started_at=0.0))
    visitor = Visitor(tmp_path, str(sqlite_engine.url))
    assert visitor.post("/crawls/1/stop", token="").status == 403
    assert visitor.post("/crawls/2/stop").status == 404
    assert visitor.post("/crawls/1/remove").status in (404, 422)


SEEDS = {
    "/": page("All about bees, their hives and their honey."),
    "/gone": Served("gone", 404),
    "/list": page("", head="<meta name=robots content=noindex>"),
}


@pytest.mark.parametrize(
    ("seeds", "status", "failed"),
    [
        (("gone", "away"), "failed", {"gone": "404 Not Found", "away": "404 Not Found"}),
        (("list", "gone"), "finished", {"gone": "404 Not Found"}),
        (("",), "finished", {}),
    ],
)
def test_failed_seeds_are_named(seeds: tuple[str, ...], status: str, failed: dict[str, str], tmp_path: Path) -> None:
    with serving(Site(SEEDS)) as site:
        ended = crawl(tmp_path, {"seeds": ",".join(site.url + seed for seed in seeds), "images": "no"})
    visitor = Visitor(tmp_path / "output", f"sqlite:///{tmp_path / 'output' / 'crawl.db'}")
    assert (ended.status != 0, visitor.status) == (status == "failed", status)
    found = visitor.json("/api/crawls/1")
    assert found["failed_seed_count"] == len(failed)
    named = {one["url"].removeprefix(site.url): one["why"] for one in found["failed_seeds"]}
    assert named.keys() == failed.keys()
    for seed, why in failed.items():
        assert named[seed] == {"code": "http_status", "detail": why[:3]}
        assert why in visitor.get("/crawls/1")
        assert site.url + seed in ended.closing()
    if status == "failed":
        assert "contain no words" not in ended.closing()
    assert ("Every seed failed" in visitor.get("/crawls/1")) == (status == "failed")
