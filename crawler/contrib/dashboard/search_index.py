"""A full-text index of the pages of each crawl, for words of two letters or more in every script.

The index is a separate SQLite file with a table (FTS5) for each crawl, whatever database has the state: crawls do not
pay for it and never wait for it. Texts are indexed by their bigrams with positions, so two letters or more are found as
a phrase. The trigrams of SQLite and PostgreSQL find no Chinese word of two characters; without positions nearly every
English page contains the bigrams of nearly every English word.

The dashboard builds the index when a user searches, in a thread, a few pages at a time, in the order in which they were
fetched. A pass begins an hour before the newest indexed page, because a page may be stored later than others that were
fetched after it. A changed page is indexed again under its number. A search checks the pages that the index names, so
an outdated entry costs the reading of a page and never appears in the result.
"""

import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from urllib.parse import unquote

import numpy as np
from sqlalchemy import func, select, tuple_
from sqlalchemy.engine import URL

from crawler.errors import StateError
from crawler.reports.search_file import search_file
from crawler.store.crawl_tables import crawl
from crawler.store.page_tables import page
from crawler.store.read_only import reading

logger = logging.getLogger(__name__)

AT_ONCE, SEEN_AT_ONCE = 100, 2_000
"""Pages that are read and indexed in one transaction, and pages that are checked for being new."""
OVERLAP = timedelta(hours=1)
"""How much later than another page one that was fetched before it may be stored."""
AGE, PATIENCE = 5.0, 0.5
"""Seconds after which new pages are looked for again, and that a search waits until they are indexed."""
SECONDS = 1.0
"""Seconds that a search in the index may take."""
STEPS = 20_000
LONGEST = 32
"""Letters of a word that are looked up; the pages found are checked for the whole word."""
# The tokenizer splits at each ASCII character that is not a letter or digit, so those are replaced.
IS_SIGN = np.array([not chr(code).isalnum() and code != ord(" ") for code in range(128)] + [False])
OTHER = 0xE000
TABLES = """
CREATE TABLE IF NOT EXISTS crawl (id INTEGER PRIMARY KEY, started_at REAL, fetched_at TEXT);
CREATE TABLE IF NOT EXISTS page (
    crawl_id INTEGER, id INTEGER, fetched_at TEXT, PRIMARY KEY (crawl_id, id)
) WITHOUT ROWID;
"""


def bigrams(text: str) -> str:
    """The case-folded bigrams of a text's words, as the index stores them.

    >>> bigrams("Äpfel 蜜蜂花 a")
    'äp pf fe el 蜜蜂 蜂花'
    """
    folded = " ".join(text.casefold().split()).encode("utf-32-le", "replace")
    letters = np.frombuffer(folded, np.uint32)
    letters = np.where(IS_SIGN[np.minimum(letters, 128)], letters + OTHER, letters)
    first = letters[:-1]
    second = letters[1:]
    pairs = np.stack([first, second, np.full_like(first, ord(" "))], axis=1)
    return str(pairs[(first != ord(" ")) & (second != ord(" "))].tobytes(), "utf-32-le").rstrip()


def address(url: str) -> str:
    """A readable address, in the form that is searched.

    >>> address("http://a.example/%E8%9C%9C%E8%9C%82")
    'http://a.example/蜜蜂'
    """
    return unquote(url) if "%" in url else url


