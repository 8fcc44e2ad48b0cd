"""Removes erased pages and images from the files of a crawl in one folder.

The caller takes the locks (`lock`), erases in a transaction (`erase`), commits, and then calls `replace` and `close`.

The files of a worker, whose lengths are in the database, are rewritten under another name. The new files replace the
old ones after the transaction that saves their new lengths. If the process is killed between the two, the next worker,
or a repeated erasure, puts them in place (`JsonLines.open`). Files of earlier crawls, whose lengths are not in the
database, are replaced at once. Image files are deleted before the transaction is committed: until then, a repeated
erasure finds everything again.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock
from sqlalchemy import Connection, select

from crawler.contrib.index.erase_rows import cleared_names
from crawler.contrib.index.erasure_targets import ErasureTargets
from crawler.processes.held_lock import take_lock
from crawler.store.crawl_tables import crawl, output
from crawler.store.output_files import (
    END_BYTES,
    FOLDER_ID_FILE,
    FileOffset,
    JsonLines,
    file_end_hash,
    file_offsets,
    files_of,
    json_line,
    pages_file,
    put_in_place,
    rewritten_path,
    save_file_offsets,
)
from crawler.store.page_tables import verdict

IMAGES = "images"
"""The folder of image files."""
IMAGE_FILE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}(\.\w{1,10})?", re.ASCII)
"""The path of an image file in this folder."""


@dataclass
class ErasedFiles:
    """What was removed from files."""

    lines: int = 0
    """Deleted lines."""
    changed_lines: int = 0
    """Lines of other pages that named an erased page."""
    images: int = 0
    """Deleted image files."""
    stored_targets: set[str] = field(default_factory=set)
    """The targets that had lines."""
    cleared: set[Path] = field(default_factory=set)
    """The JSON-lines files that no longer have a line of an erased page or image."""
    workers_elsewhere: int = 0
    """Workers whose files are in other folders, or on other machines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RewrittenLines:
    """The result of rewriting a file."""

    path: Path
    is_changed: bool
    offset: FileOffset
    """The length of the rewritten file, and a hash of its end."""


