"""The steps from the tables of one release to those of the next, on both databases."""

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, Engine, insert, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.schema import CreateIndex, CreateTable

from crawler.errors import StateError
from crawler.store import schema_version
from crawler.store.crawl_tables import crawl, tables
from crawler.store.database import open_database
from crawler.store.read_only import exists, limited_reading
from crawler.store.schema_version import newest_version

DIGESTS = {1: "14d00b14d213e0f7"}
"""What the tables of each version are, in the statements of both databases."""


def digest() -> str:
    """A short name of the tables as they are now, in whatever order their columns are."""
    found = []
    for dialect in (sqlite.dialect(), postgresql.dialect()):
        for table in tables.sorted_tables:
            for statement in (CreateTable(table), *map(CreateIndex, table.indexes)):
                lines = str(statement.compile(dialect=dialect)).splitlines()
                found.append(" ".join(sorted(line.strip(" \t,") for line in lines)))
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:16]


def test_a_change_of_tables_is_a_new_version() -> None:
    now, number = digest(), newest_version()
    assert now == DIGESTS.get(number), (
        f"The tables are not those of version {number}. If a release has this version, append a step to STEPS in "
        f"crawler/store/schema_version.py and write the digest {now} here as that of version {number + 1}. If no "
        f"release has it, change its step and its digest, and write the kept database anew if there is one of it: "
        "python tests/bench/kept_database.py"
    )


def opened(url: URL) -> int:
    """The version of a database's tables after it was opened."""
    engine = open_database(url)
    with engine.begin() as connection:
        found = schema_version.found_version(connection)
    engine.dispose()
    assert found is not None
    return found


def add_colour(connection: Connection) -> None:
    """A step that takes some time, in which another worker would do the same."""
    time.sleep(0.1)
    if connection.dialect.name == "postgresql":
        assert connection.execute(text("SHOW statement_timeout")).scalar_one() == "0"
    connection.execute(text("ALTER TABLE crawl ADD COLUMN colour TEXT NOT NULL DEFAULT 'green'"))
    connection.execute(text("UPDATE crawl SET colour = 'red' WHERE name = 'bees'"))


def add_size(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE crawl ADD COLUMN size INTEGER"))
    connection.execute(text("UPDATE crawl SET size = length(colour)"))


def fail(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE crawl ADD COLUMN shape TEXT"))
    connection.execute(text("UPDATE crawl SET nothing = 1"))


@pytest.fixture
def of_version_1(url: URL) -> URL:
    """A database of version 1 with two crawls."""
    engine = open_database(url)
    with engine.begin() as connection:
        connection.execute(
            insert(crawl), [{"name": name, "seeds": "[]", "started_at": 0.0} for name in ("bees", "wax")]
        )
        connection.execute(text("UPDATE winnow_state SET version = 1"))
    engine.dispose()
    return url


@pytest.fixture
def with_steps(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the steps from version 1 on."""
    return lambda *steps: monkeypatch.setattr(schema_version, "STEPS", steps)


def crawls(url: URL) -> list[tuple[object, ...]]:
    with limited_reading(url) as connection:
        return [tuple(row) for row in connection.execute(text("SELECT name, colour, size FROM crawl ORDER BY name"))]


def test_workers_that_start_at_once_change_the_tables_once(of_version_1: URL, with_steps: Callable[..., None]) -> None:
    with_steps(add_colour, add_size)
    with ThreadPoolExecutor(4) as workers:
        assert list(workers.map(opened, [of_version_1] * 4)) == [3] * 4
    assert crawls(of_version_1) == [("bees", "red", 3), ("wax", "green", 5)]


@pytest.mark.parametrize("read", [crawls, exists], ids=["limited_reading", "exists"])
def test_who_only_reads_changes_them_too(
    of_version_1: URL, with_steps: Callable[..., None], read: Callable[[URL], object]
) -> None:
    with_steps(add_colour, add_size)
    assert read(of_version_1)
    assert crawls(of_version_1) == [("bees", "red", 3), ("wax", "green", 5)]


def test_only_the_missing_steps_are_done(of_version_1: URL, with_steps: Callable[..., None]) -> None:
    with_steps(add_colour)
    assert opened(of_version_1) == 2
    with_steps(add_colour, add_size)
    assert opened(of_version_1) == 3
    with_steps(fail)  # another step for the first: it is done already
    with pytest.raises(StateError, match=r" 3;.* 2\)$"):
        opened(of_version_1)


def test_a_step_that_fails_changes_nothing(of_version_1: URL, with_steps: Callable[..., None]) -> None:
    with_steps(add_colour, fail)
    with pytest.raises(StateError, match="nothing"):
        opened(of_version_1)
    with_steps()
    assert opened(of_version_1) == 1
    engine = open_database(of_version_1)
    assert not {"colour", "shape"} & {column["name"] for column in inspect(engine).get_columns("crawl")}
    engine.dispose()


def test_a_database_of_a_newer_release_is_refused(engine: Engine) -> None:
    newer = newest_version() + 1
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE winnow_state SET version = {newer}"))
    words = rf"^the database .* was made by a newer release of Winnow \(its tables are version {newer}; this one knows "
    try:
        for use in (opened, exists, crawls):
            with pytest.raises(StateError, match=words):
                use(engine.url)
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"UPDATE winnow_state SET version = {newest_version()}"))
