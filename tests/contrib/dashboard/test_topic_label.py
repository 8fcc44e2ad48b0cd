"""Somebody says on the dashboard whether a page is on the topic."""

import json
from http import HTTPStatus
from typing import Any

import pytest
from dashboard_client import Answer, Request, answer
from sqlalchemy import Engine, select, update
from test_page_view import HOME, stored

from crawler.contrib.dashboard.context import DashboardContext
from crawler.frontier.batch import TopicLabel
from crawler.store.batch.shared_learning import MOST_TEXT, MOST_TITLE, TopicLabels
from crawler.store.crawl_tables import crawl
from crawler.store.page_tables import label


def get(desk: DashboardContext, path: str, **query: str) -> str:
    found = answer(desk, Request("GET", path, query, headers={"host": "localhost"}))
    assert found.status == HTTPStatus.OK, found.body
    return found.body.decode()


def say(desk: DashboardContext, number: int, **form: str) -> Answer:
    given = {"token": desk.access.token} | form
    return answer(desk, Request("POST", f"/pages/{number}/topic", {}, given, {"host": "localhost"}))


def learned(engine: Engine) -> list[TopicLabel] | None:
    """What a crawl would learn."""
    with engine.connect() as connection:
        return TopicLabels(1).read(connection)


def shown(desk: DashboardContext, number: int) -> tuple[Any, Any]:
    """The label as the list and the page tell it."""
    (listed,) = json.loads(get(desk, "/api/pages"))["pages"]
    return listed["label"], json.loads(get(desk, f"/api/pages/{number}"))["label"]


def pressed(text: str) -> list[str]:
    """The values of the buttons that are pressed."""
    return [part.split('value="')[1].split('"')[0] for part in text.split("<button ") if 'aria-pressed="true"' in part]


def test_a_label_is_kept_changed_and_forgotten(desk: DashboardContext, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(update(crawl).values(topic_digest="0" * 16))
    number = stored(desk, engine, title=" How\nbees dance ", text="Round\nand waggle.")
    for value in ("on_topic", "off_topic"):
        found = say(desk, number, value=value)
        assert (found.status, dict(found.headers)["Location"]) == (HTTPStatus.SEE_OTHER, f"/pages/{number}")
        assert learned(engine) == [TopicLabel("How bees dance", "Round\nand waggle.", value == "on_topic")]
        assert shown(desk, number) == (value, value)
        assert pressed(get(desk, "/pages")) == pressed(get(desk, f"/pages/{number}")) == [value]
        assert json.loads(get(desk, "/api/labels"))["counts"][value] == 1
        assert f'href="/pages/{number}">' in get(desk, "/labels/list")
    say(desk, number, value="none")
    assert (learned(engine), shown(desk, number), pressed(get(desk, "/pages"))) == (None, (None, None), [])
    edits = json.loads(get(desk, "/api/edits"))["edits"]
    assert [one["action"] for one in edits] == ["label_removed", "off_topic", "on_topic"]


@pytest.mark.parametrize("length", [0, MOST_TEXT + 1])
def test_odd_pages_can_be_labelled(desk: DashboardContext, engine: Engine, length: int) -> None:
    say(desk, stored(desk, engine, title="t" * length, text="\n" * length), value="on_topic")
    assert learned(engine) == [TopicLabel("t" * min(length, MOST_TITLE), "\n" * min(length, MOST_TEXT), True)]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({}, HTTPStatus.BAD_REQUEST),
        ({"value": "noise"}, HTTPStatus.BAD_REQUEST),
        ({"value": "on_topic", "token": "x"}, HTTPStatus.FORBIDDEN),
    ],
)
def test_no_label(desk: DashboardContext, engine: Engine, form: dict[str, str], status: int) -> None:
    assert say(desk, stored(desk, engine), **form).status == status
    assert learned(engine) is None


def test_there_is_no_such_page(desk: DashboardContext, engine: Engine) -> None:
    assert say(desk, 7, value="on_topic").status == HTTPStatus.NOT_FOUND
    with engine.connect() as connection:
        assert connection.execute(select(label.c.url)).all() == []
    assert stored(desk, engine, url=HOME)
