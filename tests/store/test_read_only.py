"""Short looks at a database: bounded in time, and clear about what is not there."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from crawler.errors import NothingError, SlowError, StateError
from crawler.store.database import open_database
from crawler.store.read_only import limited_reading

LONG = {
    "sqlite": "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
    "postgresql": "SELECT pg_sleep(60)",
}


def test_what_takes_too_long_is_broken_off(engine: Engine) -> None:
    begun = time.monotonic()
    with pytest.raises(SlowError, match="took too long"), limited_reading(engine.url, 0.2) as connection:
        connection.execute(text(LONG[engine.dialect.name]))
    assert time.monotonic() - begun < 5


def test_a_lock_is_waited_for_no_longer(sqlite_url: URL) -> None:
    open_database(sqlite_url).dispose()
    with closing(sqlite3.connect(str(sqlite_url.database), isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        with pytest.raises(StateError, match="locked"), limited_reading(sqlite_url, 0.1):
            pass
        assert 0.05 < time.monotonic() - begun < 3


def test_nothing_is_changed(engine: Engine) -> None:
    with pytest.raises(StateError, match="cannot be read"), limited_reading(engine.url) as connection:
        connection.execute(text("UPDATE winnow_state SET version = 99"))
    with limited_reading(engine.url) as connection:
        assert connection.execute(text("SELECT version FROM winnow_state")).scalar_one() != 99


def test_a_server_gives_one_process_to_a_look(postgresql_engine: Engine) -> None:
    with limited_reading(postgresql_engine.url) as connection:
        assert connection.execute(text("SHOW max_parallel_workers_per_gather")).scalar_one() == "0"
    with postgresql_engine.connect() as connection:
        assert connection.execute(text("SHOW max_parallel_workers_per_gather")).scalar_one() != "0"


def test_where_there_is_nothing(url: URL) -> None:
    with pytest.raises(NothingError), limited_reading(url):
        pass
    open_database(url).dispose()
    with limited_reading(url) as connection:
        assert connection.execute(text("SELECT count(*) FROM crawl")).scalar_one() == 0


def test_no_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(NothingError), limited_reading(URL.create("sqlite", database=str(tmp_path / "crawl.db"))):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_fails_is_a_sentence(engine: Engine) -> None:
    with pytest.raises(StateError, match="cannot be read") as said, limited_reading(engine.url) as connection:
        connection.execute(text("SELECT nothing FROM nowhere"))
    assert not isinstance(said.value, SQLAlchemyError)
    assert "\n" not in str(said.value)
