"""Views where there are very many crawls: the choice among them has its bounds, and says so."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dashboard_client import Request, answer
from sqlalchemy import Engine, event, insert

from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.views.choices import MOST_CRAWLS, CrawlNames, crawl_names
from crawler.store.crawl_tables import crawl
from crawler.store.page_tables import page

MANY = 5_000
FEW = 60
"""Statements: the views take so many, whatever number of crawls there is."""


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that any database is given."""
    said: list[str] = []

    def hear(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        said.append(statement)

    event.listen(Engine, "before_cursor_execute", hear)
    try:
        yield said
    finally:
        event.remove(Engine, "before_cursor_execute", hear)


def enter(engine: Engine, count: int) -> None:
    """Crawls, of which the first has what the views begin with."""
    names = (f"crawl <{number}>" for number in range(2, count + 1))
    rows = [{"id": 2 + n, "name": name, "seeds": "[]", "started_at": float(n)} for n, name in enumerate(names)]
    stored = {"id": 1, "key": 1, "crawl_id": 1, "url": "http://bees.com/", "requested_url": "", "status": 200}
    stored |= {"fetched_at": "2026-01-02T03:04:05+00:00", "depth": 0, "title": "", "text": "", "images": "[]"}
    with engine.begin() as connection:
        connection.execute(insert(page).values(stored | {"relevance": 0.5, "extractor": "auto", "page_type": ""}))
        if rows:
            connection.execute(insert(crawl), rows)


@pytest.mark.parametrize("view", ["/pages", "/labels", "/evaluate"])
@pytest.mark.parametrize(("count", "left_out"), [(1, 0), (MOST_CRAWLS, 0), (MOST_CRAWLS + 2, 1), (MANY, 4_799)])
def test_of_many_crawls_the_latest_can_be_chosen(
    desk: DashboardContext, engine: Engine, view: str, count: int, left_out: int
) -> None:
    enter(engine, count)
    with counted() as said:
        found = answer(desk, Request("GET", view, {"crawl": "bees"}, headers={"host": "localhost"}))
    assert 0 < len(said) < FEW
    text = found.body.decode()
    assert found.status == 200
    assert '<option value="bees" selected>' in text or count == 1
    assert text.count('<option value="crawl &lt;') == min(count - 1, MOST_CRAWLS)
    assert bool(re.search(rf": {left_out:,}\.", text)) is (left_out > 0)
    assert len(found.body) < 60_000


@pytest.mark.parametrize("path", ["/api/crawls", "/api/pages", "/api/pages/counts", "/api/labels", "/api/labels/queue"])
def test_of_many_crawls_few_are_looked_at(desk: DashboardContext, engine: Engine, path: str) -> None:
    enter(engine, MANY)
    with counted() as said:
        assert answer(desk, Request("GET", path, headers={"host": "localhost"})).status == 200
    assert 0 < len(said) < FEW


def test_the_crawl_that_is_shown_is_among_them(desk: DashboardContext, engine: Engine) -> None:
    enter(engine, MOST_CRAWLS + 5)
    with engine.connect() as connection:
        names = crawl_names(connection, "bees")
        assert names.names[0] == "bees"
        assert (len(names.names), names.left_out) == (MOST_CRAWLS + 1, 4)
        assert crawl_names(connection, "") == CrawlNames(names=names.names[1:], left_out=5)
