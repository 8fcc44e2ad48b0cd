"""The changes of a crawl as an index reads them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete, insert, update
from store_workers import Crew

import crawler
from crawler.contrib.index.changes import ChangeKind, OffsetError, changes
from crawler.errors import WrongUseError
from crawler.items import TYPES
from crawler.store.database import database_url, open_database
from crawler.store.page_changes import begin_epoch, save_changes
from crawler.store.page_tables import erasure, page
from crawler.urls.page_id import page_id

URLS = [f"https://example.org/{number}" for number in range(6)]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A database with one crawl of six pages, each of which changed in another way."""
    engine = open_database(database_url("", tmp_path))
    crew = Crew(engine, tmp_path)
    crew.join(name="bees")
    ways = ("new", "changed", "renewed", "changed", "new", "new")
    common = {"crawl_id": 1, "requested_url": "", "fetched_at": "2026", "status": 200, "depth": 0, "images": "[]"}
    with engine.begin() as connection:
        for key, (url, change) in enumerate(zip(URLS, ways, strict=True)):
            connection.execute(insert(page).values(common | {"key": key, "url": url, "change": change}))
            save_changes(connection, [key])
        connection.execute(update(page).where(page.c.key == 3).values(gone_at="2026"))
        connection.execute(update(page).where(page.c.key == 4).values(gone_at="2026", noindex=True))
        connection.execute(delete(page).where(page.c.key == 5))
        digest = page_id(URLS[5])
        connection.execute(insert(erasure).values(crawl_id=1, digest=digest, key=5, erased_at="2026"))
    yield engine
    crew.close()
    engine.dispose()


def test_each_change_has_its_kind_and_what_an_index_needs(engine: Engine, tmp_path: Path) -> None:
    found = list(changes(folder=tmp_path))
    assert [change.kind for change in found] == ["new", "changed", "renewed", "gone", "gone", "erased"]
    assert [change.url for change in found] == [*URLS[:5], ""]
    assert list(changes(folder=tmp_path, after=0)) == found
    assert [change.page_id for change in found] == [page_id(url) for url in URLS]
    items = [change.item for change in found]
    assert [item is not None and item["url"] for item in items] == [*URLS[:3], False, False, False]
    assert items[0] is not None
    assert items[0].keys() == TYPES.keys()


def test_a_reader_comes_back_with_any_offset(engine: Engine, tmp_path: Path) -> None:
    found = list(changes(folder=tmp_path))
    for number, change in enumerate(found):
        assert list(changes("bees", after=change.offset, folder=tmp_path)) == found[number + 1 :]


def test_several_threads_read_in_turns(engine: Engine, tmp_path: Path) -> None:
    reader = changes(folder=tmp_path)
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        turns = [executor.submit(next, reader, None).result() for executor in (*(first,) * 6, second)]
    assert turns == [*changes(folder=tmp_path), None]


def test_an_offset_of_another_database_is_an_error(engine: Engine, tmp_path: Path) -> None:
    last = list(changes(folder=tmp_path))[-1].offset
    with engine.begin() as connection:
        begin_epoch(connection)
        save_changes(connection, [1])
    after_the_next_start = list(changes(folder=tmp_path, after=last))
    assert [change.kind for change in after_the_next_start] == [ChangeKind.CHANGED]
    number, _, epoch = after_the_next_start[-1].offset.partition("-")
    assert epoch != last.partition("-")[2]
    for wrong in (f"{number}-{last.partition('-')[2]}", f"{int(number) + 1}"):
        with pytest.raises(OffsetError):
            list(changes(folder=tmp_path, after=wrong))


def test_wrong_arguments(engine: Engine, tmp_path: Path) -> None:
    for arguments in ({"name": "wasps"}, {"after": "-1"}, {"after": "x"}, {"tokens": 30}, {"state_url": "mysql://x/y"}):
        with pytest.raises(WrongUseError):
            list(changes(**{"folder": tmp_path, **arguments}))
    with pytest.raises(WrongUseError):
        list(changes(folder=tmp_path / "nowhere"))
    crew = Crew(engine, tmp_path / "more")
    crew.join(name="wasps")
    crew.close()
    with pytest.raises(WrongUseError):
        list(changes(folder=tmp_path))


def test_the_api_names_it() -> None:
    assert crawler.changes is changes
