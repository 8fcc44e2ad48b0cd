"""`winnow state NAME --forget URL`: erases pages and hosts from a crawl, which does not request them again.

Rows are deleted in one transaction. Files are changed before it is committed, with one exception: the transaction saves
the new lengths of the JSON lines of this crawl's workers, so these files are put in place right after it. If the
process ends at any point, the same command completes the erasure.
"""

import argparse
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from scrapy.settings import BaseSettings
from sqlalchemy import Connection, select, text
from sqlalchemy.engine import URL

from crawler.checked_settings import canonical_of
from crawler.command_line.terminal import FAILED
from crawler.contrib.index.erase_files import IMAGES, CrawlFiles, ErasedFiles
from crawler.contrib.index.erase_rows import ErasedRows, erase_rows
from crawler.contrib.index.erasure_targets import ErasureTargets, erasure_targets
from crawler.errors import BusyError, WrongUseError
from crawler.reports.crawl_facts import line, show
from crawler.reports.crawls import check_name
from crawler.reports.search_file import search_file
from crawler.store.crawl_tables import crawl, worker
from crawler.store.database import database_errors, database_time, open_database, open_sqlite, state_url
from crawler.store.deletion import vacuum
from crawler.store.heartbeats import CrawlLock, expire_worker, lock_crawl, silent_workers
from crawler.store.page_changes import begin_epoch
from crawler.store.read_only import exists, reading
from crawler.translation.message import N_, Message, first, plural

MOST_NAMED = 10
"""Addresses, jobs, crawls or files that a sentence lists."""
DATABASES = frozenset(
    f"{name}{suffix}" for name in ("crawl.db", "crawl-search.db") for suffix in ("", "-wal", "-shm", "-journal")
)
"""The files of SQLite, whose erased rows are overwritten."""
BYTES_AT_ONCE = 1 << 20
BUSY = N_("the crawl {name} is running; stop it first")


@dataclass(frozen=True, kw_only=True, slots=True)
class Erasure:
    """What was erased of a crawl, and what was not."""

    name: str
    targets: ErasureTargets
    rows: ErasedRows
    files: ErasedFiles
    unwiped: list[Path]
    """The database files that could not be rewritten. Erased texts may be left in their free space."""
    is_sqlite: bool
    files_left: list[Path]
    """Other files in the output folder that name a target."""

    @property
    def not_stored(self) -> list[str]:
        """The targets that had nothing stored."""
        return sorted(self.targets.all - self.rows.stored_targets - self.files.stored_targets)

    @property
    def status(self) -> int:
        """The exit status: `FAILED` if a target had nothing stored, or erased texts may be left in a file."""
        return FAILED if self.not_stored or self.unwiped else 0


