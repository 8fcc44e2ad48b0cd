"""The order in which pages became new, changed or gone: with each change a page gets a new, larger offset.

A page has the offset of its last change only, so that whoever reads the changes after an offset reads each page once.

On PostgreSQL, a transaction with smaller offsets may be committed after one with larger offsets. Whoever reads between
the two and then continues after the larger offset would miss the smaller. So readers first wait for the transactions
that may have drawn smaller offsets: each of them holds a lock on the table from before it draws until it ends. Writers
wait for nobody. SQLite has one writer at a time.
"""

import time
from collections.abc import Collection

from sqlalchemy import Connection, bindparam, delete, insert, select, text

from crawler.store.database import DatabaseUnavailableError, in_chunks
from crawler.store.page_tables import page, page_change

POLL = 0.02  # seconds
LONGEST_WAIT = 60.0
WRITERS = text(
    "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND relation = CAST('page_change' AS regclass)"
)
"""The transactions of PostgreSQL that have written to the table and have not ended."""
LAST_DRAWN = {
    "sqlite": text("SELECT seq FROM sqlite_sequence WHERE name = 'page_change'"),
    # A role that may read tables alone sees no last value of a sequence, but sees the offsets in use.
    "postgresql": text(
        'SELECT greatest((SELECT max("offset") FROM page_change), (SELECT last_value FROM pg_sequences '
        "WHERE format('%I.%I', schemaname, sequencename) = pg_get_serial_sequence('page_change', 'offset')))"
    ),
}
"""The last offset that was drawn, by database; its page may have been deleted since."""


DELETE_CHANGES = delete(page_change).where(page_change.c.key.in_(bindparam("keys", expanding=True)))
_changed_pages = select(page.c.key, page.c.crawl_id).where(page.c.key.in_(bindparam("keys", expanding=True)))
INSERT_CHANGES = insert(page_change).from_select(["key", "crawl_id"], _changed_pages.order_by(page.c.key))


def save_changes(connection: Connection, keys: Collection[int]) -> None:
    """Give pages new offsets. The transaction has locked the rows of these pages before, so it waits for no other."""
    for part in in_chunks(sorted(keys)):
        connection.execute(DELETE_CHANGES, {"keys": part})
        connection.execute(INSERT_CHANGES, {"keys": part})


def last_offset(connection: Connection, patience: float = LONGEST_WAIT) -> int:
    """The largest offset that any page ever had, also one that was deleted; 0 if there is none.

    A transaction that begins after this call sees all changes up to that offset.
    """
    offset = int(connection.execute(LAST_DRAWN[connection.dialect.name]).scalar() or 0)
    if connection.dialect.name == "postgresql":
        _wait(connection, time.monotonic() + patience)
    return offset


def _wait(connection: Connection, until: float) -> None:
    """Wait for the transactions that are writing now; raises a DatabaseUnavailableError if one takes too long."""
    writing = set(connection.execute(WRITERS).scalars())
    while writing := writing & set(connection.execute(WRITERS).scalars()):
        if time.monotonic() > until:
            raise DatabaseUnavailableError("a crawl is storing pages at the moment; try again")
        time.sleep(POLL)


def delete_unused(connection: Connection, crawl_id: int) -> None:
    """Delete the offsets of deleted pages."""
    there = select(page.c.id).where(page.c.key == page_change.c.key).exists()
    connection.execute(delete(page_change).where(page_change.c.crawl_id == crawl_id, ~there))
