"""The full-text index: what is found in it, and how it follows the pages."""

import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, delete, insert, update

from crawler.contrib.dashboard import search_index
from crawler.contrib.dashboard.search_index import SearchIndex, bigrams
from crawler.store.crawl_tables import crawl
from crawler.store.page_tables import page


@pytest.fixture
def index(engine: Engine, tmp_path: Path) -> SearchIndex:
    return SearchIndex(engine.url, tmp_path / "search.db", age=0.0)


def row(number: int, text: str, second: int = 0, **more: Any) -> dict[str, Any]:
    values = {"id": number, "key": number, "crawl_id": 1, "url": f"http://a.example/{number}", "requested_url": ""}
    values |= {"fetched_at": f"2026-01-02T03:{second // 60:02}:{second % 60:02}+00:00", "status": 200, "depth": 0}
    return values | {"title": "", "text": text, "relevance": 0.5, "images": "[]", "extractor": "auto"} | more


def store(engine: Engine, *rows: dict[str, Any]) -> None:
    with engine.begin() as connection:
        connection.execute(insert(page), list(rows))


def named(index: SearchIndex, *words: str, crawl_id: int = 1, started_at: float = 0.0) -> list[int] | None:
    """The pages that the index names once it is up to date."""
    while not index.update(crawl_id, started_at):
        time.sleep(0.01)
    for thread in threading.enumerate():
        if thread.name == "search index":
            thread.join()
    return index.find(crawl_id, words, None, 1_000)


def test_bigrams() -> None:
    rows = [
        ("Bees", "be ee es"),
        ("a 蜜蜂花 b", "蜜蜂 蜂花"),
        ("Straße", "st tr ra as ss se"),
        ("\ud800x", "\ue03fx"),
        ('a"', "a\ue022"),
        ("", ""),
    ]
    for text, found in rows:
        assert bigrams(text) == found


@pytest.mark.parametrize(
    "word",
    [
        '"',
        '""',
        '"a',
        "a*",
        "b:c",
        "NEAR(",
        "a-b",
        "-a",
        "^a",
        "{a",
        "(a",
        "a'b",
        "a;b",
        "\0\0",
        "AND",
        "%a",
        "\ud800\ud800",
    ],
)
def test_a_word_is_found_as_it_stands(engine: Engine, index: SearchIndex, word: str) -> None:
    text = word.replace("\0", "_").encode("utf-8", "replace").decode()
    store(engine, row(1, f"before{text}behind"), row(2, "before behind"))
    found = named(index, word.casefold())
    assert found == (None if len(word) < 2 else [] if "\0" in word else [1])


def test_new_and_changed_pages_are_indexed_again(engine: Engine, index: SearchIndex) -> None:
    store(engine, row(1, "honey", 10), row(2, "honey", 3_000))
    assert named(index, "honey") == [2, 1]
    store(engine, row(3, "honey", 20))  # fetched before page 2 and stored after it
    with engine.begin() as connection:
        connection.execute(
            update(page).where(page.c.id == 2).values(text="wasps", fetched_at="2026-01-02T04:00:00+00:00")
        )
    assert named(index, "wasps") == [2]
    assert set(named(index, "honey") or ()) >= {1, 3}
    assert index.page_count(1) == 3


@pytest.mark.parametrize(("at_once", "seen"), [(7, 7), (7, 30), (7, 31), (10, 10), (40, 50)])
def test_many_pages_of_the_same_second(engine: Engine, tmp_path: Path, at_once: int, seen: int) -> None:
    index = SearchIndex(engine.url, tmp_path / "search.db", age=0.0, indexed_at_once=at_once, checked_at_once=seen)
    store(engine, *(row(number, "honey") for number in range(1, 31)))
    assert named(index, "honey") == list(range(30, 0, -1))
    assert index.find(1, ("honey",), 10, 3) == [9, 8, 7]
    store(engine, row(31, "honey"))
    assert named(index, "honey") == list(range(31, 0, -1))


def test_a_crawl_that_was_begun_anew(engine: Engine, index: SearchIndex) -> None:
    store(engine, row(1, "honey", 3_000))
    assert named(index, "honey") == [1]
    with engine.begin() as connection:
        connection.execute(delete(page))
        connection.execute(update(crawl).values(started_at=7.0))
    store(engine, row(1, "wasps", 10))
    assert (named(index, "wasps", started_at=7.0), named(index, "honey", started_at=7.0)) == ([1], [])


def test_what_is_gone_is_dropped(engine: Engine, tmp_path: Path) -> None:
    index = SearchIndex(engine.url, tmp_path / "search.db", age=0.0, indexed_at_once=3)
    store(engine, *(row(number, "honey", number) for number in range(1, 11)))
    assert named(index, "honey") == list(range(10, 0, -1))
    with engine.begin() as connection:
        connection.execute(delete(page).where(page.c.id > 6))
    assert named(index, "honey") == list(range(10, 0, -1))  # whoever searches finds out that they are gone
    with engine.begin() as connection:
        connection.execute(delete(page).where(page.c.id > 2))
    assert named(index, "honey") == [2, 1]


def test_a_clock_that_is_wrong_hides_nothing(engine: Engine, index: SearchIndex) -> None:
    store(engine, row(1, "honey", fetched_at="2999-01-01T00:00:00+00:00"))
    assert named(index, "honey") == [1]
    store(engine, row(2, "honey", fetched_at=datetime.now(UTC).isoformat()))
    assert named(index, "honey") == [2, 1]


def test_each_crawl_has_its_own(engine: Engine, index: SearchIndex) -> None:
    with engine.begin() as connection:
        connection.execute(insert(crawl).values(id=2, name="rails", seeds="[]", started_at=0.0))
    store(engine, row(1, "honey"), row(2, "honey", crawl_id=2))
    assert (named(index, "honey"), named(index, "honey", crawl_id=2)) == ([1], [2])
    with engine.begin() as connection:
        connection.execute(delete(page).where(page.c.crawl_id == 2))
        connection.execute(delete(crawl).where(crawl.c.id == 2))
    assert named(index, "honey") == [1]
    assert index.page_count(2) == 0


def test_where_no_index_can_be_kept(engine: Engine, tmp_path: Path) -> None:
    store(engine, row(1, "honey"))
    (tmp_path / "search.db").mkdir()
    index = SearchIndex(engine.url, tmp_path / "search.db")
    assert not index.update(1, 0.0)
    assert index.page_count(1) == 0


def test_a_search_that_takes_too_long(engine: Engine, index: SearchIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    store(engine, *(row(number, "honey " * 1_000) for number in range(1, 101)))
    assert named(index, "honey")
    monkeypatch.setattr(search_index, "SEARCH_SECONDS", -1.0)
    monkeypatch.setattr(search_index, "STEPS", 1)
    assert index.find(1, ("honey",), None, 1_000) is None
