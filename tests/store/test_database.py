"""Which database is meant, and what is said when it will not do."""

import sqlite3
from errno import EACCES, EDQUOT, EIO, ENOENT, ENOSPC
from pathlib import Path

import postgres
import pytest
from sqlalchemy import inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError

from crawler.errors import DatabaseUnavailableError, StateError
from crawler.store import database
from crawler.store.crawl_tables import tables, version
from crawler.store.database import database_url, display_url, error_message, is_transient, open_database
from crawler.store.schema_version import newest_version

ALLOWED = "setting STATE_URL is wrong; allowed are sqlite:///FILE and postgresql"


def test_urls() -> None:
    rows = [
        ("", "sqlite:///output/crawl.db"),
        ("sqlite:///a.db", "sqlite:///a.db"),
        ("sqlite:////tmp/a.db", "sqlite:////tmp/a.db"),
        ("postgresql+psycopg://me:secret@host/db", "postgresql+psycopg://me:secret@host/db"),
        ("postgresql+psycopg://host:5433/db?sslmode=require", "postgresql+psycopg://host:5433/db?sslmode=require"),
    ]
    for setting, expected in rows:
        assert database_url(setting, Path("output")).render_as_string(hide_password=False) == expected


def test_wrong_urls() -> None:
    rows = [
        "crawl.db",
        "sqlite",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite+pysqlite:///a.db",
        "postgresql://me:secret@host/db",
        "postgresql+psycopg2://me:secret@host/db",
        "postgresql+psycopg://me:secret@host:port/db",
        "postgresql+psycopg://me:s@secret/x@host/db",
        "sqlite:///file:a.db?uri=true&mode=memory",
        "mysql://me:secret@host/db",
        "http://me:secret@host/",
        "//",
    ]
    for setting in rows:
        with pytest.raises(StateError) as caught:
            database_url(setting, Path())
        assert str(caught.value).startswith(ALLOWED)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("sqlite:///a.db", "a.db"),
        ("postgresql+psycopg://me:secret@host/db", "postgresql+psycopg://me:***@host/db"),
        ("postgresql+psycopg://me@host/db", "postgresql+psycopg://me@host/db"),
    ],
)
def test_a_database_is_shown(setting: str, expected: str) -> None:
    assert display_url(database_url(setting, Path())) == expected


@pytest.mark.parametrize("where", ["me:secret@127.0.0.1:1/db", "me@127.0.0.1:1/db?password=secret"])
def test_a_password_is_never_shown(where: str) -> None:
    url = database_url(f"postgresql+psycopg://{where}", Path())
    with pytest.raises(StateError, match=r"postgresql.*me.*@127.0.0.1:1/db") as caught:
        open_database(url)
    assert "secret" not in str(caught.value) + display_url(url)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    path.write_text("no database " * 1_000)
    with pytest.raises(StateError, match=r"crawl.db .*: file is not a database$"):
        open_database(database_url("", tmp_path))
    assert path.read_text().startswith("no database")


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"crawl.db .*: (Not a directory|File exists)$"):
        open_database(database_url("", tmp_path / "file"))


def test_the_folder_of_a_database_is_made(tmp_path: Path) -> None:
    open_database(database_url("", tmp_path / "a" / "b")).dispose()
    assert (tmp_path / "a" / "b" / "crawl.db").exists()


def test_a_locked_database_is_said_to_be(sqlite_url: URL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.05)
    open_database(sqlite_url).dispose()
    other = sqlite3.connect(str(sqlite_url.database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StateError, match="database is locked"):
        open_database(sqlite_url)
    other.close()


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("postgres@127.0.0.1:1/db", DatabaseUnavailableError),
        ("postgres@127.0.0.1:{}/none", StateError),
        ("me@127.0.0.1:{}/none", StateError),
    ],
)
def test_a_server_that_is_away_may_come_back(postgres_server: postgres.Server, where: str, kind: type) -> None:
    with pytest.raises(StateError) as caught:
        open_database(make_url(f"postgresql+psycopg://{where.format(postgres_server.port)}"))
    assert type(caught.value) is kind


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_hold_every_letter_is_refused(postgres_server: postgres.Server, encoding: str) -> None:
    url = make_url(postgres_server.database())
    name = f"as_{encoding.lower()}"
    with postgres.connect(url.render_as_string()) as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StateError, match=rf" {encoding}; .* createdb -E UTF8 -T template0$"):
        open_database(url.set(database=name))


def test_options_of_the_address_count(postgresql_url: URL) -> None:
    with postgres.connect(postgresql_url.render_as_string()) as connection:
        connection.execute("CREATE SCHEMA winnow")
    engine = open_database(postgresql_url.update_query_dict({"options": "-csearch_path=winnow"}))
    with engine.connect() as connection:
        assert connection.execute(text("SHOW search_path")).scalar_one() == "winnow"
        assert connection.execute(text("SHOW jit")).scalar_one() == "off"
    assert inspect(engine).has_table("address", schema="winnow")
    engine.dispose()


# What is said of errors.


def test_why() -> None:
    rows = [
        (ValueError("gone\n  away"), "gone away"),
        (OperationalError("SELECT secret", {"a": 1}, Exception("no such\ntable")), "no such table"),
        (OSError(ENOSPC, "No space left on device", "/a/b"), "/a/b cannot be written to: No space left on device"),
        (ValueError("x" * 999), "x" * 300),
    ]
    for error, expected in rows:
        assert error_message(error) == expected


def of_sqlite(number: int) -> Exception:
    error = sqlite3.OperationalError()
    error.sqlite_errorcode = number
    return error


def of_postgresql(state: str) -> Exception:
    error = Exception()
    error.sqlstate = state  # type: ignore[attr-defined]
    return error


def test_what_passes() -> None:
    rows = [
        (OperationalError("", {}, Exception()), True),
        (DBAPIError("", {}, Exception(), connection_invalidated=True), True),
        (OperationalError("", {}, of_sqlite(5)), True),
        (OperationalError("", {}, of_sqlite(517)), True),
        (OperationalError("", {}, of_sqlite(13)), True),
        (OperationalError("", {}, of_sqlite(1)), False),
        (OperationalError("", {}, of_postgresql("40001")), True),
        (OperationalError("", {}, of_postgresql("53100")), True),
        (OperationalError("", {}, of_postgresql("57014")), True),
        (OperationalError("", {}, of_postgresql("54000")), False),
        (DBAPIError("", {}, Exception()), False),
        (IntegrityError("", {}, Exception()), False),
        (DataError("", {}, Exception()), False),
        (OSError(ENOSPC, ""), True),
        (OSError(EDQUOT, ""), True),
        (OSError(EIO, ""), True),
        (OSError(EACCES, ""), False),
        (OSError(ENOENT, ""), False),
        (ValueError(), False),
    ]
    for error, expected in rows:
        assert is_transient(error) == expected


# Making the tables.


def test_a_new_database_has_the_tables(url: URL) -> None:
    for _ in range(2):
        engine = open_database(url)
        assert set(inspect(engine).get_table_names()) == set(tables.tables)
        with engine.connect() as connection:
            assert connection.execute(version.select()).scalars().all() == [newest_version()]
        engine.dispose()
