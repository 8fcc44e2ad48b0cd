"""The output files of a worker: JSON lines, cut back to what is committed; their numbers and locks.

The first worker of a crawl writes NAME.jsonl, the others NAME-2.jsonl and so on. A number belongs to the folder with
its files; the next worker that starts in that folder takes it over. The lock beside the file is held until the process
ends, however it ends. So a worker that gets the lock knows that the previous holder is dead: it returns the leases of
that worker at once, and cuts off its uncommitted lines.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOENT
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock
from sqlalchemy import ColumnElement, Connection, Engine, delete, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from crawler.errors import StateError
from crawler.page.text import one_line
from crawler.processes.held_lock import take_lock
from crawler.store.crawl_tables import crawl, output, worker
from crawler.store.heartbeats import expire_worker, lock_crawl

logger = logging.getLogger(__name__)

FOLDER_ID_FILE = ".folder_id"
ATTEMPTS = 100  # the most attempts to take a new number before another worker takes it
END_BYTES = 64  # how many of the last committed bytes identify a file, by their hash


@dataclass(frozen=True, slots=True)
class FileOffset:
    """How much of a file is committed."""

    size: int = 0
    """The number of bytes that are committed."""
    end: int = 0
    """A hash of the last committed bytes."""


class JsonLines:
    """A file of JSON objects, created with the first record; the database says how much of it is committed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1

    def open(self, committed: FileOffset) -> FileOffset:
        """Open the file and cut off what was not committed; returns how much of it is committed.

        A file that this crawl did not write is renamed, and a new file is begun: nothing of it is committed yet.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._open()
        if not self._has_end(committed):
            self._take_rewritten(committed)
        if not self._has_end(committed):
            self.close()
            new_path = rename_previous(self.path)
            why = "was deleted"
            if new_path is not None:
                why = f"is not the file that this crawl wrote, and was renamed to {new_path}"
            logger.warning("%s %s; a new file is begun, and earlier items are only in the database", self.path, why)
            committed = FileOffset()
            self._open()
        self.cut(committed)
        return committed

    def append(self, records: Iterable[Mapping[str, Any]], committed: FileOffset) -> FileOffset:
        """Write and sync records after what is committed; returns the offset to commit."""
        data = b"".join(map(json_line, records))
        if not data:
            return committed
        try:
            if self._file < 0:
                committed = self.open(committed)
            if os.name == "posix" and os.fstat(self._file).st_nlink == 0:
                raise OSError(ENOENT, "it was deleted")
            self.cut(committed)
            new_end = (self._read_end(committed) + data)[-END_BYTES:]
            offset = FileOffset(committed.size + len(data), file_end_hash(new_end))
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                self.cut(committed)
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        return offset

    def cut(self, committed: FileOffset) -> None:
        """Cut off what was not committed."""
        if self._file >= 0 and os.fstat(self._file).st_size > committed.size:
            os.ftruncate(self._file, committed.size)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _has_end(self, committed: FileOffset) -> bool:
        """Whether the open file has the last committed bytes, and so is the file that was written."""
        return file_end_hash(self._read_end(committed)) == committed.end

    def _take_rewritten(self, committed: FileOffset) -> None:
        """Replace the file by its rewritten version, from which lines were removed, if that version is committed.

        This happens if the program that rewrote the file was interrupted before it put the new version in place.
        """
        rewritten = JsonLines(rewritten_path(self.path))
        if rewritten.path.exists():
            rewritten._open()
            is_committed = rewritten._has_end(committed)
            rewritten.close()
            if is_committed:
                self.close()
                put_in_place(self.path)
                self._open()

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o644)

    def _read_end(self, committed: FileOffset) -> bytes:
        """The last committed bytes; fewer if the file is shorter."""
        os.lseek(self._file, max(0, committed.size - END_BYTES), os.SEEK_SET)
        return os.read(self._file, min(END_BYTES, committed.size))


def rewritten_path(path: Path) -> Path:
    """The path of the rewritten version of a file, which has fewer lines, and replaces the file after a commit.

    A symbolic link stays; the file to which it leads is replaced.
    """
    target = path.resolve()
    return target.with_name(f"{target.name}.rewritten")


def put_in_place(path: Path) -> None:
    """Replace a file by its rewritten version."""
    rewritten_path(path).replace(path.resolve())


def file_end_hash(end: bytes) -> int:
    """A hash of the last bytes of a file, of 63 bits; 0 for no bytes."""
    if end:
        return int.from_bytes(blake2b(end, digest_size=8).digest(), "big") >> 1
    return 0


def json_line(record: Mapping[str, Any]) -> bytes:
    """An object as a line, in UTF-8."""
    return one_line(json.dumps(record, ensure_ascii=False)).encode("utf-8", "replace") + b"\n"


def rename_previous(path: Path) -> Path | None:
    """Rename a file that is not empty to the first free of NAME.previous.jsonl, NAME.previous-2.jsonl and so on.

    Returns the new path, or None if there is no file or it is empty.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    new_path = path.with_suffix(f".previous{path.suffix}")
    number = 1
    while new_path.exists():
        number += 1
        new_path = path.with_suffix(f".previous-{number}{path.suffix}")
    return path.rename(new_path)


