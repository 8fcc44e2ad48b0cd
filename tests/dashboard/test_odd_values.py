"""Databases with values that no crawl writes: each address says so in a sentence, and the log says where."""

import logging
import re
import sqlite3
from http import HTTPStatus
from pathlib import Path

import postgres
import pytest
from scrapy.settings import Settings
from sqlalchemy import insert, select
from sqlalchemy.engine import make_url

from crawler.dashboard.desk import Desk
from crawler.dashboard.door import Door
from crawler.dashboard.request import ODD, Answer, Request
from crawler.dashboard.routes import API, VIEWS, answer
from crawler.state.database import open_database
from crawler.state.jobs import BY_HAND, Due, Jobs, Place, values_of
from crawler.state.labels import TEXT, Label, put_label
from crawler.state.odd import OddError
from crawler.state.report import reading
from crawler.state.schema import crawl, page, page_version

DEEP = '{"a":' * 5_000
ENDLESS = 9e999
JSON = ("crawl.seeds", "raw.headers", "focus.learned",
        "page.images",
        "job.arguments", "job.settings", "evidence.counts")  # fmt: skip


ALL = [re.sub(r"\{\w+\}", "1", one) for one in {**VIEWS, **API}]


@pytest.fixture
def there(copied: Path) -> Path:
    """A database with something in each table that views read."""
    file = copied / "crawl.db"
    engine = open_database(make_url(f"sqlite:///{file}"))
    jobs = Jobs(engine)
    given = {"cron": "0 0 * * *", "timezone": "UTC", "spider": "topic", "crawl": "topic", **values_of({}, {})}
    jobs.add("daily", lambda now: {**given, "next_at": now})
    found = jobs.all()[0][0]
    run = jobs.start(found, Due(BY_HAND), Place("here", "host"))
    assert run is not None
    jobs.end(run, 0, "topic")
    with engine.begin() as connection:
        before = select(page.c.key, page.c.crawl_id, page.c.fetched_at, page.c.title, page.c.text)
        connection.execute(insert(page_version).from_select([one.name for one in before.selected_columns], before))
        url = connection.execute(select(page.c.url).limit(1)).scalar_one()
    put_label(engine, Label(TEXT, "topic", url, url, "All bees."))
    engine.dispose()
    return file


def spoil(file: Path, place: str, value: object) -> None:
    table, column = place.split(".")
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        assert connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,)).rowcount
    connection.close()


def desk_of(file: Path) -> Desk:
    settings = Settings()
    settings.setmodule("crawler.settings")
    return Desk(make_url(f"sqlite:///{file}"), file.parent, settings, Door())


def ask(desk: Desk, path: str) -> Answer:
    return answer(desk, Request("GET", path, {}, {}, {"host": "localhost"}, "127.0.0.1"))


@pytest.mark.parametrize(
    ("place", "value", "path"),
    [
        ("crawl.started_at", "<b>now</b>", "/"),
        ("crawl.pages", b"\xff", "/api/crawls"),
        ("winnow_state.version", b"8", "/pages"),
        ("page.relevance", "much", "/pages"),
        ("page.status", b"\0", "/api/pages/1"),
        ("page.title", b"<b>", "/pages/1"),
        ("page.text", b"\xff", "/pages"),
        ("version.text", b"\xff", "/pages/1/versions"),
        ("label.value", b"\xff", "/labels"),
        ("page.certainty", ENDLESS, "/pages/1"),
        ("raw.body", "no bytes", "/pages/1/original"),
        ("verdict.probability", "some", "/images"),
        ("sample.seconds", ENDLESS, "/metrics"),
        ("sample.at", -1e308, "/api/crawls/1/course"),
        ("sample.at", 1e17, "/api/crawls/1/course"),
        ("sample.statuses", "[", "/metrics"),
        ("sample.statuses", DEEP, "/api/crawls/1/course"),
        ("sample.statuses", '{"200": "many"}', "/api/crawls/1/course"),
        ("run.beat", "once", "/schedule"),
        ("run.ended_at", "once", "/api/jobs"),
        ("job.next_at", b"soon", "/metrics"),
        ("job.runs", "two", "/schedule/1"),
    ],
)
def test_what_no_crawl_writes(
    there: Path, caplog: pytest.LogCaptureFixture, place: str, value: object, path: str
) -> None:
    spoil(there, place, value)
    found = ask(desk_of(there), path)
    assert found.status in (HTTPStatus.OK, HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.SERVICE_UNAVAILABLE)
    assert ODD in found.body.decode()
    assert "Traceback" not in found.body.decode() + caplog.text
    assert re.search(r"there is something in .* that no crawl writes: ", caplog.text)
    assert all(len(one.message) < 600 and one.exc_info is None for one in caplog.records)


@pytest.mark.parametrize("value", [DEEP, "[1, null, {}]", ""])
def test_json_that_no_crawl_writes(there: Path, caplog: pytest.LogCaptureFixture, value: str) -> None:
    for place in JSON:
        spoil(there, place, value)
    desk = desk_of(there)
    for path in ALL:
        assert ask(desk, path).status < HTTPStatus.INTERNAL_SERVER_ERROR, path
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]


def test_a_mistake_of_a_program_is_none_of_the_database(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*given: object) -> Answer:
        raise TypeError("a mistake")

    monkeypatch.setitem(VIEWS, "/pages", VIEWS["/pages"]._replace(view=mistaken))
    with pytest.raises(TypeError, match="a mistake"):  # the server writes it down with its traceback
        ask(desk_of(there), "/pages")


def test_numbers_without_end_in_postgresql(postgres_server: postgres.Server) -> None:
    url = make_url(postgres_server.database())
    engine = open_database(url)
    with engine.begin() as connection:
        connection.execute(insert(crawl).values(name="bees", seeds="[]", started_at=ENDLESS))
    engine.dispose()
    with reading(url, check=True) as connection, pytest.raises(OddError, match="started_at is inf, not a number"):
        connection.execute(select(crawl)).all()