def forget(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Erase the pages and hosts that the options name; returns the exit status."""
    targets = erasure_targets(opts.forget, canonical_of(settings))
    try:
        erasure = erase(state_url(settings), Path(settings["OUTPUT_DIR"]), opts.name, targets)
    except BusyError as error:
        raise WrongUseError(error.message) from None
    show([line(sentence) for sentence in sentences_of(erasure)])
    return erasure.status


def erase(url: URL, folder: Path, name: str, targets: ErasureTargets) -> Erasure:
    """Erase pages and hosts from a crawl; raises a BusyError if a worker runs it."""
    _check_crawl(url, name)
    engine = open_database(url)
    files = None
    try:
        with database_errors(url):
            # The erasure draws change offsets. After a restore from a backup, they must differ from the offsets that
            # were drawn between the backup and the restore (crawler/store/page_changes.py). This needs a transaction of
            # its own, because on PostgreSQL it blocks the writers of all crawls until it ends.
            with engine.begin() as connection:
                begin_epoch(connection)
            with engine.begin() as connection:
                crawl_id = _lock_idle_crawl(connection, name)
                files = CrawlFiles(connection, crawl_id, name, folder)
                if not files.lock():
                    raise BusyError(BUSY, name=repr(name))
                rows = erase_rows(connection, crawl_id, name, targets)
                erased_files = files.erase(targets, rows.image_files)
            files.replace()
    finally:
        if files is not None:
            files.close()
        engine.dispose()

    # Erased texts must not be left in the free space of database files, either.
    is_sqlite = url.drivername == "sqlite"
    unwiped = []
    search_index = search_file(url, folder)
    if not _erase_search_entries(search_index, crawl_id):
        unwiped.append(search_index)
    if is_sqlite and not _wipe_free_space(url):
        unwiped.append(Path(str(url.database)))
    return Erasure(
        name=name,
        targets=targets,
        rows=rows,
        files=erased_files,
        unwiped=unwiped,
        is_sqlite=is_sqlite,
        files_left=_files_with_targets(folder, targets, erased_files.cleared),
    )


def _check_crawl(url: URL, name: str) -> None:
    """Raise a WrongUseError if the crawl does not exist."""
    if not exists(url):
        check_name([], name, url)  # raises: a database without tables has no crawls
    with reading(url) as connection:
        check_name(connection.execute(select(crawl.c.name).order_by(crawl.c.id)).scalars().all(), name, url)


def _lock_idle_crawl(connection: Connection, name: str) -> int:
    """Lock a crawl so that no worker can join it, and have SQLite overwrite deleted rows; returns the crawl's id.

    Raises a BusyError if a worker runs the crawl.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")
    else:  # the erasure of a large crawl takes long
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    crawl_id = connection.execute(select(crawl.c.id).where(crawl.c.name == name)).scalar_one_or_none()
    if crawl_id is None:
        raise WrongUseError("the crawl {name} does not exist any more", name=repr(name))
    lock_crawl(connection, crawl_id, CrawlLock.ALONE)
    for dead in silent_workers(connection, crawl_id, database_time(connection)):
        expire_worker(connection, dead)
    workers = select(worker.c.id).where(worker.c.crawl_id == crawl_id).limit(1)
    if connection.execute(workers).first() is not None:
        raise BusyError(BUSY, name=repr(name))
    return int(crawl_id)


def _erase_search_entries(path: Path, crawl_id: int) -> bool:
    """Delete all texts of a crawl from the search index of the dashboard, if there is one; returns whether that
    succeeded. The next search indexes the remaining texts again.
    """
    if not path.exists():
        return True
    try:
        _drop_search_entries(path, crawl_id)
    except sqlite3.Error:  # another process reads or writes it, or the disk is full
        return False
    return True


def _drop_search_entries(path: Path, crawl_id: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA secure_delete = ON")
        file.execute("BEGIN IMMEDIATE")
        has_entries = file.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (f"crawl_{crawl_id}",)).fetchone()
        if has_entries is not None:
            file.execute(f"DROP TABLE crawl_{crawl_id}")
            file.execute("DELETE FROM page WHERE crawl_id = ?", (crawl_id,))
            file.execute("DELETE FROM crawl WHERE id = ?", (crawl_id,))
        file.execute("COMMIT")
        file.execute("VACUUM")
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _wipe_free_space(url: URL) -> bool:
    """Rewrite the file of SQLite, so that no erased text is left in it; returns whether that succeeded."""
    if not vacuum(url):
        return False
    with closing(open_sqlite(url)) as file:
        is_busy, _, _ = file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy


def _files_with_targets(folder: Path, targets: ErasureTargets, cleared: Collection[Path]) -> list[Path]:
    """The files in a folder that name a target, except images, databases and cleared files."""
    needles = [page.encode() for page in sorted(targets.pages)]
    needles += [f"//{host}/".encode() for host in sorted(targets.hosts)]
    paths = []
    for parent, folders, names in os.walk(folder):
        if Path(parent) == folder and IMAGES in folders:
            folders.remove(IMAGES)  # os.walk then skips it
        for file_name in sorted(names):
            path = Path(parent) / file_name
            is_erased = path in cleared or file_name in DATABASES
            if not is_erased and path.is_file() and _contains(path, needles):
                paths.append(path)
    return paths


def _contains(path: Path, needles: list[bytes]) -> bool:
    """Whether a file contains one of these texts. The file is read in parts; a text may lie across two of them."""
    longest = max(map(len, needles))
    end_of_previous = b""
    try:
        with path.open("rb") as file:
            while part := file.read(BYTES_AT_ONCE):
                if any(needle in end_of_previous + part for needle in needles):
                    return True
                end_of_previous = part[-longest:]
    except OSError:
        return False
    return False


def sentences_of(erasure: Erasure) -> Iterator[Message]:
    """Sentences about what was erased, and what was not."""
    counts = erasure.rows.counts
    values = {
        "pages": plural("{n} page", "{n} pages", counts["pages"]),
        "versions": plural("{n} earlier version", "{n} earlier versions", counts["versions"]),
        "responses": plural("{n} response", "{n} responses", counts["responses"]),
        "images": plural("{n} verdict on an image", "{n} verdicts on images", counts["images"]),
        "files": plural("{n} image file", "{n} image files", erasure.files.images),
        "lines": plural("{n} line", "{n} lines", erasure.files.lines),
        "addresses": plural("{n} address", "{n} addresses", counts["addresses"]),
        "labels": plural("{n} label", "{n} labels", counts["labels"]),
        "name": repr(erasure.name),
    }

    if any((*counts.values(), erasure.files.images, erasure.files.lines)):
        yield Message(
            "Erased from the crawl {name}: {pages}, {versions}, {responses}, {images}, {labels}, {addresses}; "
            "{lines} and {files} in its folder.",
            values,
        )
    # The larger of two counts: a page is usually both in the database and in the files.
    others = max(counts["mentions"], erasure.files.changed_lines)
    if others:
        yield plural("{n} other page no longer names it.", "{n} other pages no longer name it.", others)
    if erasure.not_stored:
        yield Message("Nothing was stored for {targets}.", {"targets": first(erasure.not_stored, MOST_NAMED)})
    yield Message(
        "The crawl does not request this again: {targets}.", {"targets": first(sorted(erasure.targets.all), MOST_NAMED)}
    )
    yield from _sentences_of_rest(erasure)


def _sentences_of_rest(erasure: Erasure) -> Iterator[Message]:
    """Sentences about what was not erased."""
    if erasure.rows.redirected_to:
        yield Message(
            "It was redirected to pages that are still stored: {pages}.",
            {"pages": first(sorted(set(erasure.rows.redirected_to)), MOST_NAMED)},
        )
    if erasure.rows.other_crawls:
        yield Message("Other crawls have it, too: {names}.", {"names": first(erasure.rows.other_crawls, MOST_NAMED)})
    if erasure.rows.jobs:
        yield Message(
            "Scheduled jobs still name it as a seed: {names}.", {"names": first(erasure.rows.jobs, MOST_NAMED)}
        )
    if erasure.files.workers_elsewhere:
        yield plural(
            "{n} worker wrote its lines into another folder: run the same command there, too.",
            "{n} workers wrote their lines into other folders: run the same command there, too.",
            erasure.files.workers_elsewhere,
        )
    if erasure.files_left:
        paths = [str(path) for path in erasure.files_left]
        yield Message("These files still contain it: {files}.", {"files": first(paths, MOST_NAMED)})
    if not erasure.is_sqlite:
        yield Message(
            "PostgreSQL keeps deleted rows until VACUUM, and in its log and backups: these are left to its operator."
        )
    if erasure.unwiped:
        yield Message(
            "These files could not be rewritten, because another process uses them or the disk is full: {files}. "
            "Earlier texts may still be in their free space. Run the same command again.",
            {"files": [str(path) for path in erasure.unwiped]},
        )
    yield Message("Exports, data sets and archives in other folders are not touched.")