class WorkerFiles:
    """The number, the lock and the files of one worker: it takes a free number in a folder, and locks it.

    A worker that another worker has started takes a number, too, but writes to the files of the worker that started it.
    """

    def __init__(self, engine: Engine, crawl_id: int, name: str, folder: Path, shared: int | None = None) -> None:
        self.engine = engine
        self.crawl_id = crawl_id
        self.name = name
        self.folder = folder
        self.folder_id = folder_id(folder)
        self.shared = shared
        """The number of the worker whose files this one writes to; None if it has its own."""
        self.is_new = False
        """Whether no worker had this number before."""
        self.lock, self.number = self._take_number()
        pages_path, images_path = self.paths(shared or self.number)
        self.pages = JsonLines(pages_path)
        self.images = JsonLines(images_path)

    def paths(self, number: int) -> tuple[Path, Path]:
        """The paths of a worker's files of pages and of images."""
        pages = self.folder / pages_file(self.name, number)
        return pages, pages.with_suffix(".images.jsonl")

    def open(self, connection: Connection) -> None:
        """Create the file of pages, and cut the files back to what is committed."""
        if self.shared is None:
            self.pages.path.parent.mkdir(parents=True, exist_ok=True)
            self.pages.path.touch()
            self._cut_back(connection, self.number, self.pages, self.images)

    def append(
        self, connection: Connection, pages: Iterable[Mapping[str, Any]], images: Iterable[Mapping[str, Any]]
    ) -> None:
        """Write records to the files, and save the new offsets; workers with the same files wait until the commit."""
        own_files = files_of(self.crawl_id, self.shared or self.number)
        committed_pages, committed_images = file_offsets(connection, *own_files)
        try:
            new_pages = self.pages.append(pages, committed_pages)
            new_images = self.images.append(images, committed_images)
        except OSError:
            with suppress(OSError):
                self.pages.cut(committed_pages)
            raise
        save_file_offsets(connection, new_pages, new_images, *own_files)

    def close(self) -> None:
        """Close the files and release the lock."""
        self.pages.close()
        self.images.close()
        self.lock.release()

    def withdraw(self) -> None:
        """Give up a new number if nothing was written to its files."""
        if not self.is_new or self.number == 1:
            return
        is_empty = output.c.pages_size + output.c.images_size == 0
        with suppress(SQLAlchemyError), self.engine.begin() as connection:
            connection.execute(delete(output).where(*files_of(self.crawl_id, self.number), is_empty))
        pages, _ = self.paths(self.number)
        if pages.exists() and not pages.stat().st_size:
            pages.unlink()

    def start_fresh(self, connection: Connection) -> None:
        """Delete all numbers of the crawl but this one, and rename the files of all its numbers in this folder."""
        is_of_crawl = output.c.crawl_id == self.crawl_id
        of_folder = select(output.c.number).where(is_of_crawl, output.c.folder_id == self.folder_id)
        numbers = connection.execute(of_folder).scalars().all()
        connection.execute(delete(output).where(is_of_crawl))
        self._insert(connection, self.number)
        files_of_others = self._files_of_others(connection)
        for pages, images in map(self.paths, numbers):
            if pages.name not in files_of_others:
                rename_previous(pages)
                rename_previous(images)

    def _take_number(self) -> tuple[FileLock, int]:
        """Lock the first free number of this folder, or a new one.

        The last workers of all free numbers are dead: they expire, and their files are cut back.
        """
        with self.engine.begin() as connection:
            of_folder = output.c.crawl_id == self.crawl_id, output.c.folder_id == self.folder_id
            numbers = connection.execute(select(output.c.number).where(*of_folder)).scalars().all()
            others = self._files_of_others(connection)
        own_numbers = sorted(number for number in numbers if self.paths(number)[0].name not in others)

        # With SQLite, one command starts all workers of a crawl. So if the first number is locked, another command runs
        # the crawl.
        may_be_only_command = self.shared is None and self.engine.dialect.name == "sqlite"
        locked: tuple[FileLock, int] | None = None
        for number in own_numbers:
            lock = self._lock(number)
            if lock is None:
                if may_be_only_command and number == own_numbers[0]:
                    raise StateError(
                        "a crawl named {name} is running here; give this one another -a name=NAME "
                        "(-a workers=NUMBER starts it with several workers; those of several machines need PostgreSQL: "
                        "setting STATE_URL)",
                        name=repr(self.name),
                    )
                continue
            self._recover(number)
            if locked is None:
                locked = lock, number
            else:
                lock.release()
        if locked is not None:
            return locked
        return self._new_number()

    def _new_number(self) -> tuple[FileLock, int]:
        """Lock the first unused number, and insert it."""
        for _ in range(ATTEMPTS):
            with self.engine.begin() as connection:
                of_crawl = select(output.c.number).where(output.c.crawl_id == self.crawl_id)
                used_numbers = set(connection.execute(of_crawl).scalars())
                others = self._files_of_others(connection)
            number = next(n for n in count(1) if n not in used_numbers and self.paths(n)[0].name not in others)

            lock = self._lock(number)
            if lock is None:  # another worker is taking it right now
                time.sleep(0.05)
                continue
            try:
                if self.shared is None:
                    for path in self.paths(number):
                        rename_previous(path)
                with self.engine.begin() as connection:
                    self._insert(connection, number)
            except IntegrityError:  # another worker was faster
                lock.release()
                continue
            self.is_new = True
            return lock, number
        raise StateError(
            "the folder {folder} is in use by other crawls named {name}", folder=self.folder, name=repr(self.name)
        )

    def _files_of_others(self, connection: Connection) -> set[str]:
        """The files of other crawls in this folder: `bees-2` may be a crawl, or the second worker of `bees`."""
        numbers = select(crawl.c.name, output.c.number).join(output, output.c.crawl_id == crawl.c.id)
        of_others = numbers.where(output.c.folder_id == self.folder_id, crawl.c.id != self.crawl_id)
        return {pages_file(row.name, row.number) for row in connection.execute(of_others)}

    def _lock(self, number: int) -> FileLock | None:
        """The lock of a number, if it was free."""
        pages, _ = self.paths(number)
        return take_lock(pages.with_name(f".{pages.stem}.lock"))

    def _recover(self, number: int) -> None:
        """Expire the dead worker of this number, and cut its files back to what it committed."""
        has_number = worker.c.crawl_id == self.crawl_id, worker.c.number == number
        with self.engine.begin() as connection:
            lock_crawl(connection, self.crawl_id)
            for worker_id in connection.execute(select(worker.c.id).where(*has_number)).scalars().all():
                expire_worker(connection, worker_id)
            self._cut_back(connection, number, *map(JsonLines, self.paths(number)))

    def _cut_back(self, connection: Connection, number: int, *files: JsonLines) -> None:
        """Cut the files of a number back to what is committed; a file need not exist."""
        own_files = files_of(self.crawl_id, number)
        committed = file_offsets(connection, *own_files)
        offsets = []
        for lines, offset in zip(files, committed, strict=True):
            offsets.append(lines.open(offset) if lines.path.exists() else offset)
            lines.close()
        new_pages, new_images = offsets
        if (new_pages, new_images) != committed:  # a file is begun anew
            save_file_offsets(connection, new_pages, new_images, *own_files)

    def _insert(self, connection: Connection, number: int) -> None:
        """Insert the row of a number's files; raises an IntegrityError if there is one."""
        values = {"crawl_id": self.crawl_id, "number": number, "folder_id": self.folder_id}
        connection.execute(insert(output).values(**values))


