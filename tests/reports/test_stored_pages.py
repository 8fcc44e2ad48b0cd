"""What exports read of the pages that crawls stored."""

import re
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import postgres
import pytest
from fork_server import PATIENCE
from sqlalchemy import Engine, delete, insert, select, update
from sqlalchemy.engine import URL
from store_workers import Crew, candidates, stored

from crawler.errors import StateError
from crawler.frontier.page_result import AddressKind, StoredResponse
from crawler.items import PageItem
from crawler.reports import stored_pages as reading
from crawler.reports.stored_pages import (
    LanguageOrSite,
    PageCounts,
    PageFilter,
    StoredPage,
    StoredPages,
    crawls_to_export,
    place_of,
    since_of,
)
from crawler.store.batch.responses import COMPRESSION_LEVEL, zstd
from crawler.store.crawl_tables import crawl, version
from crawler.store.database import open_sqlite
from crawler.store.page_tables import page, stored_response
from crawler.store.schema_version import newest_version

FIELDS = list(asdict(PageItem("", "", "", 0, 0, None)))
ON_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
"""For what does not depend on the database."""
RESPONSE = StoredResponse("HTTP/1.1 200 OK", (("A", "b"),), b"<p>Bees")


@pytest.fixture
def where(engine: Engine) -> URL:
    """The address of the database that the workers of `crew` are at."""
    return engine.url


def store(crew: Crew, *names: str, name: str = "crawl", **fields: Any) -> None:
    """Have a crawl store pages of these hosts."""
    urls = [f"http://{one}.example/" for one in names]
    one = crew.join(*candidates(*urls, kind=AddressKind.SEED), name=name, folder=name)
    one.end(*(stored(lease, **fields) for lease in one.claim()))
    one.leave()


def know(crew: Crew, host: str, **fields: Any) -> None:
    """Have the database say something else of a page."""
    crew.change(update(page).where(page.c.url == f"http://{host}.example/").values(**fields))


def found(where: URL, wish: PageFilter | None = None, number: int = 0) -> str:
    """The hosts of the pages that are wished for, by their first letters."""
    with crawls_to_export(where) as crawls:
        return "".join(sorted(one.values["url"][7] for one in crawls[number].pages(["url"], wish or PageFilter())))


