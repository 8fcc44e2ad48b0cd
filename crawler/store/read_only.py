"""Read-only access to the database; queries may have a time limit, so that they do not delay crawls.

There is one exception: if the tables are those of an earlier release, `exists` and `limited_reading` first bring them
to this release's version, over another connection.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    event,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from crawler.errors import NothingError, SlowError, StateError
from crawler.store.database import ENCODING, NO_DRIVER, display_url, error_message, open_sqlite, update_tables
from crawler.translation.message import N_

LIMIT_SECONDS = 2.0
"""Time limit of all queries over one limited connection together, by default."""
STEPS_BETWEEN_CHECKS = 20_000  # of SQLite's virtual machine between two checks of the clock: a few milliseconds
SQLITE_INTERRUPT = 9  # https://www.sqlite.org/rescode.html#interrupt
QUERY_CANCELED = "57014"  # https://www.postgresql.org/docs/current/errcodes-appendix.html
LIMITED_CONNECT_SECONDS = 3  # how long a server may take to accept a limited connection
CONNECT_SECONDS = 10  # how long it may take to accept any other connection
ONE_PROCESS = "SET LOCAL max_parallel_workers_per_gather = 0"  # no parallel processes for a query
NOTHING = N_("No crawl was ever run here.")
SLOW = N_("This took too long and was aborted.")


@contextmanager
def limited_reading(url: URL, seconds: float = LIMIT_SECONDS) -> Iterator[Connection]:
    """A read-only connection whose queries raise a SlowError once this many seconds have passed.

    Raises a NothingError if there is no database, or it has no tables.
    """
    if not may_exist(url):
        raise NothingError(NOTHING)
    with reading(url, LIMITED_CONNECT_SECONDS, one_process=True) as connection:
        _limit(connection, seconds)
        try:
            if not update_tables(connection, url):
                raise NothingError(NOTHING)
            if not connection.in_transaction():  # `update_tables` has rolled it back, which removes the limit
                _limit(connection, seconds)
            yield connection
        except OperationalError as error:
            number = getattr(error.orig, "sqlite_errorcode", None)
            state = getattr(error.orig, "sqlstate", None)
            if number == SQLITE_INTERRUPT or state == QUERY_CANCELED:
                raise SlowError(SLOW) from None
            raise


def _limit(connection: Connection, seconds: float) -> None:
    """Abort the queries of the connection's transaction once this many seconds have passed."""
    if connection.dialect.name == "sqlite":
        ends_at = time.monotonic() + seconds
        driver = connection.connection.driver_connection
        assert driver is not None  # noqa: S101 - it is open
        driver.execute(f"PRAGMA busy_timeout = {int(1_000 * seconds)}")
        driver.set_progress_handler(lambda: int(time.monotonic() > ends_at), STEPS_BETWEEN_CHECKS)
    else:
        connection.execute(text(f"SET LOCAL statement_timeout = {int(1_000 * seconds)}"))


def exists(url: URL) -> bool:
    """Whether the database has tables; brings them to this release's version if they are older.

    Raises a StateError if a newer release made them.
    """
    if not may_exist(url):
        return False
    with reading(url) as connection:
        return update_tables(connection, url)


def may_exist(url: URL) -> bool:
    """Whether the database may exist: a file if it is there; a server is not asked."""
    try:
        return url.drivername != "sqlite" or Path(str(url.database)).exists()
    except OSError as error:
        raise StateError(
            "the database {path} cannot be read: {why}", path=display_url(url), why=error.strerror
        ) from None


@contextmanager
def reading(url: URL, connect_seconds: int = CONNECT_SECONDS, *, one_process: bool = False) -> Iterator[Connection]:
    """A read-only connection that sees an existing database as of one moment.

    With `one_process`, PostgreSQL uses no parallel processes for its queries, as crawls are running at the same time.
    """
    try:
        engine = _reader(url, connect_seconds, one_process)
        with engine.connect() as connection:
            yield connection
    except (NoSuchModuleError, ModuleNotFoundError):
        raise StateError(NO_DRIVER) from None
    except SQLAlchemyError as error:
        raise StateError(
            "the database {path} cannot be read: {why}", path=display_url(url), why=error_message(error)
        ) from None


@lru_cache(maxsize=4)
def _reader(url: URL, connect_seconds: int, one_process: bool) -> Engine:
    """An engine for reading. It keeps compiled statements, as compiling takes longer than many queries, but no
    connection.
    """
    if url.drivername == "sqlite":
        engine = create_engine("sqlite://", creator=lambda: open_sqlite(url, read_only=True), poolclass=NullPool)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine
    arguments = {"connect_timeout": connect_seconds, "application_name": "winnow state", **ENCODING}
    engine = create_engine(url, isolation_level="REPEATABLE READ", poolclass=NullPool, connect_args=arguments)
    engine = engine.execution_options(postgresql_readonly=True)
    if one_process:
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(ONE_PROCESS))
    return engine
