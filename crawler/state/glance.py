"""A short look at the database: what takes longer is broken off, so that no crawl is held up."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

from crawler.state.database import StateError, has_tables, shown
from crawler.state.report import may_exist, reading

SECONDS = 2.0
STEPS = 20_000  # of SQLite's machine, between two looks at the clock: a few milliseconds
INTERRUPTED, CANCELED = 9, "57014"
CONNECT_SECONDS = 3  # that a server may take to let us in
NOTHING = "No crawl was ever run here."
SLOW = "This took too long and was broken off."


class SlowError(StateError):
    """What was asked took longer than it may."""


class NothingError(StateError):
    """There is no database yet, or nothing in it."""


@contextmanager
def glance(url: URL, seconds: float = SECONDS) -> Iterator[Connection]:
    """A connection that changes nothing, for so many seconds; then what it is asked is a SlowError."""
    if not may_exist(url):
        raise NothingError(NOTHING)
    with reading(url, CONNECT_SECONDS, one_process=True) as connection:
        until = time.monotonic() + seconds
        if connection.dialect.name == "sqlite":
            driver = connection.connection.driver_connection
            assert driver is not None  # noqa: S101 - it is open
            driver.execute(f"PRAGMA busy_timeout = {int(1_000 * seconds)}")
            driver.set_progress_handler(lambda: int(time.monotonic() > until), STEPS)
        else:
            connection.execute(text(f"SET LOCAL statement_timeout = {int(1_000 * seconds)}"))
        try:
            if not has_tables(connection, shown(url)):
                raise NothingError(NOTHING)
            yield connection
        except OperationalError as error:
            number, state = (getattr(error.orig, name, None) for name in ("sqlite_errorcode", "sqlstate"))
            if number == INTERRUPTED or state == CANCELED:
                raise SlowError(SLOW) from None
            raise