def test_each_page_comes_once_however_few_are_read_at_once(
    crew: Crew, where: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(crew, *"abcdefg")
    store(crew, *"xy", name="other")
    store(crew, *"hi")
    for rows, size in ((1, 10**6), (2, 10**6), (1_000, 10**6), (1_000, 1)):
        monkeypatch.setattr(reading, "ROWS_AT_ONCE", rows)
        monkeypatch.setattr(reading, "BYTES_AT_ONCE", size)
        assert [found(where, number=number) for number in (0, 1)] == ["abcdefghi", "xy"]


@ON_SQLITE
def test_the_values_are_those_of_the_items(crew: Crew, where: URL) -> None:
    images = [{"url": "http://a.example/蜂.png", "alt": 'a "bee"'}]
    more = {"text": "蜜蜂\n\U0001f41d", "markdown": "# Bees", "images": images, "link_score": 0.25}
    store(crew, "a", **more)
    with crawls_to_export(where) as (crawl,):
        (whole,) = crawl.pages(FIELDS, PageFilter())
        (written,) = crew.workers[0].records()
        assert (list(whole.values), whole.values) == (FIELDS, written)
        assert {name: whole.values[name] for name in more} == more
        assert whole.response is None
        (part,) = crawl.pages(["images", "status"], PageFilter())
        assert part.values == {"images": images, "status": 200}
        assert whole.key == crew.value(page.select().with_only_columns(page.c.key))


def test_a_response_comes_with_the_page_that_it_brought(crew: Crew, where: URL) -> None:
    store(crew, "a", "b", "c")
    with crew.engine.begin() as connection:
        for row in connection.execute(page.select()).all():
            if row.url[7] != "c":
                at = row.fetched_at if row.url[7] == "a" else "2020"  # the page was fetched again without it
                body = zstd.compress(RESPONSE.body, COMPRESSION_LEVEL)
                values = {"key": row.key, "crawl_id": row.crawl_id, "fetched_at": at, "body": body}
                connection.execute(
                    insert(stored_response).values(**values, status_line="HTTP/1.1 200 OK", headers='[["A", "b"]]')
                )
    with crawls_to_export(where) as (crawl,):
        come = {one.values["url"][7]: one.response for one in crawl.pages(["url"], PageFilter(), responses=True)}
    assert come == {"a": RESPONSE, "b": None, "c": None}


FIRST, SECOND, THIRD = (f"2026-11-{day}T00:00:00+00:00" for day in (20, 21, 22))


@pytest.fixture
def rounds(crew: Crew) -> Crew:
    """A crawl of three rounds: a, b and c were new in one each, a changed in the third, d in the second; e went
    in the second, f in the third, in which it was new too.
    """
    store(crew, *"abcdef", first_seen=FIRST)
    crew.change(update(page).values(first_round=1, first_seen=FIRST))
    know(crew, "b", first_round=2, first_seen=SECOND)
    know(crew, "c", first_round=3, first_seen=THIRD)
    know(crew, "a", changed_round=3, changed_at=THIRD)
    know(crew, "d", changed_round=2, changed_at=SECOND)
    know(crew, "e", gone_round=2, gone_at=SECOND)
    know(crew, "f", gone_round=3, gone_at=THIRD, first_round=3, first_seen=THIRD)
    crew.change(update(crawl).values(round=3))
    return crew


def test_what_became_of_pages_in_a_round_or_since(rounds: Crew, where: URL) -> None:
    for only, since, expected in (
        ("", None, "abcd"),
        ("new", None, "c"),
        ("changed", None, "a"),
        ("gone", None, "f"),
        ("", 1, "abcd"),
        ("", 2, "abcd"),
        ("", 3, "ac"),
        ("new", 2, "bc"),
        ("new", 1, "abcd"),
        ("changed", 2, "ad"),
        ("gone", 2, "ef"),
        ("gone", 3, "f"),
        ("", THIRD, "ac"),
        ("new", SECOND, "bc"),
        ("new", "2026-11-21T00:00:01+00:00", "c"),
        ("changed", FIRST, "ad"),
        ("gone", SECOND, "ef"),
        ("gone", "2026-11-23T00:00:00+00:00", ""),
    ):
        assert found(where, PageFilter(only, since)) == expected, (only, since)
    with crawls_to_export(where) as (crawl,):
        assert crawl.page_counts() == PageCounts(6, 2)
        assert crawl.round == 3


def test_places(crew: Crew, where: URL) -> None:
    store(crew, *"abcd", language="en")
    know(crew, "b", language="zh")
    know(crew, "c", url="http://c.B.example/")
    know(crew, "d", language="zh", url="http://d.example:80/b.example/a.example")
    for places, expected in (
        ([LanguageOrSite(language="zh")], "bd"),
        ([LanguageOrSite(language="de")], ""),
        ([LanguageOrSite(language="", site="example")], "abcd"),
        ([LanguageOrSite(language="", site="a.example")], "a"),
        ([LanguageOrSite(language="", site="b.example")], "bc"),
        ([LanguageOrSite(language="", site="b_example")], ""),
        ([LanguageOrSite(language="", site="d.example")], "d"),
        ([LanguageOrSite(language="", site="d.example:80")], "d"),
        ([LanguageOrSite(language="zh", site="b.example")], "b"),
        ([LanguageOrSite(language="zh", site="b.example"), LanguageOrSite(language="en", site="a.example")], "ab"),
        ([LanguageOrSite(language="zh", site="a.example"), LanguageOrSite(language="en", site="b.example")], "c"),
        ([LanguageOrSite(language="zh"), LanguageOrSite(language="", site="a.example")], "abd"),
    ):
        assert found(where, PageFilter(places=tuple(places))) == expected, places


@ON_SQLITE
def test_a_page_without_a_language_is_of_none(crew: Crew, where: URL) -> None:
    store(crew, "a")
    assert [
        found(where, PageFilter(places=(one,)))
        for one in (LanguageOrSite(language="en"), LanguageOrSite(site="example"))
    ] == [
        "",
        "a",
    ]


def taking(pages: Iterator[StoredPage], count: int) -> str:
    return "".join(next(pages).values["url"][7] for _ in range(count))


def test_a_crawl_goes_on_while_pages_are_handed_on(
    crew: Crew, engine: Engine, where: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "ROWS_AT_ONCE", 2)
    store(crew, *"abcdef")
    with engine.connect() as connection:  # as they were stored, which is as the database handed them out
        order = "".join(url[7] for url in connection.execute(select(page.c.url).order_by(page.c.id)).scalars())
    with crawls_to_export(where) as (crawl,):
        pages = crawl.pages(["url"], PageFilter())
        first = taking(pages, 1)
        check_no_transaction(crawl, where)
        store(crew, *"xyz")
        crew.change(delete(page).where(page.c.url == f"http://{order[-1]}.example/"))
        know(crew, order[-2], title="Changed meanwhile")
        rest = "".join(one.values["url"][7] for one in pages)
    assert first + rest == order[:-1]


def check_no_transaction(crawl: StoredPages, where: URL) -> None:
    """See that who reads keeps nobody from clearing away what is no longer needed."""
    if where.drivername == "sqlite":
        file = open_sqlite(where)
        busy, _, _ = file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        file.close()
        assert not busy
        return
    with postgres.connect(where.render_as_string(hide_password=False)) as connection:
        asked = "SELECT state FROM pg_stat_activity WHERE application_name = 'winnow state'"
        last = time.monotonic() + PATIENCE  # the server's part of those who have gone may end after them
        while (states := connection.execute(asked).fetchall()) != [("idle",)] and time.monotonic() < last:
            time.sleep(0.02)
        assert states == [("idle",)]


def test_there_is_no_crawl_where_none_was_run(sqlite_url: URL) -> None:
    with crawls_to_export(sqlite_url) as crawls:
        assert crawls == []
    assert not reading.exists(sqlite_url)


@ON_SQLITE
def test_a_crawl_without_a_page_has_none(crew: Crew, where: URL) -> None:
    crew.join().leave()
    with crawls_to_export(where) as (crawl,):
        assert crawl.page_counts() == PageCounts(0, 0)
        assert list(crawl.pages(["url"], PageFilter())) == []


@ON_SQLITE
def test_a_database_of_another_release_is_refused(crew: Crew, where: URL) -> None:
    crew.join().leave()
    crew.change(update(version).values(version=version.c.version + 1))
    try:
        with (
            pytest.raises(StateError, match=rf"\b{newest_version() + 1}\b.*\b{newest_version()}\b"),
            crawls_to_export(where),
        ):
            pass
    finally:
        crew.change(update(version).values(version=version.c.version - 1))


def test_a_place_is_a_language_a_site_or_both() -> None:
    rows = [
        ("zh", LanguageOrSite(language="zh")),
        ("ZH", LanguageOrSite(language="zh")),
        ("localhost", LanguageOrSite(language="", site="localhost")),
        ("127.0.0.1:8000", LanguageOrSite(language="", site="127.0.0.1:8000")),
        ("[::1]:8000", LanguageOrSite(language="", site="[::1]:8000")),
        ("en/News.Example.org", LanguageOrSite(language="en", site="news.example.org")),
        ("en/zh", LanguageOrSite(language="en", site="zh")),
    ]
    for given, expected in rows:
        assert place_of(given) == expected


def test_what_is_no_place_and_no_time_is_refused() -> None:
    wrong_places = ["", "/", "zh/", "/example.org", "http://example.org", "a b.example", "a." * 130 + "de", "x" * 1_000]
    wrong_times = ["", "0", "-1", "yesterday", "2026-02-30", "0001-01-01T00:00+10:00", "12345678"]
    for read, values in ((place_of, wrong_places), (since_of, wrong_times)):
        for value in values:
            with pytest.raises(ValueError, match=re.escape(repr(value[:100])[:-1])) as error:
                read(value)
            assert len(str(error.value)) < 400
            assert "\n" not in str(error.value)


def test_since() -> None:
    for text, expected in (
        ("1", 1),
        ("1234567", 1234567),
        ("2026-11-22T12:00:00Z", "2026-11-22T12:00:00+00:00"),
    ):
        assert since_of(text) == expected
