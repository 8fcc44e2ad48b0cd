"""A full-text index of the pages of each crawl, for words of two letters or more in every script.

The index is a separate SQLite file with a table (FTS5) for each crawl, whatever database has the state: crawls do not
pay for it and never wait for it. Texts are indexed by their bigrams with positions, and a word is searched as a phrase
of its bigrams. The trigrams of SQLite and PostgreSQL find no Chinese word of two characters; without positions nearly
every English page contains the bigrams of nearly every English word.

The dashboard builds the index when a user searches, in a thread, a few pages at a time, in the order in which they were
fetched. A pass over the pages of a crawl begins an hour before the newest indexed page, because a page may be stored
later than others that were fetched after it. A changed page is indexed again under its number. A search reads the pages
that the index returns and checks them, so an outdated entry costs some time and never appears in the result.
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

INDEXED_AT_ONCE = 100
"""Pages that are read and indexed in one transaction."""
CHECKED_AT_ONCE = 2_000
"""Pages of which one transaction checks whether they are new or changed."""
OVERLAP = timedelta(hours=1)
"""The longest time from fetching a page to storing it."""
AGE = 5.0
"""Seconds after which new pages are looked for again."""
PATIENCE = 0.5
"""Seconds that a search waits until new pages are indexed."""
SEARCH_SECONDS = 1.0
"""Seconds that a search in the index may take."""
STEPS = 20_000
"""Instructions of SQLite between two checks of the time (https://www.sqlite.org/c3ref/progress_handler.html)."""
LONGEST = 32
"""Only this many letters of a word are looked up; the pages that the index returns are checked for the whole word."""
# The tokenizer splits at ASCII characters that are not letters or digits (https://www.sqlite.org/fts5.html), so these
# signs are replaced by characters for private use.
IS_ASCII_SIGN = np.array([not chr(code).isalnum() and code != ord(" ") for code in range(128)] + [False])
"""By code point; the last entry, 128, is for all characters that are not ASCII."""
PRIVATE_USE = 0xE000
"""What is added to the code point of a sign."""
# Table `crawl` has the time of the newest indexed page of each crawl, table `page` the time of each indexed page: when
# the indexed version was fetched. A crawl is identified by its number and start time: after a reset, another crawl may
# have its number.
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
    letters = np.where(IS_ASCII_SIGN[np.minimum(letters, 128)], letters + PRIVATE_USE, letters)
    # A row for each pair of adjacent characters, with a space after them; pairs with a space are not within a word.
    first = letters[:-1]
    second = letters[1:]
    pairs = np.stack([first, second, np.full_like(first, ord(" "))], axis=1)
    return str(pairs[(first != ord(" ")) & (second != ord(" "))].tobytes(), "utf-32-le").rstrip()


def readable_address(url: str) -> str:
    """An address without percent-encoding, as it is indexed and searched.

    >>> readable_address("http://a.example/%E8%9C%9C%E8%9C%82")
    'http://a.example/蜜蜂'
    """
    if "%" not in url:
        return url
    return unquote(url)


class SearchIndex:
    """The search index in a file, for the pages of a database."""

    def __init__(
        self,
        url: URL,
        path: Path,
        age: float = AGE,
        indexed_at_once: int = INDEXED_AT_ONCE,
        checked_at_once: int = CHECKED_AT_ONCE,
    ) -> None:
        self.url = url
        self.path = path
        self.age = age
        self.indexed_at_once = indexed_at_once
        self.checked_at_once = checked_at_once
        self._lock = Lock()
        self._step_lock = Lock()
        """Held for each step of a pass, so that passes over several crawls take turns."""
        self._passes: dict[tuple[int, float], tuple[Thread, float]] = {}
        """The thread of the last pass and when it began, by the crawl's number and start time."""
        self._ended: dict[tuple[int, float], float] = {}
        """When the last complete pass ended, by the crawl's number and start time."""

    def update(self, crawl_id: int, started_at: float) -> bool:
        """Index the new pages of a crawl in the background, and wait a moment for it; returns whether a pass over its
        pages was ever complete.
        """
        crawl_key = (crawl_id, started_at)
        now = time.monotonic()
        with self._lock:
            thread, begun = self._passes.get(crawl_key, (None, now))
            is_running = thread is not None and thread.is_alive()
            if not is_running and now - self._ended.get(crawl_key, -self.age) >= self.age:
                thread = Thread(target=self._pass, args=crawl_key, name="search index", daemon=True)
                begun = now
                self._passes[crawl_key] = thread, begun
                thread.start()
        if thread is not None:  # only searches soon after the beginning of a pass wait for it
            thread.join(max(0.0, begun + PATIENCE - now))
        return crawl_key in self._ended

    def page_count(self, crawl_id: int) -> int:
        """The number of pages of a crawl in the index; 0 if the index cannot be opened."""
        with suppress(sqlite3.Error), self._file() as file:
            return int(file.execute("SELECT count(*) FROM page WHERE crawl_id = ?", (crawl_id,)).fetchone()[0])
        return 0

    def find(self, crawl_id: int, words: Iterable[str], below: int | None, most: int) -> list[int] | None:
        """The pages with a number below `below` that probably contain all these words, highest number first; None if
        no word is long enough, or if the search takes too long.
        """
        words_as_bigrams = [bigrams(word[:LONGEST]) for word in words]
        phrases = [f'"{word_bigrams}"' for word_bigrams in words_as_bigrams if word_bigrams]
        if not phrases:
            return None
        table = f"crawl_{crawl_id}"
        query = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"  # noqa: S608
        until = time.monotonic() + SEARCH_SECONDS
        largest_number = 2**63 - 1
        with suppress(sqlite3.OperationalError), self._file() as file:
            file.set_progress_handler(lambda: int(time.monotonic() > until), STEPS)
            return [row[0] for row in file.execute(query, (" ".join(phrases), below or largest_number, most))]
        return None

    def _pass(self, crawl_id: int, started_at: float) -> None:
        """Index the new and changed pages of a crawl."""
        try:
            last: tuple[str, int] | None = self._begin(crawl_id, started_at)
            while last is not None:
                with self._step_lock:
                    begun = time.monotonic()
                    last = self._step(crawl_id, last)
                    time.sleep((time.monotonic() - begun) / 2)  # leaves CPU time to crawls
        except (sqlite3.Error, OSError, StateError) as error:
            logger.warning("The search index %s cannot be written: %s", self.path, error)
        else:
            self._ended[crawl_id, started_at] = time.monotonic()

    def _begin(self, crawl_id: int, started_at: float) -> tuple[str, int]:
        """Prepare the tables for a pass; returns the time and the number of the page after which the pass begins.

        The tables of deleted crawls are dropped. This crawl's table is dropped, too, if most of its pages were deleted,
        as single pages cannot be removed from a table. Then this crawl's table is created if it is missing.
        """
        # The crawls whose tables are kept.
        with reading(self.url, one_process=True) as connection:
            existing = {(row.id, row.started_at) for row in connection.execute(select(crawl.c.id, crawl.c.started_at))}
            of_crawl = select(func.count()).select_from(page).where(page.c.crawl_id == crawl_id)
            stored = connection.execute(of_crawl).scalar_one()
        if self.page_count(crawl_id) > 2 * stored + self.indexed_at_once:
            existing.discard((crawl_id, started_at))

        with self._file() as file:
            file.execute("BEGIN IMMEDIATE")
            rows = file.execute("SELECT id, started_at, fetched_at FROM crawl")
            newest_of_crawl = {(number, start): fetched_at for number, start, fetched_at in rows}
            for number, start in newest_of_crawl.keys() - existing:
                file.execute(f"DROP TABLE crawl_{number}")
                file.execute("DELETE FROM page WHERE crawl_id = ?", (number,))
                file.execute("DELETE FROM crawl WHERE id = ?", (number,))
                del newest_of_crawl[number, start]
            if (crawl_id, started_at) not in newest_of_crawl:
                self._ended.pop((crawl_id, started_at), None)
                # Only the index itself is stored: neither the texts nor their lengths.
                options = "content='', columnsize=0, tokenize='ascii'"
                file.execute(f"CREATE VIRTUAL TABLE crawl_{crawl_id} USING fts5(bigrams, {options})")
                file.execute("INSERT INTO crawl VALUES (?, ?, '')", (crawl_id, started_at))
            file.execute("COMMIT")

        newest = newest_of_crawl.get((crawl_id, started_at))
        if not newest:
            return "", 0
        # A worker's clock may be wrong: pages with a time in the future must not hide others.
        begin = min(datetime.fromisoformat(newest), datetime.now(UTC)) - OVERLAP
        return begin.isoformat(), 0

    def _step(self, crawl_id: int, after: tuple[str, int]) -> tuple[str, int] | None:
        """Index the next pages; returns the time and the number of the last of them, or None at the end."""
        keys = select(page.c.id, page.c.fetched_at).where(page.c.crawl_id == crawl_id)
        keys = keys.where(tuple_(page.c.fetched_at, page.c.id) > after)
        with reading(self.url, one_process=True) as connection, self._file() as file:
            # The next pages, and which of them are new or changed.
            by_time = keys.order_by(page.c.fetched_at, page.c.id)
            next_pages = connection.execute(by_time.limit(self.checked_at_once)).all()
            if not next_pages:
                return None
            marks = ", ".join("?" * len(next_pages))
            indexed_pages = f"SELECT id, fetched_at FROM page WHERE crawl_id = ? AND id IN ({marks})"  # noqa: S608 - marks alone
            known_pages = set(file.execute(indexed_pages, (crawl_id, *(row.id for row in next_pages))))
            new_pages = [row for row in next_pages if tuple(row) not in known_pages]

            # Index as many new pages as fit into one transaction; the next step begins after the last of them.
            last = next_pages[-1]
            if len(new_pages) > self.indexed_at_once:
                new_pages = new_pages[: self.indexed_at_once]
                last = new_pages[-1]
            columns = page.c.id, page.c.fetched_at, page.c.title, page.c.url, page.c.text
            rows = connection.execute(select(*columns).where(page.c.id.in_([row.id for row in new_pages]))).all()
            entries = [(row.id, bigrams(f"{row.title}\n{readable_address(row.url)}\n{row.text}")) for row in rows]
            indexed = [(crawl_id, row.id, row.fetched_at) for row in rows]
            file.execute("BEGIN IMMEDIATE")
            file.executemany(f"INSERT INTO crawl_{crawl_id} (rowid, bigrams) VALUES (?, ?)", entries)  # noqa: S608
            file.executemany("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", indexed)
            newest = "UPDATE crawl SET fetched_at = max(fetched_at, ?) WHERE id = ?"
            file.execute(newest, (last.fetched_at, crawl_id))
            file.execute("COMMIT")

        if len(next_pages) < self.checked_at_once and last is next_pages[-1]:
            return None
        return last.fetched_at, last.id

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file of the index, which is created if it does not exist."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as file:
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = NORMAL")
            file.executescript(TABLES)
            yield file


@cache
def search_index(url: URL, output: Path) -> SearchIndex:
    """The search index of a database: beside the database if it is a file, or else in the output folder."""
    return SearchIndex(url, search_file(url, output))