class CrawlFiles:
    """The files of a crawl in a folder; from `lock` to `close`, no other process writes them."""

    def __init__(self, connection: Connection, crawl_id: int, name: str, folder: Path) -> None:
        self.connection = connection
        self.crawl_id = crawl_id
        self.name = name
        self.folder = folder
        self.result = ErasedFiles()
        self._locks: list[FileLock] = []
        self._rewritten: list[Path] = []
        """The files that `replace` must still replace by their rewritten versions."""
        self._image_files: set[str] = set()
        """The files of erased images, under the folder of images."""
        self._numbers = self._find_workers()
        """The numbers of the crawl's workers that wrote into this folder."""

    def lock(self) -> bool:
        """Take the locks of the workers of this folder; returns False if one of them is running."""
        for number in self._numbers:
            path = self.folder / pages_file(self.name, number)
            lock = take_lock(path.with_name(f".{path.stem}.lock"))
            if lock is None:
                return False
            self._locks.append(lock)
        return True

    def close(self) -> None:
        """Release the locks."""
        for lock in self._locks:
            lock.release()
        self._locks = []

    def erase(self, targets: ErasureTargets, image_files: Iterable[str]) -> ErasedFiles:
        """Rewrite the files without erased lines, and delete images; `replace` must be called after the commit."""
        self._image_files |= set(image_files)
        for number in self._numbers:
            self._rewrite_files_of_worker(number, targets)
        for path in self._earlier_files():
            if self._rewrite(path, None, targets).is_changed:
                put_in_place(path)
        self._delete_images()
        return self.result

    def replace(self) -> None:
        """Replace the old files by the rewritten ones."""
        for path in self._rewritten:
            put_in_place(path)
        self._rewritten = []

    def _find_workers(self) -> list[int]:
        """Return the numbers of the crawl's workers that wrote into this folder, and count the other workers."""
        folder_id = ""
        with suppress(FileNotFoundError):
            folder_id = (self.folder / FOLDER_ID_FILE).read_text(encoding="ascii")
        rows = self.connection.execute(select(output).where(output.c.crawl_id == self.crawl_id)).all()
        others = [row for row in rows if row.folder_id != folder_id]
        self.result.workers_elsewhere = sum(1 for row in others if row.pages_size + row.images_size > 0)
        return sorted(row.number for row in rows if row.folder_id == folder_id)

    def _rewrite_files_of_worker(self, number: int, targets: ErasureTargets) -> None:
        """Rewrite the files of a worker, and save their new lengths."""
        of_worker = files_of(self.crawl_id, number)
        pages = self.folder / pages_file(self.name, number)
        paths = pages, pages.with_suffix(".images.jsonl")
        new_offsets = []
        for path, offset in zip(paths, file_offsets(self.connection, *of_worker), strict=True):
            new_offsets.append(self._rewrite_committed(path, offset, targets) if path.exists() else offset)
        pages_offset, images_offset = new_offsets
        save_file_offsets(self.connection, pages_offset, images_offset, *of_worker)

    def _rewrite_committed(self, path: Path, committed: FileOffset, targets: ErasureTargets) -> FileOffset:
        """Rewrite the committed lines of a worker's file; returns the offset to commit."""
        lines = JsonLines(path)
        committed = lines.open(committed)  # completes an earlier erasure, and cuts off uncommitted lines
        lines.close()
        rewritten = self._rewrite(path, committed.size, targets)
        if not rewritten.is_changed:
            return committed
        self._rewritten.append(path)
        return rewritten.offset

    def _rewrite(self, path: Path, size: int | None, targets: ErasureTargets) -> RewrittenLines:
        """Write the lines of the first `size` bytes into a new file, without the lines of erased pages and images. The
        new file is deleted if it is the same as the old one.
        """
        is_changed = False
        length = 0
        end = b""
        with path.open("rb") as old, rewritten_path(path).open("wb") as new:
            for line in lines_up_to(old, size):
                kept = self._erase_from_line(line, targets)
                is_changed |= kept != line
                new.write(kept)
                length += len(kept)
                end = (end + kept)[-END_BYTES:]
            new.flush()
            os.fsync(new.fileno())
        if not is_changed:
            rewritten_path(path).unlink()
        self.result.cleared.add(path)
        return RewrittenLines(path=path, is_changed=is_changed, offset=FileOffset(length, file_end_hash(end)))

    def _erase_from_line(self, line: bytes, targets: ErasureTargets) -> bytes:
        """Return what stays of a line: all, nothing, or the record of another page without addresses of erased pages.

        Removed and changed lines are counted in the result.
        """
        record = parsed(line)
        if record is None:
            # Part of a line, which was never committed.
            is_of_target = any(target.encode() in line for target in targets.all)
            self.result.lines += is_of_target
            return b"" if is_of_target else line
        # The record of an image has `page`, the page that shows the image, and `path`, the file of the image.
        target = targets.target_of(record.get("url")) or targets.target_of(record.get("page"))
        if target is not None:
            self.result.stored_targets.add(target)
            self.result.lines += 1
            if "path" in record:
                self._image_files.add(image_file_of(record))
            return b""
        values = cleared_names(record, targets)
        self.result.changed_lines += bool(values)
        return json_line(record | values) if values else line

    def _earlier_files(self) -> list[Path]:
        """The files of earlier crawls of this name, which a fresh start has renamed.

        A file of `bees-2` may be from worker 2 of the crawl `bees`. It is skipped if there is a crawl named `bees-2`.
        """
        other_crawls = set(self.connection.execute(select(crawl.c.name).where(crawl.c.id != self.crawl_id)).scalars())
        pattern = re.compile(rf"({re.escape(self.name)}(?:-\d+)?)(?:\.images)?\.previous(?:-\d+)?\.jsonl")
        matches = [(path, pattern.fullmatch(path.name)) for path in sorted(self.folder.glob("*.jsonl"))]
        return [path for path, match in matches if match is not None and match[1] not in other_crawls]

    def _delete_images(self) -> None:
        """Delete the files of erased images, unless another image has the same file."""
        erased = {file for file in self._image_files if IMAGE_FILE.fullmatch(file)}
        if not erased:
            return
        # Keep the images that remaining lines list. The remaining lines of a rewritten file are in its new version.
        for path in sorted(self.folder.glob("*.images*.jsonl")):
            current_path = rewritten_path(path) if path in self._rewritten else path
            with current_path.open("rb") as lines:
                for line in lines_up_to(lines, None):
                    erased.discard(image_file_of(parsed(line) or {}))
        used_files = self.connection.execute(select(verdict.c.file).where(verdict.c.file.is_not(None)))
        erased.difference_update(used_files.scalars())
        for file in sorted(erased):
            path = self.folder / IMAGES / file
            with suppress(FileNotFoundError):
                path.unlink()
                self.result.images += 1


def lines_up_to(file: Any, size: int | None) -> Iterator[bytes]:
    """The lines of a file up to a size in bytes, where the last may be cut; all lines if `size` is None."""
    bytes_left = size
    for line in file:
        part = line if bytes_left is None else line[:bytes_left]
        if not part:
            return
        yield part
        if bytes_left is not None:
            bytes_left -= len(part)


def parsed(line: bytes) -> dict[str, Any] | None:
    """The record in a line; None if the line is not a record."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def image_file_of(record: dict[str, Any]) -> str:
    """The path of an image's file in the folder of images: the last two parts of the path in its record."""
    return "/".join(PurePosixPath(str(record.get("path") or "")).parts[-2:])
