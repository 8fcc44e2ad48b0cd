"""The least certain pages, for people to label: which are among them, in which order, and how one goes on."""

from itertools import product
from typing import Any

import pytest
from sqlalchemy import Engine, insert, update

from crawler.contrib.lab.views.labels import LabelledCrawl, UncertainPage, crawl_to_label, uncertain_pages
from crawler.store.crawl_tables import crawl
from crawler.store.labels import Label, put_label
from crawler.store.page_tables import LabelKind, page, stored_response

BEES = LabelledCrawl(1, "bees", True)


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def enter(engine: Engine, *certainties: float | None, bare: tuple[int, ...] = ()) -> None:
    """Pages of the crawl `bees` with the numbers 1, 2, 3 ... and their responses, but for some; and one of `wasps`."""
    with engine.begin() as connection:
        for number, name in ((1, "bees"), (2, "wasps")):
            connection.execute(insert(crawl).values(id=number, name=name, seeds="[]", started_at=float(number)))
        rows = [row(number, certainty) for number, certainty in enumerate(certainties, 1)]
        connection.execute(insert(page), [*rows, row(1_000, 0.15) | {"crawl_id": 2}])
        kept = [one["key"] for one in rows if one["id"] not in bare]
        response = {"crawl_id": 1, "fetched_at": "", "status_line": "", "headers": "[]", "body": b""}
        if kept:
            connection.execute(insert(stored_response), [response | {"key": key} for key in kept])


def row(number: int, certainty: float | None) -> dict[str, Any]:
    url = f"http://a.example/{number}"
    words = {"url": url, "requested_url": url, "fetched_at": "2026-11-22T00:00:00+00:00", "title": f"Page {number}"}
    figures = {"status": 200, "depth": 0, "relevance": 1.0, "certainty": certainty}
    return (
        words | figures | {"id": number, "key": -number, "crawl_id": 1, "text": "", "extractor": "auto", "images": "[]"}
    )


def found(engine: Engine, after: int = 0, most: int = 20, **bounds: int) -> tuple[tuple[UncertainPage, ...], int]:
    with engine.connect() as connection:
        return uncertain_pages(connection, BEES, after, most, **bounds)


def numbers(engine: Engine, **how: Any) -> list[int]:
    return [one.id for one in found(engine, **how)[0]]


def test_the_least_certain_come_first_and_those_of_no_certainty_last(engine: Engine) -> None:
    enter(engine, None, 0.9, 0.1, 0.5, None, 0.1)
    assert numbers(engine) == [3, 6, 4, 2, 1, 5]
    assert found(engine)[1] == 0
    first = found(engine)[0][0]
    assert (first.url, first.title, first.certainty) == ("http://a.example/3", "Page 3", 0.1)


def test_the_least_certain_are_among_the_newest(engine: Engine) -> None:
    enter(engine, 0.1, None, 0.4, None, 0.2)
    assert numbers(engine, newest=3) == [5, 3, 4]


def test_those_whose_response_was_not_kept_are_left_out(engine: Engine) -> None:
    enter(engine, 0.1, 0.2, None, None, bare=(1, 4))
    assert numbers(engine) == [2, 3]


def test_documents_are_left_out(engine: Engine) -> None:
    enter(engine, 0.1, None)
    with engine.begin() as connection:
        connection.execute(update(page).where(page.c.id == 2).values(extractor="document"))
    assert numbers(engine) == [1]


def test_those_that_somebody_labelled_are_left_out(engine: Engine) -> None:
    enter(engine, 0.1, 0.2, 0.3, 0.4)
    url = "http://a.example/{}".format
    put_label(engine, Label(LabelKind.TEXT, "bees", url(1), url(1), ""))
    put_label(engine, Label(LabelKind.TEXT, "wasps", url(2), url(2), ""))  # of another crawl
    put_label(engine, Label(LabelKind.IMAGE, "bees", url(3), url(3), "noise"))  # of another kind
    assert numbers(engine) == [2, 3, 4]


def test_one_goes_on_and_misses_none(engine: Engine) -> None:
    enter(engine, None, 0.5, 0.5, 0.1, None, 0.5, None, 0.0, bare=(3,))
    for checked, most in product((1, 2, 3, 200), (1, 2, 20)):
        pages, after = found(engine, 0, most, checked=checked)
        seen = [one.id for one in pages]
        while after:
            pages, after = found(engine, after, most, checked=checked)
            seen += [one.id for one in pages]
        assert (checked, most, seen) == (checked, most, [8, 4, 2, 6, 1, 5, 7])


def test_where_none_of_many_can_be_labelled_one_goes_on_later(engine: Engine) -> None:
    enter(engine, 0.1, 0.2, 0.3, bare=(1, 2))
    assert found(engine, checked=2) == ((), 2)
    assert numbers(engine, after=2, checked=2) == [3]


@pytest.mark.parametrize(
    ("name", "bare", "found"),
    [
        ("", (), BEES),  # the newer one kept no response
        ("", (1,), LabelledCrawl(2, "wasps", kept=False)),
        ("bees", (), BEES),
        ("bees", (1,), LabelledCrawl(1, "bees", kept=False)),
        ("wasps", (), LabelledCrawl(2, "wasps", kept=False)),
        ("ants", (), None),
    ],
)
def test_the_crawl_that_is_meant(engine: Engine, name: str, bare: tuple[int, ...], found: LabelledCrawl | None) -> None:
    enter(engine, 0.1, bare=bare)
    with engine.connect() as connection:
        assert crawl_to_label(connection, name) == found


def test_where_no_response_was_kept_there_is_nothing_to_label(engine: Engine) -> None:
    enter(engine, 0.1)
    with engine.connect() as connection:
        assert uncertain_pages(connection, LabelledCrawl(2, "wasps", False)) == ((), 0)


def test_behind_a_page_of_another_crawl_one_begins_anew(engine: Engine) -> None:
    enter(engine, 0.2, 0.1)
    assert numbers(engine, after=1_000) == numbers(engine, after=77) == [2, 1]
    with engine.begin() as connection:
        connection.execute(update(page).where(page.c.id == 2).values(certainty=None))
    assert numbers(engine, after=2) == []
