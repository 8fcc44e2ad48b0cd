"""The connection to SQLite or PostgreSQL: opening it, retries after it is lost, and SQL that all modules share."""

import json
import re
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EAGAIN, EDQUOT, EINTR, EIO, ENOSPC
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event, func, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError, SQLAlchemyError

from crawler.errors import DatabaseUnavailableError, StateError, WrongUseError
from crawler.store.schema_version import found_version, make_tables, newest_version
from crawler.translation.message import N_

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

DRIVERS = ("sqlite", "postgresql+psycopg")
NO_DRIVER = "PostgreSQL must be installed for: python -m pip install '.[postgres]'"
LOCK_SECONDS = 5.0  # how long a statement waits for another program's lock before it is retried
# The number of PostgreSQL's advisory lock that lets one worker at a time change tables; any number will do.
TABLES_LOCK = 8460
ENCODING = {"client_encoding": "utf8"}
STATEMENT_SECONDS = 60  # how long PostgreSQL may take for a statement, or wait for the next one in a transaction
CACHE_KILOBYTES = 16_000  # of SQLite's cache; the operating system caches the rest of the file
SQLITE_TRANSIENT = frozenset((5, 6, 7, 8, 10, 13, 14, 15))
"""Codes of errors that may pass: a lock, or a full or failing disk (https://www.sqlite.org/rescode.html)."""
POSTGRESQL_TRANSIENT = ("08", "25P03", "40", "53", "55", "57", "58")
"""Prefixes of codes of errors that may pass: a lost connection, a conflict between transactions, a lack of resources,
a lock, an intervention of the operator, or a failing disk
(https://www.postgresql.org/docs/current/errcodes-appendix.html).
"""
REFUSED = re.compile(r"password|authentication|does not exist|pg_hba|resolve|translate host|permission|certificate")
"""Words in messages with which a server refuses connections: such errors do not pass, but have no codes."""


def database_url(setting: str, folder: Path) -> URL:
    """The URL of the database: the setting, or else the URL of a file in the output folder."""
    if not setting:
        return URL.create("sqlite", database=str(folder / "crawl.db"))
    try:
        url = make_url(setting)
        is_file = not url.query and url.database not in (None, "", ":memory:")
        is_supported = url.drivername in DRIVERS and (url.drivername != "sqlite" or is_file)
        # A sign @ in a password that is not escaped ends up in the name of the host.
        is_supported = is_supported and "@" not in f"{url.host}{url.database}"
    except (ArgumentError, ValueError):
        is_supported = False
    if not is_supported:
        raise StateError(
            "setting STATE_URL is wrong; allowed are sqlite:///FILE and postgresql+psycopg://USER:PASSWORD@HOST/DATABASE"
            " (in a password, @ : / ? # % are written as %40 %3A %2F %3F %23 %25)"
        )
    return url


def state_url(settings: "BaseSettings") -> URL:
    """The URL of the database that the settings name; raises a WrongUseError if they are wrong."""
    try:
        return database_url(settings["STATE_URL"], Path(settings["OUTPUT_DIR"]))
    except StateError as error:
        raise WrongUseError(error.message) from None


def display_url(url: URL) -> str:
    """The URL of a database without its password, for display."""
    if url.drivername == "sqlite":
        return str(url.database)
    return url.difference_update_query(["password", "sslpassword"]).render_as_string(hide_password=True)


def open_database(url: URL) -> Engine:
    """The database, with the tables of this release; raises a StateError if that is not possible."""
    try:
        if url.drivername == "sqlite":
            Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
        engine = _engine(url)
        try:
            with engine.begin() as connection:
                _lock_and_make_tables(connection, display_url(url))
        except BaseException:
            engine.dispose()
            raise
    except (NoSuchModuleError, ModuleNotFoundError):
        raise StateError(NO_DRIVER) from None
    except (SQLAlchemyError, OSError) as error:
        error_class = StateError
        if is_transient(error) and not REFUSED.search(error_message(error)):
            error_class = DatabaseUnavailableError
        reason = getattr(error, "strerror", None) or error_message(error)
        raise error_class(
            N_("the database {path} cannot be opened: {why}"), path=display_url(url), why=reason
        ) from None
    return engine


