"""The order in which pages became new, changed or gone: with each change a page gets a new, larger offset.

A page has the offset of its last change only, so that a reader of the changes after an offset reads each page once.

On PostgreSQL, a transaction with smaller offsets may be committed after one with larger offsets. A reader that reads
between the two, and then continues after the larger offset, would miss the smaller. So readers first wait for the
transactions that may have drawn smaller offsets: each transaction locks the table before it draws an offset, and
keeps the lock until it ends. Writers do not wait. SQLite has one writer at a time.

A database that is restored from a backup draws the offsets after the backup once more, for other changes. So each start
of a worker, each erasure and each cleaning of stored pages begins an epoch with a random token, and a reader continues
with an offset and the token of its epoch, such as `1234-5f0c9a7e`: after a restore, that offset belongs to another
epoch or was not drawn yet.
"""

import re
import secrets
import time
from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from sqlalchemy import Connection, bindparam, delete, insert, select, text

from crawler.errors import DatabaseUnavailableError
from crawler.store.database import dialect_insert, in_chunks
from crawler.store.page_tables import change_epoch, erasure, page, page_change

POLL_SECONDS = 0.02  # between two looks at the transactions that are writing
LONGEST_WAIT_SECONDS = 60.0  # for these transactions, by default
WRITERS = text(
    "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND relation = CAST('page_change' AS regclass)"
)
"""The transactions of PostgreSQL that have written to the table and have not ended."""
LAST_DRAWN = {
    "sqlite": text("SELECT seq FROM sqlite_sequence WHERE name = 'page_change'"),
    # A role that may only read tables cannot see the last value of a sequence, but it sees the offsets in use.
    "postgresql": text(
        'SELECT greatest((SELECT max("offset") FROM page_change), (SELECT last_value FROM pg_sequences '
        "WHERE format('%I.%I', schemaname, sequencename) = pg_get_serial_sequence('page_change', 'offset')))"
    ),
}
"""The last offset that was drawn, by database; its page may have been deleted since."""
DELETE_CHANGES = delete(page_change).where(page_change.c.key.in_(bindparam("keys", expanding=True)))
CHANGED_PAGES = select(page.c.key, page.c.crawl_id).where(page.c.key.in_(bindparam("keys", expanding=True)))
INSERT_CHANGES = insert(page_change).from_select(["key", "crawl_id"], CHANGED_PAGES.order_by(page.c.key))
"""Gives the pages the next offsets, which the table generates."""
LOCK_CHANGES = text("LOCK TABLE page_change IN SHARE MODE")
"""On PostgreSQL, waits for the transactions that have drawn offsets, and blocks further ones."""
OFFSET = re.compile(r"([0-9]{1,18})(?:-([0-9a-f]{8}))?")  # not \d, which matches digits of any script in pydantic


@dataclass(frozen=True, slots=True)
class ChangeOffset:
    """The position of a change in the order of all changes of a database."""

    number: int
    epoch: str = ""
    """The token of its epoch; empty for 0, and if it is not checked."""

    @classmethod
    def of(cls, text: str) -> Self:
        """The offset that a text denotes; raises a ValueError if it denotes none.

        >>> ChangeOffset.of("1234-5f0c9a7e"), str(ChangeOffset.of("0"))
        (ChangeOffset(number=1234, epoch='5f0c9a7e'), '0')
        """
        parts = OFFSET.fullmatch(text)
        if parts is None:
            raise ValueError(text)
        return cls(int(parts[1]), parts[2] or "")

    def __str__(self) -> str:
        if self.epoch:
            return f"{self.number}-{self.epoch}"
        return str(self.number)


@dataclass(frozen=True, slots=True)
class ChangeEpochs:
    """The epochs of a database, in order."""

    last_before: tuple[int, ...]
    """The last offset before each epoch."""
    tokens: tuple[str, ...]

    def offset(self, number: int) -> ChangeOffset:
        """The offset with this number.

        >>> epochs = ChangeEpochs((0, 7), ("aaaaaaaa", "bbbbbbbb"))
        >>> [str(epochs.offset(number)) for number in (0, 1, 7, 8)]
        ['0', '1-aaaaaaaa', '7-aaaaaaaa', '8-bbbbbbbb']
        """
        index = bisect_left(self.last_before, number)
        return ChangeOffset(number, self.tokens[index - 1] if index else "")

    def has(self, offset: ChangeOffset) -> bool:
        """Whether an offset may be one of this database."""
        return not offset.epoch or offset == self.offset(offset.number)


def change_epochs(connection: Connection) -> ChangeEpochs:
    """The epochs of a database. An epoch that begins later contains only offsets that are not drawn yet."""
    rows = connection.execute(select(change_epoch.c.after, change_epoch.c.token).order_by(change_epoch.c.after)).all()
    return ChangeEpochs(tuple(row.after for row in rows), tuple(row.token for row in rows))


def begin_epoch(connection: Connection) -> None:
    """Begin an epoch: all offsets that are drawn from now on have a new token.

    This needs a transaction of its own, which on PostgreSQL blocks the changes of other crawls until its commit.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(LOCK_CHANGES)
    last = last_drawn(connection)
    token = {"token": secrets.token_hex(4)}
    new_epoch = dialect_insert(connection.engine)(change_epoch).values(after=last, **token)
    # If the last epoch has no offsets yet, it gets a new token: a backup of the database may contain the old token.
    connection.execute(new_epoch.on_conflict_do_update(index_elements=["after"], set_=token))


def save_changes(connection: Connection, keys: Collection[int]) -> None:
    """Give pages new offsets. The transaction has already locked the rows of these pages, so it does not wait here."""
    for part in in_chunks(sorted(keys)):
        connection.execute(DELETE_CHANGES, {"keys": part})
        connection.execute(INSERT_CHANGES, {"keys": part})


def last_drawn(connection: Connection) -> int:
    """The largest offset that any page ever had, deleted pages included; 0 if there is none."""
    return int(connection.execute(LAST_DRAWN[connection.dialect.name]).scalar() or 0)


def last_offset(connection: Connection, patience: float = LONGEST_WAIT_SECONDS) -> int:
    """The largest offset that any page ever had, after a wait for the transactions that are writing now.

    A transaction that begins after this call sees all changes up to that offset. If the wait takes more than `patience`
    seconds, a DatabaseUnavailableError is raised.
    """
    offset = last_drawn(connection)
    if connection.dialect.name == "postgresql":
        _wait(connection, time.monotonic() + patience)
    return offset


def _wait(connection: Connection, until: float) -> None:
    """Wait for the transactions that are writing now, as later ones draw larger offsets.

    Raises a DatabaseUnavailableError if one of them is still writing at the time `until`.
    """
    writing = set(connection.execute(WRITERS).scalars())
    while writing := writing & set(connection.execute(WRITERS).scalars()):
        if time.monotonic() > until:
            raise DatabaseUnavailableError("a crawl is storing pages at the moment; try again")
        time.sleep(POLL_SECONDS)


def delete_unused_offsets(connection: Connection, crawl_id: int) -> None:
    """Delete the offsets of deleted pages, but not those of erased pages: readers must learn of an erasure."""
    has_page = select(page.c.id).where(page.c.key == page_change.c.key).exists()
    is_erased = select(erasure.c.key).where(erasure.c.key == page_change.c.key).exists()
    connection.execute(delete(page_change).where(page_change.c.crawl_id == crawl_id, ~has_page, ~is_erased))
