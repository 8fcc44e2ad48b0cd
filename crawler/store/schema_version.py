"""The version of the tables, and the steps from the tables of one release to those of the next.

A change of a released table needs a new step at the end of STEPS: a function that changes the tables and their rows
over a connection to either database. All steps that a database needs run in one transaction, during which no other
worker creates or changes tables.
"""

from collections.abc import Callable

from sqlalchemy import Connection, insert, inspect, select, text, update

from crawler.store import page_tables  # noqa: F401 - its tables are created with the others
from crawler.store.crawl_tables import tables, version

STEPS: tuple[Callable[[Connection], None], ...] = ()
"""The first is from version 1, the tables of release 0.1.0, to version 2."""


def newest_version() -> int:
    """The version of this release's tables."""
    return 1 + len(STEPS)


def found_version(connection: Connection) -> int | None:
    """The version of a database's tables; None if it has none."""
    if not inspect(connection).has_table(version.name):
        return None
    number: int = connection.execute(select(version.c.version)).scalar_one()
    return number


def make_tables(connection: Connection, current: int | None) -> None:
    """Create the tables, or bring tables of an earlier version to this release's version."""
    if current is None:
        tables.create_all(connection)
        connection.execute(insert(version).values(version=newest_version()))
    elif current < newest_version():
        if connection.dialect.name == "postgresql":  # a step may read a million pages, but should not wait for locks
            connection.execute(text("SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0"))
        for step in STEPS[current - 1 :]:
            step(connection)
        connection.execute(update(version).values(version=newest_version()))
