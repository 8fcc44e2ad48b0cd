"""A table of requests in SQLite: which are known, which are done, and the data to send the others again.

Everything happens in one transaction until `commit`. The file is locked until the process ends in any way.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

LOCK_SECONDS = 1.0  # for which another process that is ending may still lock the file
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
DELETE FROM request WHERE data IS NULL AND NOT is_done; -- in the memory of a process that has ended
"""


class RequestTable:
    """The requests of one crawl; those without data are in memory only."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._database = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
        self._database.executescript(SCHEMA)
        self.last_of_before = int(self._value("SELECT coalesce(max(id), 0) FROM request"))

    def add(self, fingerprint: bytes, is_filtered: bool, data: bytes | None) -> int:
        """The number of a new request."""
        values = (fingerprint, is_filtered, data)
        added = self._database.execute("INSERT INTO request (fingerprint, is_filtered, data) VALUES (?, ?, ?)", values)
        return int(added.lastrowid or 0)

    def has(self, fingerprint: bytes) -> bool:
        """Whether such a request is among those that are filtered."""
        query = "SELECT EXISTS (SELECT 1 FROM request WHERE fingerprint = ? AND is_filtered)"
        return bool(self._value(query, fingerprint))

    def had(self, fingerprint: bytes) -> bool:
        """Whether an earlier process added such a request."""
        query = "SELECT EXISTS (SELECT 1 FROM request WHERE fingerprint = ? AND id <= ?)"
        return bool(self._value(query, fingerprint, self.last_of_before))

    def data(self, number: int) -> bytes:
        return bytes(self._value("SELECT data FROM request WHERE id = ?", number))

    def waiting(self) -> Iterator[tuple[int, bytes]]:
        """The numbers and the data of requests that are not done, in the order in which they were added."""
        yield from self._database.execute("SELECT id, data FROM request WHERE NOT is_done ORDER BY id")

    def count_waiting(self) -> int:
        """How many requests are not done."""
        return int(self._value("SELECT count(*) FROM request WHERE NOT is_done"))

    def commit(self, done: Iterable[int]) -> None:
        """Commit what was added, and that these requests are done."""
        finish = "UPDATE request SET is_done = 1, data = NULL WHERE id = ?"
        self._database.executemany(finish, [(number,) for number in done])
        self._database.execute("COMMIT")
        self._database.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Close the file; uncommitted changes are lost."""
        self._database.close()

    def delete(self) -> None:
        self.close()
        self.path.unlink()

    def _value(self, query: str, *values: object) -> int | bytes:
        row: tuple[int | bytes] = self._database.execute(query, values).fetchone()
        return row[0]
