"""A table of requests in SQLite: which are known, which are done, and the data from which the others are restored.

All changes until `commit` are one transaction. The file is locked until the process ends in any way.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

LOCK_SECONDS = 1.0  # how long to wait for another process that is ending and still locks the file
SCHEMA = """
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS request (
    id INTEGER PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    is_filtered INTEGER NOT NULL,
    is_done INTEGER NOT NULL DEFAULT 0,
    data BLOB
);
CREATE INDEX IF NOT EXISTS request_fingerprint ON request (fingerprint);
BEGIN IMMEDIATE;
DELETE FROM request WHERE data IS NULL AND NOT is_done; -- these were in the memory of a process that has ended
"""


class RequestTable:
    """The requests of one crawl; those without data are in memory only."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._database = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
        self._database.executescript(SCHEMA)
        self.last_earlier_number = int(self._value("SELECT coalesce(max(id), 0) FROM request"))
        """The number of the last request that an earlier process added; 0 if there is none."""

    def add(self, fingerprint: bytes, data: bytes | None, *, is_filtered: bool) -> int:
        """Add a request; returns its number. If it `is_filtered`, later ones with its fingerprint are duplicates."""
        values = (fingerprint, is_filtered, data)
        added = self._database.execute("INSERT INTO request (fingerprint, is_filtered, data) VALUES (?, ?, ?)", values)
        return int(added.lastrowid or 0)

    def has(self, fingerprint: bytes) -> bool:
        """Whether a filtered request with this fingerprint was added."""
        query = "SELECT EXISTS (SELECT 1 FROM request WHERE fingerprint = ? AND is_filtered)"
        return bool(self._value(query, fingerprint))

    def has_earlier(self, fingerprint: bytes) -> bool:
        """Whether an earlier process added a request with this fingerprint."""
        query = "SELECT EXISTS (SELECT 1 FROM request WHERE fingerprint = ? AND id <= ?)"
        return bool(self._value(query, fingerprint, self.last_earlier_number))

    def data(self, number: int) -> bytes:
        """The data of a request."""
        return bytes(self._value("SELECT data FROM request WHERE id = ?", number))

    def waiting(self) -> Iterator[tuple[int, bytes]]:
        """The numbers and the data of requests that are not done, in the order in which they were added."""
        yield from self._database.execute("SELECT id, data FROM request WHERE NOT is_done ORDER BY id")

    def count_waiting(self) -> int:
        """How many requests are not done."""
        return int(self._value("SELECT count(*) FROM request WHERE NOT is_done"))

    def commit(self, done: Iterable[int]) -> None:
        """Mark these requests as done and drop their data; commit this and the requests that were added."""
        finish = "UPDATE request SET is_done = 1, data = NULL WHERE id = ?"
        self._database.executemany(finish, [(number,) for number in done])
        self._database.execute("COMMIT")
        self._database.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Close the file; uncommitted changes are lost."""
        self._database.close()

    def delete(self) -> None:
        """Close and delete the file."""
        self.close()
        self.path.unlink()

    def _value(self, query: str, *values: object) -> int | bytes:
        """The first value of the first row that a query returns."""
        row: tuple[int | bytes] = self._database.execute(query, values).fetchone()
        return row[0]
