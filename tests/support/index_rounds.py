"""Rounds of crawls of a changing site, which are killed and continued, and the index of a how-to that follows them."""

import os
import signal
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import fork_server
from changing_site import ChangingSite
from short_backoff import HURRIED
from sites import OPEN, command, crawl

CRAWL = "bees"
DUE = {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"}
"""Every page is due at once."""
SETTINGS = OPEN | HURRIED | DUE | {"HURRIED_DELAY": "0.01", "HURRIED_TIMES": "3"}
WRITES = """
CREATE TABLE IF NOT EXISTS write (url TEXT);
CREATE TRIGGER IF NOT EXISTS inserted AFTER INSERT ON page BEGIN INSERT INTO write VALUES (new.url); END;
CREATE TRIGGER IF NOT EXISTS deleted AFTER DELETE ON page BEGIN INSERT INTO write VALUES (old.url); END;
"""
"""Notes which pages are written or deleted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexRound:
    """The index after a round of the crawl."""

    expected_texts: dict[str, str]
    """The texts that it had to hold, by path."""
    indexed_texts: dict[str, str]
    """Those that it held."""
    changed_paths: set[str]
    """The pages that had to be written, deleted or added."""
    written_paths: set[str]
    """Those that were."""
    file: bytes
    """The index itself."""


class FollowingIndex:
    """The index of docs/how-to/search-index.md beside the crawl of a site."""

    def __init__(self, program: ModuleType, site: ChangingSite, folder: Path) -> None:
        self.program = program
        self.site = site
        self.folder = folder
        self.path = folder / "search.db"

    def follow_round(self, kills: Sequence[int] = (), seconds: float = 60) -> IndexRound:
        """Crawl a round, and update the index. The crawl is killed after so many requests, then continued."""
        arguments = {"seeds": self.site.url, "topic": "bees", "name": CRAWL, "images": "no"}
        self.site.begin_answers()
        for kill_after in kills:
            self._crawl_until_killed(arguments, kill_after, seconds)
        ended = crawl(self.folder, arguments, SETTINGS, timeout=seconds)
        assert ended.status == 0, ended.err
        changed = self.site.end_round()
        with self.open() as index:
            index.execute("DELETE FROM write")
            index.commit()
            self.update(index)
            written = {self._path_of(url) for (url,) in index.execute("SELECT url FROM write")}
            indexed = self.texts(index)
            index.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return IndexRound(
            expected_texts=self.site.indexed_texts(),
            indexed_texts=indexed,
            changed_paths=changed,
            written_paths=written,
            file=self.path.read_bytes(),
        )

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path)) as index:
            index.executescript(self.program.TABLES)
            index.executescript(WRITES)
            yield index

    def update(self, index: sqlite3.Connection) -> int:
        """Run the update of the how-to in the folder of the crawl; returns how many changes it applied."""
        earlier_folder = Path.cwd()
        os.chdir(self.folder)
        try:
            count: int = self.program.update(index)
        finally:
            os.chdir(earlier_folder)
        return count

    def texts(self, index: sqlite3.Connection) -> dict[str, str]:
        """The texts in the index by path; the index of words has them as well."""
        pages = index.execute("SELECT id, url, title, text FROM page").fetchall()
        words = {row: (title, text) for row, title, text in index.execute("SELECT rowid, title, text FROM words")}
        assert words == {row: (self.program.pairs(title), self.program.pairs(text)) for row, _, title, text in pages}
        return {self._path_of(url): text for _, url, _, text in pages}

    def _crawl_until_killed(self, arguments: dict[str, str], kill_after: int, seconds: float) -> None:
        asked_before = len(self.site.asked)
        process = fork_server.common()(command(arguments, SETTINGS), self.folder, self.folder / "killed.log")
        until = time.monotonic() + seconds
        while len(self.site.asked) < asked_before + kill_after and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() != 0
        self.site.note_kill()

    def _path_of(self, url: str) -> str:
        return "/" + url.removeprefix(self.site.url)