def error_message(error: Exception) -> str:
    """The database's own error message, in one line without the statement.

    >>> error_message(ValueError("gone\\n  away"))
    'gone away'
    """
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename} cannot be written to: {error.strerror}"
    return " ".join(str(getattr(error, "orig", None) or error).split())[:300]


def is_transient(error: Exception) -> bool:
    """Whether an error may pass: a lock, a full disk, a server that is unreachable."""
    if isinstance(error, OSError):
        return error.errno in (ENOSPC, EDQUOT, EIO, EAGAIN, EINTR)
    if not isinstance(error, DBAPIError):
        return False
    number = getattr(error.orig, "sqlite_errorcode", None)
    state = getattr(error.orig, "sqlstate", None)
    if number is not None:
        return number & 0xFF in SQLITE_TRANSIENT  # the higher bits are details of an extended code
    if state is not None:
        return error.connection_invalidated or state.startswith(POSTGRESQL_TRANSIENT)
    return error.connection_invalidated or isinstance(error, OperationalError)


@contextmanager
def database_errors(url: URL) -> Iterator[None]:
    """Raise a DatabaseUnavailableError in place of errors that may pass, and a StateError in place of all others."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        error_class = DatabaseUnavailableError if is_transient(error) else StateError
        raise error_class(
            N_("the database {path} cannot be used: {why}"), path=display_url(url), why=error_message(error)
        ) from error


def _engine(url: URL) -> Engine:
    if url.drivername == "sqlite":
        engine = create_engine(url, connect_args={"timeout": LOCK_SECONDS, "check_same_thread": False})
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    milliseconds = 1000 * STATEMENT_SECONDS
    # Statements on large tables look costly to PostgreSQL, which would compile them.
    options = f"-c jit=off -c statement_timeout={milliseconds} -c idle_in_transaction_session_timeout={milliseconds}"
    options_of_url = url.query.get("options", "")
    if not isinstance(options_of_url, str):
        options_of_url = " ".join(options_of_url)
    options = f"{options} {options_of_url}".strip()
    keepalive = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}
    arguments = {"connect_timeout": 10, "application_name": "winnow", "options": options, **keepalive, **ENCODING}
    return create_engine(url, pool_size=1, max_overflow=2, connect_args=arguments)


def _set_up_sqlite(connection, record) -> None:  # type: ignore[no-untyped-def]
    connection.isolation_level = None  # _begin_sqlite begins transactions
    for pragma in ("journal_mode = WAL", "synchronous = FULL", f"cache_size = -{CACHE_KILOBYTES}", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # IMMEDIATE takes the lock for writing now: otherwise another transaction could write between a read and a write of
    # this one (https://www.sqlite.org/lang_transaction.html).
    reading = connection.get_execution_options().get("reading")  # set by callers that write nothing
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def open_sqlite(url: URL, read_only: bool = False) -> sqlite3.Connection:
    """A connection to the file of a database, which must exist; without SQLAlchemy."""
    file_uri = f"{Path(str(url.database)).absolute().as_uri()}?mode=rw"
    # Several threads may read the rows of a generator in turns, as asynchronous programs do.
    file = sqlite3.connect(file_uri, uri=True, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    file.execute(f"PRAGMA query_only = {int(read_only)}")
    return file


def update_tables(connection: Connection, url: URL) -> bool:
    """Bring the tables to this release's version; returns whether there are any. Raises a StateError if they are newer.

    The connection is read-only. To change tables of an earlier release, its transaction is rolled back, and another
    connection is opened.
    """
    version_found = _known_version(connection, display_url(url))
    if version_found is not None and version_found < newest_version():
        connection.rollback()
        open_database(url).dispose()
    return version_found is not None


def _known_version(connection: Connection, name: str) -> int | None:
    """The version of a database's tables, None if it has none; raises a StateError if a newer release made them."""
    version_found = found_version(connection)
    newest = newest_version()
    if version_found is not None and version_found > newest:
        raise StateError(
            "the database {path} was made by a newer release of Winnow"
            " (its tables are version {n}; this one knows {newest})",
            path=name,
            n=version_found,
            newest=newest,
        )
    return version_found


