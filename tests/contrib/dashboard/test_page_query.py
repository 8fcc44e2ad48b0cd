"""Pages of a crawl looked through part by part, on both databases."""

import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from urllib.parse import quote, unquote

import pytest
from sqlalchemy import Connection, Engine, insert
from sqlalchemy.engine import URL, make_url

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.search_index import SearchIndex
from crawler.contrib.dashboard.views import page_query
from crawler.contrib.dashboard.views.choices import site_number
from crawler.contrib.dashboard.views.page_list import ListedCounts, count_pages, crawl_or_newest, listed
from crawler.contrib.dashboard.views.page_query import (
    BEST,
    CHANGED,
    COPY,
    GONE,
    NEW,
    NEWEST,
    WORST,
    PageQuery,
    Place,
    find_pages,
)
from crawler.store.crawl_tables import crawl, site
from crawler.store.database import open_database
from crawler.store.page_tables import page

MANY = 48
OF_ANOTHER = 1_000
"""The number of a page of another crawl that has all there is."""
TEXTS = (
    "Bees dance.",
    "ÄPFEL und Blüten",
    "蜜蜂在花丛中飞舞",
    "Μέλισσες ΧΟΡΕΎΟΥΝ",
    "Пчёлы ТАНЦУЮТ",
    "100% of_it \\ done",
)


def row(number: int) -> dict[str, Any]:
    """A page; among the first MANY there is each combination that is asked for, and a third is of one relevance."""
    return {
        "id": number,
        "key": number,
        "crawl_id": 1,
        "url": f"http://a.example/{number}" + ("/%E8%9C%82" if number % 9 == 0 else ""),
        "requested_url": "",
        "fetched_at": f"2026-01-01T00:{number // 60:02}:{number % 60:02}+00:00",
        "status": 200,
        "depth": 0,
        "language": (None, "en", "zh")[number % 3],
        "title": "Honey" if number % 7 == 0 else f"Page {number}",
        "text": TEXTS[number % len(TEXTS)],
        "page_type": ("article", "forum")[number % 2],
        "relevance": 0.0 if number % 3 == 0 else round((number * 37 % 20) / 20, 2),
        "extractor": "auto",
        "images": "[]",
        "last_round": 1 + number % 3,
        "first_round": 1 + number % 2,
        "changed_round": 2 if number % 5 == 0 else 3 if number % 11 == 0 else None,
        "gone_round": 3 if number % 13 == 0 else None,
        "duplicate_of": "http://a.example/1" if number % 8 == 0 else None,
        "site_id": None if number % 10 == 0 else 1 + number % 2,
    }


ROWS = [row(number) for number in range(1, MANY + 1)]
SPELLED = (
    *("Bees dance", "BEES", "bee\u017f", "bee\u1e9e", "\u212aITCHEN", "kitchen", "Stra\u00dfe", "STRASSE", "fi\u017fh"),
    *(
        "o\ufb03ce",
        "OFFICE",
        "\ufb01sh",
        "\ufb05one",
        "hone\u1e99",
        "\u0130zmir",
        "ta\u01f0",
        "\u0149ew",
        "GR\u00d6\u1e9eE",
    ),
    *(
        "gr\u00f6\u00dfe",
        "关于蜜蜂",
        "蜜 蜂",
        "ΜΈΛΙΣΣΑΣ",
        "ПЧЁЛЫ",
        "Ꭰꮿ",
        "100%",
        "1000",
        "a_b",
        "axb",
        "back\\slash",
        'it\'s "so"',
    ),
    *("x" * 500, f"{'x' * 500}y", "kкkкkк", "\u00c5ngstr\u00f6m", "\u212bNGSTR\u00d6M"),
)
"""Texts in which words are spelled in ways that not every database takes for the same."""
SPELLED_WORDS = (
    *(
        "bees",
        "bee",
        "beess",
        "bees\u00df",
        "kitchen",
        "strasse",
        "stra",
        "sse",
        "fish",
        "ish",
        "office",
        "ice",
        "stone",
    ),
    *(
        "honey",
        "hone",
        "i",
        "i\u0307zmir",
        "zmir",
        "taj",
        "\u02bcnew",
        "new",
        "gr\u00f6\u00dfe",
        "gr\u00f6sse",
        "r\u00f6",
    ),
    *(
        "蜜蜂",
        "蜂",
        "μέλισσας",
        "пчёлы",
        "чё",
        "ꭰꮿ",
        "Ꭰꮿ",
        "0%",
        "%",
        "%%",
        "a_b",
        "_",
        "k\\s",
        "\\",
        "it's",
        "'",
        '"so"',
    ),
    *("x" * 500, f"{'x' * 40}y", "x" * 501, "kкk", "\u00e5ngstr\u00f6m", "ngstr", "x\0x", "ab\0cd"),
)
SPELLED_CRAWL = 3


