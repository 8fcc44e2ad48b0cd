"""The changes of pages as data, a hundred at a time."""

import json
from typing import Any

import pytest
from dashboard_client import Answer, Request, answer
from sqlalchemy import Engine, insert

from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.views.page_changes import AT_ONCE, MOST_LETTERS
from crawler.store.page_changes import save_changes
from crawler.store.page_tables import page


def store(engine: Engine, *numbers: int, **more: Any) -> None:
    values = {"crawl_id": 1, "requested_url": "", "fetched_at": "2026", "status": 200, "depth": 0, "images": "[]"}
    rows = [values | {"key": number, "url": f"http://www.bees.com/{number}"} | more for number in numbers]
    with engine.begin() as connection:
        connection.execute(insert(page), rows)
        save_changes(connection, numbers)


def ask(desk: DashboardContext, **query: Any) -> Answer:
    given = {name: str(value) for name, value in query.items()}
    return answer(desk, Request("GET", "/api/changes", given, headers={"host": "localhost"}))


def told(desk: DashboardContext, **query: Any) -> tuple[list[str], int]:
    """The last letters of the addresses, and the offset to continue after."""
    found = ask(desk, **query)
    assert found.status == 200, found.body
    data = json.loads(found.body)
    return [one["url"].rpartition("/")[2] for one in data["changes"]], data["after"]


@pytest.mark.parametrize(
    ("pages", "letters", "parts"),
    [(AT_ONCE, 10, [AT_ONCE]), (AT_ONCE + 1, 10, [AT_ONCE, 1]), (5, MOST_LETTERS // 2, [2, 2, 1])],
)
def test_all_changes_come_part_by_part(
    desk: DashboardContext, engine: Engine, pages: int, letters: int, parts: list[int]
) -> None:
    store(engine, *range(1, pages + 1), text="x" * letters)
    seen: list[str] = []
    sizes = []
    part, after = told(desk)
    while part:
        seen += part
        sizes.append(len(part))
        part, after = told(desk, after=after)
    assert (sizes, seen) == (parts, [str(number) for number in range(1, pages + 1)])
    assert told(desk, after=after) == ([], after)
    store(engine, 1_000)
    assert told(desk, after=after)[0] == ["1000"]


def test_what_is_gone(desk: DashboardContext, engine: Engine) -> None:
    store(engine, 1, change="changed")
    store(engine, 2, gone_at="2026", change="changed")
    changes = json.loads(ask(desk, crawl="bees").body)["changes"]
    assert [one["change"] for one in changes] == ["changed", "gone"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"after": 10**9}, 400),
        ({"after": -1}, 400),
        ({"after": "\N{ARABIC-INDIC DIGIT ONE}"}, 400),
        ({"crawl": "x"}, 404),
    ],
)
def test_wrong_questions(desk: DashboardContext, engine: Engine, query: dict[str, Any], status: int) -> None:
    store(engine, 1)
    assert ask(desk, **query).status == status
