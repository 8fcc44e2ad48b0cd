"""The changes after an offset, in both databases: whoever reads them bit by bit ends up with what the crawl has."""

import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, delete, func, insert, make_url, select, update
from sqlalchemy.engine import URL
from store_workers import Crew, candidates, stored
from test_rounds import A, B, again, checked, first_round

from crawler.errors import DatabaseUnavailableError, WrongUseError
from crawler.items import TYPES
from crawler.recrawl.page_history import GONE_AFTER, PageChange
from crawler.reports import stored_pages
from crawler.reports.stored_pages import PageFilter, crawls_to_export
from crawler.store.crawl_tables import crawl
from crawler.store.database import open_database
from crawler.store.deletion import delete_crawl, delete_old_pages, vacuum
from crawler.store.page_changes import ChangeOffset, begin_epoch, last_offset, save_changes
from crawler.store.page_tables import change_epoch, page, page_change

URLS = [f"http://{letter}.example/" for letter in "abcdefghij"]


class Index:
    """An index downstream, which reads only what is new."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self.offset = ChangeOffset(0)
        self.pages: dict[str, Mapping[str, Any]] = {}

    def read(self, most: int | None = None) -> list[tuple[str, str]]:
        """Read some changes, or all; returns the addresses and how they changed."""
        seen = []
        with crawls_to_export(self.url) as (crawl, *_):
            for page in islice(crawl.changes([*TYPES], self.offset), most):
                values = page.values
                offset = ChangeOffset.of(values["offset"])
                assert offset.number > self.offset.number
                self.offset = offset
                seen.append((values["url"], values["change"]))
                self.pages.pop(values["url"], None)
                if values["change"] != "gone":
                    self.pages[values["url"]] = {name: values[name] for name in TYPES}
        return seen

    def check(self) -> None:
        """See that it has what an export of all pages has."""
        with crawls_to_export(self.url) as (crawl, *_):
            assert self.pages == {one.values["url"]: one.values for one in crawl.pages([*TYPES], PageFilter())}


@pytest.fixture
def index(engine: Engine) -> Index:
    return Index(engine.url)


def look(crew: Crew, **found: PageChange) -> None:
    """A round in which pages are found so, by the letters of their hosts; the others are unchanged."""
    worker = again(crew, everything=True)
    leases = worker.claim()
    results = [found.get(one.candidate.url[7], PageChange.SAME) for one in leases]
    worker.end(*(checked(one, what, text=f"{what} {one.id}") for one, what in zip(leases, results, strict=True)))
    worker.commit(idle=True)
    worker.leave()


def test_each_change_comes_once(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(*URLS[:4]))
    assert sorted(index.read()) == [(url, "new") for url in URLS[:4]]
    index.check()
    assert index.read() == []
    look(crew, a=PageChange.CHANGED, b=PageChange.RENEWED, c=PageChange.MISSING)
    assert sorted(index.read()) == [(URLS[0], "changed"), (URLS[1], "renewed")]
    index.check()
    for _ in range(GONE_AFTER - 1):
        look(crew, c=PageChange.MISSING)
    assert index.read() == [(URLS[2], "gone")]
    index.check()
    look(crew, c=PageChange.MISSING)
    assert index.read() == []
    look(crew)  # it is back, and as it was
    assert index.read() == [(URLS[2], "new")]
    index.check()


def test_a_page_that_changes_often_comes_once(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(*URLS[:3]))
    look(crew, a=PageChange.CHANGED, b=PageChange.CHANGED)
    look(crew, a=PageChange.CHANGED)
    assert [url for url, _ in index.read()] == [URLS[2], URLS[1], URLS[0]]
    index.check()


def test_reading_may_break_off_anywhere(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    first_round(crew, *candidates(*URLS))
    for rows, most in ((1, 1), (2, 1), (1_000, 1), (1, 3), (2, 3), (1_000, 3)):
        monkeypatch.setattr(stored_pages, "ROWS_AT_ONCE", rows)
        index = Index(crew.engine.url)
        while index.read(most):
            pass
        index.check()
        assert len(index.pages) == len(URLS)


def test_each_crawl_has_changes_of_its_own(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(A))
    other = crew.join(*candidates(B), name="other", folder="other")
    other.end(*(stored(one) for one in other.claim()))
    assert index.read() == [(A, "new")]


def test_an_offset_of_another_database_is_refused(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(A))
    index.read()
    index.offset = replace(index.offset, number=index.offset.number + 1)
    with pytest.raises(WrongUseError):
        index.read()


def test_an_offset_stays_valid_in_later_epochs(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(A, B))
    index.read(1)
    look(crew, a=PageChange.CHANGED, b=PageChange.CHANGED)
    index.read(1)
    look(crew, b=PageChange.CHANGED)
    index.read()
    index.check()


def test_an_offset_from_after_the_backup_of_a_restored_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "crawl.db"
    backup = tmp_path / "backup.db"
    engine = open_database(make_url(f"sqlite:///{file}"))
    crew = Crew(engine, tmp_path)
    index = Index(engine.url)
    first_round(crew, *candidates(*URLS[:4]))
    index.read()
    before_backup = index.offset
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(backup)) as copy:
        source.backup(copy)
    look(crew, a=PageChange.CHANGED)
    index.read()
    crew.close()
    engine.dispose()
    for path in tmp_path.glob("crawl.db*"):
        path.unlink()
    backup.rename(file)
    restored_engine = open_database(make_url(f"sqlite:///{file}"))
    restored = Crew(restored_engine, tmp_path)
    with pytest.raises(WrongUseError):  # it is larger than any offset
        index.read()
    look(restored, b=PageChange.CHANGED, c=PageChange.CHANGED)
    with pytest.raises(WrongUseError):  # it is the offset of another change
        index.read()
    index.offset = before_backup
    assert sorted(index.read()) == [(URLS[1], "changed"), (URLS[2], "changed")]
    restored.close()
    restored_engine.dispose()


def test_offsets_are_not_reused(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(A, B))
    index.read()
    crew.change(delete(page_change))
    look(crew, a=PageChange.CHANGED)
    assert sorted(index.read()) == [(A, "changed"), (B, "changed")]


def test_pages_are_deleted_with_their_offsets(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(A, B))
    crew.change(update(page).where(page.c.url == A).values(fetched_at="2020", checked_at=0.0))
    assert delete_old_pages(index.url, "2021-01-01T00:00:00+00:00") == 1
    assert index.read() == [(B, "new")]
    assert crew.value(select(page_change.c.key)) == crew.value(select(page.c.key))
    for one in crew.workers:
        one.session.close()
    delete_crawl(index.url, "crawl")
    with crew.engine.connect() as connection:
        assert connection.execute(select(page_change)).all() == []


def test_an_offset_stays_valid_when_its_page_is_deleted(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(A, B))
    index.read()
    crew.change(update(page).values(fetched_at="2020", checked_at=0.0))
    assert delete_old_pages(index.url, "2021-01-01T00:00:00+00:00") == 2
    assert index.read() == []
    vacuum(index.url)
    assert index.read() == []
    index.offset = replace(index.offset, number=index.offset.number + 1)
    with pytest.raises(WrongUseError):
        index.read()


def test_an_offset_stays_valid_when_another_crawl_is_deleted(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(A))
    other = crew.join(*candidates(B), name="other", folder="other")
    other.end(*(stored(lease) for lease in other.claim()))
    other.commit(idle=True)
    with crew.engine.connect() as connection:
        index.offset = ChangeOffset(last_offset(connection))
    other.leave()
    other.session.close()
    delete_crawl(index.url, "other")
    assert index.read() == []


def test_the_offsets_of_a_deleted_crawl_are_not_those_of_the_next_one_of_its_name(crew: Crew, index: Index) -> None:
    first_round(crew, *candidates(A, B))
    index.read()
    for number in (0, 1):
        index.pages = {}
        crew.workers[-1].session.close()
        delete_crawl(index.url, "crawl")
        first_round(crew, *candidates(A))
        if number:
            look(crew, a=PageChange.CHANGED)
        with pytest.raises(WrongUseError):
            index.read()
        index.offset = ChangeOffset(0)
        assert index.read() == [(A, ("new", "changed")[number])]
        assert index.read() == []
        index.check()


# Transactions that are committed in another order than they draw their offsets.


@contextmanager
def writing(engine: Engine, crawl_id: int, key: int) -> Iterator[Connection]:
    """A transaction that stores a page, and has drawn its offset."""
    url = f"http://a.example/{key}"
    row = {"key": key, "crawl_id": crawl_id, "url": url, "requested_url": url, "fetched_at": "2026", "status": 200}
    with engine.begin() as connection:
        connection.execute(insert(page), row | {"depth": 0, "images": "[]"})
        save_changes(connection, [key])
        yield connection


def test_two_epochs_may_begin_at_once(postgresql_engine: Engine) -> None:
    begun = threading.Event()

    def begin_second() -> None:
        with postgresql_engine.begin() as connection:
            begun.set()
            begin_epoch(connection)

    second = threading.Thread(target=begin_second)
    with postgresql_engine.begin() as connection:
        begin_epoch(connection)
        second.start()
        assert begun.wait(10)
        time.sleep(0.1)  # until the second one waits for the row of the first
    second.join()
    with postgresql_engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(change_epoch)).scalar_one() == 1


@pytest.fixture
def crawl_id(postgresql_engine: Engine) -> int:
    with postgresql_engine.begin() as connection:
        made = insert(crawl).values(name="bees", seeds="[]", started_at=0.0).returning(crawl.c.id)
        return int(connection.execute(made).scalar_one())


def test_a_late_commit_is_not_missed(postgresql_engine: Engine, crawl_id: int) -> None:
    index, seen = Index(postgresql_engine.url), []
    engines = [open_database(postgresql_engine.url) for _ in range(2)]
    reader = threading.Thread(target=lambda: seen.extend(index.read()))
    with writing(engines[0], crawl_id, 1) as late:
        with writing(engines[1], crawl_id, 2):
            pass
        reader.start()
        reader.join(0.5)
        assert reader.is_alive()  # a larger offset is committed, and a smaller one is not
        late.commit()
        reader.join(10.0)
    assert [url[-1] for url, _ in seen + index.read()] == ["1", "2"]
    for engine in engines:
        engine.dispose()


def test_who_writes_for_too_long_is_named(postgresql_engine: Engine, crawl_id: int) -> None:
    writer = open_database(postgresql_engine.url)
    with (
        writing(writer, crawl_id, 1),
        postgresql_engine.connect() as connection,
        pytest.raises(DatabaseUnavailableError),
    ):
        last_offset(connection, patience=0.1)
    with postgresql_engine.connect() as connection:
        assert last_offset(connection, patience=0.1) > 0
    writer.dispose()


def test_nothing_is_missed_beside_several_writers(postgresql_engine: Engine, crawl_id: int) -> None:
    def write(number: int) -> None:
        engine = open_database(postgresql_engine.url)
        for turn in range(25):
            with writing(engine, crawl_id, 1 + number + 4 * turn):
                time.sleep(0.02 * number)
        engine.dispose()

    index = Index(postgresql_engine.url)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for one in writers:
        one.start()
    while any(one.is_alive() for one in writers):
        index.read()
    index.read()
    assert len(index.pages) == 100