class SearchIndex:
    """The search index in a file, for the pages of a database."""

    def __init__(
        self, url: URL, path: Path, age: float = AGE, at_once: int = AT_ONCE, seen_at_once: int = SEEN_AT_ONCE
    ) -> None:
        self.url = url
        self.path = path
        self.age = age
        self.at_once = at_once
        self.seen_at_once = seen_at_once
        self._lock = Lock()
        self._turn = Lock()
        self._passes: dict[tuple[int, float], tuple[Thread, float]] = {}
        """The last pass over the pages of a crawl and when it began, by the crawl's number and start time."""
        self._ended: dict[tuple[int, float], float] = {}

    def update(self, crawl_id: int, started_at: float) -> bool:
        """Index the new pages of a crawl in the background; returns whether the index was complete a moment ago."""
        of = (crawl_id, started_at)
        now = time.monotonic()
        with self._lock:
            running, begun = self._passes.get(of, (None, now))
            if (running is None or not running.is_alive()) and now - self._ended.get(of, -self.age) >= self.age:
                running = Thread(target=self._pass, args=of, name="search index", daemon=True)
                begun = now
                self._passes[of] = running, begun
                running.start()
        if running is not None:
            running.join(max(0.0, begun + PATIENCE - now))
        return of in self._ended

    def pages(self, crawl_id: int) -> int:
        """How many pages of a crawl are in the index; 0 if it cannot be written."""
        with suppress(sqlite3.Error), self._file() as file:
            return int(file.execute("SELECT count(*) FROM page WHERE crawl_id = ?", (crawl_id,)).fetchone()[0])
        return 0

    def find(self, crawl_id: int, words: Iterable[str], below: int | None, most: int) -> list[int] | None:
        """The pages below a number that seem to contain all these words, highest number first; None if no word is long
        enough, or if the search takes too long.
        """
        phrases = [f'"{word_bigrams}"' for word in words if (word_bigrams := bigrams(word[:LONGEST]))]
        if not phrases:
            return None
        table = f"crawl_{crawl_id}"
        query = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"  # noqa: S608
        until = time.monotonic() + SECONDS
        with suppress(sqlite3.OperationalError), self._file() as file:
            file.set_progress_handler(lambda: int(time.monotonic() > until), STEPS)
            return [row[0] for row in file.execute(query, (" ".join(phrases), below or 2**63 - 1, most))]
        return None

    def _pass(self, crawl_id: int, started_at: float) -> None:
        try:
            place: tuple[str, int] | None = self._begin(crawl_id, started_at)
            while place is not None:
                with self._turn:  # only one pass over a crawl at a time
                    begun = time.monotonic()
                    place = self._step(crawl_id, place)
                    time.sleep((time.monotonic() - begun) / 2)  # crawls are running beside it
        except (sqlite3.Error, OSError, StateError) as error:
            logger.warning("The search index %s cannot be written: %s", self.path, error)
        else:
            self._ended[crawl_id, started_at] = time.monotonic()

    def _begin(self, crawl_id: int, started_at: float) -> tuple[str, int]:
        """Where a pass begins. Tables of deleted crawls are dropped, and tables most of whose pages are gone."""
        with reading(self.url, one_process=True) as connection:
            existing = {(row.id, row.started_at) for row in connection.execute(select(crawl.c.id, crawl.c.started_at))}
            of_crawl = select(func.count()).select_from(page).where(page.c.crawl_id == crawl_id)
            stored = connection.execute(of_crawl).scalar_one()
        if self.pages(crawl_id) > 2 * stored + self.at_once:
            existing.discard((crawl_id, started_at))
        with self._file() as file:
            file.execute("BEGIN IMMEDIATE")
            indexed_until = {row[:2]: row[2] for row in file.execute("SELECT id, started_at, fetched_at FROM crawl")}
            for number, begun in indexed_until.keys() - existing:
                file.execute(f"DROP TABLE crawl_{number}")
                file.execute("DELETE FROM page WHERE crawl_id = ?", (number,))
                file.execute("DELETE FROM crawl WHERE id = ?", (number,))
                del indexed_until[number, begun]
            if (crawl_id, started_at) not in indexed_until:
                self._ended.pop((crawl_id, started_at), None)
                options = "content='', columnsize=0, tokenize='ascii'"
                file.execute(f"CREATE VIRTUAL TABLE crawl_{crawl_id} USING fts5(bigrams, {options})")
                file.execute("INSERT INTO crawl VALUES (?, ?, '')", (crawl_id, started_at))
            file.execute("COMMIT")
        newest = indexed_until.get((crawl_id, started_at))
        if not newest:
            return "", 0
        # No later than now: a worker's clock may be wrong, and pages with a future time must not hide others.
        return (min(datetime.fromisoformat(newest), datetime.now(UTC)) - OVERLAP).isoformat(), 0

    def _step(self, crawl_id: int, after: tuple[str, int]) -> tuple[str, int] | None:
        """Index the next pages; returns how far that is, or None at the end."""
        keys = select(page.c.id, page.c.fetched_at).where(page.c.crawl_id == crawl_id)
        keys = keys.where(page.c.fetched_at >= after[0], tuple_(page.c.fetched_at, page.c.id) > after)
        with reading(self.url, one_process=True) as connection, self._file() as file:
            next_pages = connection.execute(keys.order_by(page.c.fetched_at, page.c.id).limit(self.seen_at_once)).all()
            marks = ", ".join("?" * len(next_pages))
            indexed_pages = f"SELECT id, fetched_at FROM page WHERE crawl_id = ? AND id IN ({marks})"  # noqa: S608 - marks alone
            known_pages = set(file.execute(indexed_pages, (crawl_id, *(row.id for row in next_pages))))
            new = [row for row in next_pages if tuple(row) not in known_pages]
            last = new[self.at_once - 1] if len(new) > self.at_once else next_pages[-1] if next_pages else None
            columns = page.c.id, page.c.fetched_at, page.c.title, page.c.url, page.c.text
            rows = connection.execute(
                select(*columns).where(page.c.id.in_([row.id for row in new[: self.at_once]]))
            ).all()
            entries = [(row.id, bigrams(f"{row.title}\n{address(row.url)}\n{row.text}")) for row in rows]
            indexed = [(crawl_id, row.id, row.fetched_at) for row in rows]
            file.execute("BEGIN IMMEDIATE")
            file.executemany(f"INSERT INTO crawl_{crawl_id} (rowid, bigrams) VALUES (?, ?)", entries)  # noqa: S608
            file.executemany("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", indexed)
            if last is not None:
                newest = "UPDATE crawl SET fetched_at = max(fetched_at, ?) WHERE id = ?"
                file.execute(newest, (last.fetched_at, crawl_id))
            file.execute("COMMIT")
        if last is None or (len(next_pages) < self.seen_at_once and last is next_pages[-1]):
            return None
        return last.fetched_at, last.id

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as file:
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = NORMAL")
            file.executescript(TABLES)
            yield file


@cache
def search_index(url: URL, output: Path) -> SearchIndex:
    """The search index of a database, beside it if it is a file, or else in the output folder."""
    return SearchIndex(url, search_file(url, output))