def pages_file(name: str, number: int) -> str:
    """The name of the file to which the worker of this number writes a crawl's pages."""
    if number == 1:
        return f"{name}.jsonl"
    return f"{name}-{number}.jsonl"


def folder_id(folder: Path) -> str:
    """The id of a folder, wherever it is mounted."""
    path = folder / FOLDER_ID_FILE
    with FileLock(folder / f"{FOLDER_ID_FILE}.lock"):  # another worker may start here at the same moment
        if not path.exists():
            path.write_text(secrets.token_hex(16), encoding="ascii")
        return path.read_text(encoding="ascii")


def files_of(crawl_id: int, number: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions for the row of a worker's files."""
    return output.c.crawl_id == crawl_id, output.c.number == number


def file_offsets(connection: Connection, *own_files: ColumnElement[bool]) -> tuple[FileOffset, FileOffset]:
    """How much of a worker's files of pages and images is committed. Their row is locked until the transaction ends."""
    columns = output.c.pages_size, output.c.pages_end, output.c.images_size, output.c.images_end
    row = connection.execute(select(*columns).where(*own_files).with_for_update()).one()
    return FileOffset(row.pages_size, row.pages_end), FileOffset(row.images_size, row.images_end)


def save_file_offsets(
    connection: Connection, pages: FileOffset, images: FileOffset, *own_files: ColumnElement[bool]
) -> None:
    """Save how much of a worker's files is committed."""
    sizes = {"pages_size": pages.size, "images_size": images.size}
    ends = {"pages_end": pages.end, "images_end": images.end}
    connection.execute(update(output).where(*own_files).values(**sizes, **ends))
