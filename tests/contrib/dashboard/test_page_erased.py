"""An editor erases a page on its view."""

import json
from http import HTTPStatus

from dashboard_client import Answer, Request, answer
from sqlalchemy import Engine, insert, select
from test_page_view import HOME, stored

from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.search_index import search_index
from crawler.store.crawl_tables import edit, worker
from crawler.store.database import database_time
from crawler.store.page_tables import page
from crawler.urls.page_id import page_id


def get(desk: DashboardContext, path: str) -> str:
    found = answer(desk, Request("GET", path, {}, headers={"host": "localhost"}))
    assert found.status == HTTPStatus.OK, found.body
    return found.body.decode()


def erase(desk: DashboardContext, number: int, **form: str) -> Answer:
    given = {"token": desk.access.token} | form
    return answer(desk, Request("POST", f"/pages/{number}/erase", {}, given, {"host": "localhost"}))


def test_a_page_is_erased(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine)
    assert f'action="/pages/{number}/erase"' in get(desk, f"/pages/{number}")
    index = search_index(desk.url, desk.output)
    while not index.update(1, 0.0):
        pass
    assert index.find(1, ["dance"], None, 10) == [number]
    assert erase(desk, number, token="wrong").status == HTTPStatus.FORBIDDEN
    found = erase(desk, number)
    assert found.status == HTTPStatus.OK, found.body
    with engine.connect() as connection:
        assert connection.execute(select(page.c.id)).all() == []
        (row,) = connection.execute(select(edit.c.action, edit.c.subject)).all()
    assert (index.page_count(1), index.find(1, ["dance"], None, 10)) == (0, None)
    assert tuple(row) == ("page_erased", page_id(HOME))
    assert page_id(HOME) in get(desk, "/edits")
    assert json.loads(get(desk, "/api/edits"))["edits"][0]["subject"] == page_id(HOME)
    assert erase(desk, number).status == HTTPStatus.NOT_FOUND


def test_a_page_of_a_running_crawl_is_not_erased(desk: DashboardContext, engine: Engine) -> None:
    number = stored(desk, engine)
    with engine.begin() as connection:
        row = {"crawl_id": 1, "number": 1, "folder_id": "", "heartbeat": database_time(connection)}
        connection.execute(insert(worker).values(row))
    assert erase(desk, number).status == HTTPStatus.CONFLICT
    with engine.connect() as connection:
        assert connection.execute(select(page.c.id)).scalars().all() == [number]