def spelled_rows() -> Iterator[dict[str, Any]]:
    """Pages that have such a text in their title, in their text, or in their address alone."""
    numbers = count(MANY + 1)
    for text in SPELLED:
        for place in ({"title": text}, {"text": text}, {"url": f"http://a.example/{quote(text)}"}):
            empty = {"crawl_id": SPELLED_CRAWL, "site_id": None, "title": "", "text": "", "url": "http://a.example/"}
            yield row(next(numbers)) | empty | place


SPELLED_ROWS = [*spelled_rows()]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A database of each kind with three crawls, which no test changes."""
    url = URL.create("sqlite", database=str(tmp_path_factory.mktemp("searched") / "crawl.db"))
    if request.param == "postgresql":
        url = make_url(request.getfixturevalue("postgres_server").database())
    engine = open_database(url)
    with engine.begin() as connection:
        for number, name in ((1, "bees"), (2, "rails"), (SPELLED_CRAWL, "spelled")):
            connection.execute(insert(crawl).values(id=number, name=name, seeds="[]", started_at=0.0, round=3))
        for number, name in ((1, "even.example"), (2, "odd.example")):
            connection.execute(insert(site).values(id=number, crawl_id=1, name=name))
        of_another = row(OF_ANOTHER) | {"crawl_id": 2, "text": " ".join(TEXTS)}
        connection.execute(insert(page), [*ROWS, *SPELLED_ROWS, of_another])
    yield engine
    engine.dispose()


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    with engine.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def index(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    """The full-text index of the first crawl and of the one with odd spellings."""
    index = SearchIndex(engine.url, tmp_path_factory.mktemp("index") / "search.db")
    for number in (1, SPELLED_CRAWL):
        while not index.update(number, 0.0):
            time.sleep(0.01)
    return index


def has(word: str) -> Callable[[dict[str, Any]], bool]:
    return lambda one: word in one["text"]


CASES: dict[str, tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]] = {
    "all": ({}, lambda one: True),
    "language": ({"language": "zh"}, lambda one: one["language"] == "zh"),
    "type": ({"page_type": "forum"}, lambda one: one["page_type"] == "forum"),
    "site": ({"site": 2}, lambda one: one["site_id"] == 2),
    "new": ({"state": NEW, "round": 2}, lambda one: one["first_round"] == 2),
    "changed": ({"state": CHANGED}, lambda one: one["changed_round"] is not None),
    "changed in a round": ({"state": CHANGED, "round": 3}, lambda one: one["changed_round"] == 3),
    "gone": ({"state": GONE}, lambda one: one["gone_round"] is not None),
    "gone in a round without": ({"state": GONE, "round": 2}, lambda one: False),
    "copies": ({"state": COPY}, lambda one: one["duplicate_of"] is not None),
    "copies of a round": (
        {"state": COPY, "round": 3},
        lambda one: one["duplicate_of"] is not None and one["last_round"] == 3,
    ),
    "round": ({"round": 2}, lambda one: one["last_round"] == 2),
    "a round too far": ({"round": 2**40}, lambda one: False),
    "least": ({"least_relevance": 0.5}, lambda one: one["relevance"] >= 0.5),
    "most": ({"most_relevance": 0.05}, lambda one: one["relevance"] <= 0.05),
    "between": ({"least_relevance": 0.2, "most_relevance": 0.6}, lambda one: 0.2 <= one["relevance"] <= 0.6),
    "nothing between": ({"least_relevance": 0.6, "most_relevance": 0.2}, lambda one: False),
    "word": ({"words": ("bees",)}, has("Bees")),
    "accents": ({"words": ("äpfel", "blüten")}, has("ÄPFEL")),
    "Chinese": ({"words": ("蜜蜂", "花丛")}, has("蜜蜂")),
    "Greek": ({"words": ("χορεύουν",)}, has("Μέλισσες")),
    "Russian": ({"words": ("танцуют",)}, has("ТАНЦУЮТ")),
    "signs": ({"words": ("%", "of_it", "\\")}, has("100%")),
    "no wild card": ({"words": ("b%s",)}, lambda one: False),
    "title": ({"words": ("honey",)}, lambda one: one["title"] == "Honey"),
    "title and text": ({"words": ("honey", "bees")}, lambda one: one["title"] == "Honey" and "Bees" in one["text"]),
    "address": ({"words": ("/蜂",)}, lambda one: "%E8%9C%82" in one["url"]),
    "all at once": (
        {"words": ("bees",), "site": 1, "language": "", "page_type": "article", "most_relevance": 0.9},
        lambda one: (
            "Bees" in one["text"] and one["site_id"] == 1 and one["page_type"] == "article" and one["relevance"] <= 0.9
        ),
    ),
    "site and more": (
        {"site": 1, "language": "en", "state": CHANGED},
        lambda one: one["site_id"] == 1 and one["language"] == "en" and one["changed_round"] is not None,
    ),
    "another site": ({"site": 77}, lambda one: False),
}
ORDERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    NEWEST: lambda one: -one["id"],
    BEST: lambda one: (-one["relevance"], -one["id"]),
    WORST: lambda one: (one["relevance"], one["id"]),
}


def walked(
    connection: Connection, wanted: PageQuery, most: int, seconds: float, index: SearchIndex | None = None
) -> tuple[list[int], int, int]:
    """All pages that are found, how many were looked at, and in how many looks."""
    found, looked, looks, place = [], 0, 0, None
    while True:
        seen = find_pages(connection, wanted, place, most, index, seconds)
        assert len(seen.hits) <= most
        found += [hit.id for hit in seen.hits]
        looked, looks, place = looked + seen.searched, looks + 1, seen.place
        if place is None:
            return found, looked, looks
        assert seen.searched
        assert looks < 3 * MANY


@pytest.mark.parametrize("order", [NEWEST, BEST, pytest.param(WORST, marks=pytest.mark.long)])
def test_what_is_wanted_is_found_once_and_in_order(
    connection: Connection, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: dict[str, set[int]] = {case: set() for case in CASES}
    for size, at_once, most, seconds in ((500, 25, 1_000, 60.0), (9, 3, 20, 0.0)):
        for name, value in {"LARGE_PART": size, "SMALL_PART": size, "AT_ONCE": at_once}.items():
            monkeypatch.setattr(page_query, name, value)
        for case, (conditions, fits) in CASES.items():
            expected = [one["id"] for one in sorted(filter(fits, ROWS), key=ORDERED[order])]
            found, looked, _ = walked(connection, PageQuery(1, order=order, **conditions), most, seconds)
            assert (case, found) == (case, expected)
            looked_at[case].add(looked)
    # However it is gone through, the same pages are looked at, each once.
    assert [case for case, numbers in looked_at.items() if len(numbers) > 1] == []


@pytest.mark.parametrize("order", [NEWEST, BEST, pytest.param(WORST, marks=pytest.mark.long)])
def test_the_same_is_found_by_the_index(
    connection: Connection, index: SearchIndex, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for named, at_once, most, seconds in ((500, 25, 1_000, 60.0), (5, 3, 20, 0.0)):
        for name, value in {"PAGES_FROM_INDEX": named, "AT_ONCE": at_once}.items():
            monkeypatch.setattr(page_query, name, value)
        for case, (conditions, fits) in CASES.items():
            if "words" not in conditions:
                continue
            expected = [one["id"] for one in sorted(filter(fits, ROWS), key=ORDERED[order])]
            found, _, _ = walked(connection, PageQuery(1, order=order, **conditions), most, seconds, index)
            assert (case, found) == (case, expected)


def test_no_spelling_is_lost(connection: Connection, index: SearchIndex) -> None:
    for spelled in SPELLED_WORDS:
        word = spelled.casefold()
        places = {one["id"]: f"{one['title']} {one['text']} {unquote(one['url'])}".casefold() for one in SPELLED_ROWS}
        expected = [number for number, text in places.items() if word in text]
        for how in (None, index):
            query = PageQuery(SPELLED_CRAWL, words=(word,), order=NEWEST)
            assert (spelled, sorted(walked(connection, query, 1_000, 60.0, how)[0])) == (spelled, expected)


@pytest.mark.parametrize("words", [("unobtainium",), ("蜜蜜蜜",), ("bees", "unobtainium")])
def test_no_page_is_read_that_the_index_does_not_name(
    connection: Connection, index: SearchIndex, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_query, "has_all", lambda *_: pytest.fail("a page is read"))
    for order in ORDERED:
        assert walked(connection, PageQuery(1, words=words, order=order), 50, 60.0, index)[:2] == ([], 0)


def test_all_pages_are_looked_at(connection: Connection) -> None:
    for order in ORDERED:
        assert walked(connection, PageQuery(1, words=("nowhere",), order=order), 50, 0.0)[1] == MANY


def test_when_the_time_is_up_it_is_said_how_far_it_came(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_query, "SMALL_PART", 10)
    seen = find_pages(connection, PageQuery(1, words=("nowhere",)), None, 50, seconds=0.0)
    assert (seen.hits, seen.searched, seen.place) == ((), 10, Place(MANY - 9))


def test_when_enough_is_found_no_more_is_looked_at(connection: Connection) -> None:
    seen = find_pages(connection, PageQuery(1, words=("bees",)), None, 2, seconds=60.0)
    assert [hit.id for hit in seen.hits] == [48, 42]
    assert (seen.searched, seen.place) == (7, Place(42))
    assert [hit.text for hit in seen.hits] == ["Bees dance."] * 2


def test_pages_that_come_meanwhile_do_not_come_twice(connection: Connection) -> None:
    first = find_pages(connection, PageQuery(1), None, 30)
    connection.execute(insert(page), [row(OF_ANOTHER + 1)])
    second = find_pages(connection, PageQuery(1), first.place, 30)
    assert [hit.id for hit in (*first.hits, *second.hits)] == list(range(MANY, 0, -1))
    assert second.place is None


def test_no_question_reads_rows_where_indexes_know(sqlite_engine: Engine) -> None:
    """SQLite's plans; rows hold the texts, and a million of them take minutes."""
    asked: list[tuple[str, Any]] = []
    with sqlite_engine.connect() as connection:
        connection.connection.driver_connection.set_trace_callback(lambda said: asked.append((said, None)))  # type: ignore[union-attr]
        for order in ORDERED:
            between = {"least_relevance": 0.1, "most_relevance": 0.7}
            for more in ({}, {"site": 1}, {"language": "en", "state": NEW, "round": 1, **between}):
                for place in (None, Place(5, relevance=0.5)):
                    find_pages(connection, PageQuery(1, order=order, **more), place, 50)
        connection.connection.driver_connection.set_trace_callback(None)  # type: ignore[union-attr]
        plans = [
            (said, row[3])
            for said, _ in asked
            if said.startswith("SELECT")
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {said}")
        ]
    assert len(plans) > 50
    reads = ("SEARCH", "SCAN")
    assert [
        one for one in plans if one[1].startswith(reads) and "COVERING" not in one[1] and "part" not in one[1]
    ] == []
    assert [one for one in plans if "TEMP B-TREE" in one[1] and "part" not in one[0]] == []


def test_pages_as_a_list_shows_them(connection: Connection) -> None:
    found = listed(connection, [5, 999, 10, 1])
    assert [one.id for one in found] == [5, 10, 1]
    assert [one.site for one in found] == ["odd.example", None, "odd.example"]
    assert (found[0].changed_round, found[0].gone_round, found[0].beginning) == (2, None, TEXTS[5])
    assert listed(connection, []) == []


def test_what_there_is(connection: Connection) -> None:
    for name, found in {"bees": "bees", "rails": "rails", "": "rails"}.items():  # which has the newest page
        assert (crawl_or_newest(connection, name).name, crawl_or_newest(connection, name).round) == (found, 3)
    with pytest.raises(RefusedError):
        crawl_or_newest(connection, "ants")
    assert count_pages(connection, 1) == ListedCounts(48, {"": 16, "en": 16, "zh": 16}, {"article": 24, "forum": 24})
    assert [site_number(connection, *one) for one in ((1, "odd.example"), (2, "odd.example"), (1, "x"))] == [
        2,
        None,
        None,
    ]
