"""Somebody looks at a crawl while it is reset or its database replaced: what is shown is never of the crawl before."""

import json
import re
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from dashboard_client import API, VIEWS, Answer, Request, answer
from scrapy.settings import Settings
from sqlalchemy import delete, insert, update
from sqlalchemy.engine import make_url

from crawler.contrib.dashboard.access import AccessControl
from crawler.contrib.dashboard.context import DashboardContext
from crawler.store.crawl_tables import crawl, tables, version
from crawler.store.database import open_database
from crawler.store.page_tables import page
from crawler.store.schema_version import newest_version

ALL = [re.sub(r"\{\w+\}", "1", one) for one in {**VIEWS, **API}]


@pytest.fixture
def desk(copied: Path) -> DashboardContext:
    settings = Settings()
    settings.setmodule("crawler.settings")
    return DashboardContext(make_url(f"sqlite:///{copied / 'crawl.db'}"), copied, settings, AccessControl())


def ask(desk: DashboardContext, path: str) -> Answer:
    return answer(desk, Request("GET", path, {}, {}, {"host": "localhost"}, "127.0.0.1"))


def data(desk: DashboardContext, path: str) -> Any:
    return json.loads(ask(desk, path).body)


def write(desk: DashboardContext, *statements: Any) -> None:
    engine = open_database(desk.url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(statement)
    engine.dispose()


def begin_anew(desk: DashboardContext) -> None:
    """Another crawl of the same number and name, with a page of the same number."""
    write(
        desk,
        *(delete(one) for one in reversed(tables.sorted_tables) if one is not version),
        insert(crawl).values(id=1, name="topic", seeds="[]", started_at=2e9),
        insert(page).values(
            **dict.fromkeys(("url", "requested_url", "title", "text"), "http://new.example/"), images="[]", id=1, key=1,
            crawl_id=1, fetched_at="2033-05-18T03:33:20+00:00", status=200, depth=0, relevance=0.0, extractor="auto",
            language="eo",
        ),
    )  # fmt: skip


@pytest.mark.long
def test_after_a_reset_nothing_is_of_the_crawl_before(desk: DashboardContext) -> None:
    for path in ALL:
        ask(desk, path)
    assert data(desk, "/api/evaluate/focus")["report"]["figures"]["total"]["pages"] > 1
    assert data(desk, "/api/pages/counts")["pages"] > 1
    begin_anew(desk)
    for _ in range(2):
        for path in ALL:
            found = ask(desk, path)
            assert found.status < HTTPStatus.INTERNAL_SERVER_ERROR, path
    assert data(desk, "/api/evaluate/focus")["report"]["figures"]["total"]["pages"] == 1
    assert data(desk, "/api/evaluate/noise")["report"]["images"] == 0
    assert data(desk, "/api/pages/counts")["languages"] == {"eo": 1}
    assert data(desk, "/api/crawls/1")["outcomes"]["ends"] in ({}, None)
    assert data(desk, "/api/crawls/1/slow")["hosts"] == []


@pytest.mark.parametrize("gone", [True, False])
def test_a_database_that_is_gone_or_of_a_newer_release_is_said(desk: DashboardContext, gone: bool) -> None:
    for path in ALL:
        ask(desk, path)
    if gone:
        for file in desk.output.glob("crawl.db*"):
            file.unlink()
    else:
        write(desk, update(version).values(version=newest_version() + 1))
    for path in ALL:
        assert ask(desk, path).status != HTTPStatus.INTERNAL_SERVER_ERROR, path