def _lock_and_make_tables(connection: Connection, name: str) -> None:
    """Create the tables or bring them to this release's version, one worker at a time."""
    if connection.dialect.name == "postgresql":
        encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
        if encoding != "UTF8":
            raise StateError(
                "the database {path} has the encoding {encoding}; create it with createdb -E UTF8 -T template0",
                path=name,
                encoding=encoding,
            )
        connection.execute(text(f"SELECT pg_advisory_xact_lock({TABLES_LOCK})"))  # two workers may start at once
    make_tables(connection, _known_version(connection, name))


LAST_RETRY_SECONDS = 15.0  # how long a stopping crawl waits for an unreachable database
WAIT_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)  # between two attempts
T = TypeVar("T")


def with_retries(work: Callable[[], T], undo: Callable[[Exception], str], retry_seconds: Callable[[], float]) -> T:
    """The result of work, retried while the database is locked, full or unreachable.

    After each failure, `undo` prepares the next attempt and returns the reason of the failure. A StateError with that
    reason is raised if the error will not pass, or if `retry_seconds()` have passed since the first attempt.
    """
    began = time.monotonic()
    failures = 0
    while True:
        try:
            return work()
        except (DBAPIError, OSError) as error:
            reason = undo(error)
            if not is_transient(error) or time.monotonic() - began > retry_seconds():
                raise StateError(reason) from error
        time.sleep(WAIT_SECONDS[min(failures, len(WAIT_SECONDS) - 1)])
        failures += 1


def break_connection(connection: Any) -> None:
    """Break a driver's connection to a hung server, from another thread: the running statement then fails."""
    if hasattr(connection, "fileno"):  # only a connection to a server has it
        with suppress(Exception):  # the connection may be closed already
            connected = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
            with connected:
                connected.shutdown(socket.SHUT_RDWR)


PARAMETERS_AT_ONCE = 5_000
"""The most values of a list in one statement: databases limit the parameters of a statement."""


def dialect_insert(engine: Engine) -> Callable[..., Any]:
    """The INSERT of the database's dialect, which supports ON CONFLICT."""
    if engine.dialect.name == "sqlite":
        return sqlite.insert
    return postgresql.insert


@lru_cache(maxsize=100)  # more than there are tables with such statements
def replacing_insert(dialect: str, table: Table, columns: tuple[str, ...]) -> Any:
    """The INSERT of rows with these columns. A new row replaces the earlier row that has its `key`."""
    new = (sqlite if dialect == "sqlite" else postgresql).insert(table)
    renewed = {name: new.excluded[name] for name in columns if name != "key"}
    return new.on_conflict_do_update(index_elements=["key"], set_=renewed)


def in_chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Slices of a sequence that are short enough to be parameters of one statement."""
    return (values[start : start + PARAMETERS_AT_ONCE] for start in range(0, len(values), PARAMETERS_AT_ONCE))


def database_time(connection: Connection) -> float:
    """The time of the database's clock, which is the same for all workers."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())


def storable(text: str) -> str:
    """A text without the characters that PostgreSQL refuses: NUL and lone surrogates."""
    text = text.replace("\x00", "")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


UNCONVERTED_TYPES = (int, float, bytes, type(None))
"""Types of values that columns store without a conversion."""


def column_value(value: Any) -> Any:
    """A value as its column stores it: a list or mapping as JSON, a text without characters that PostgreSQL refuses."""
    if isinstance(value, UNCONVERTED_TYPES):
        return value
    if isinstance(value, str):
        return storable(value)
    return storable(json.dumps(value, ensure_ascii=False))
