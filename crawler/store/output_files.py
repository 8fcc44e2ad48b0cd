"""Files of JSON objects, one a line, that can be cut back to what is committed."""

import json
import logging
import os
from collections.abc import Iterable, Mapping
from errno import ENOENT
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from crawler.page.text import one_line

logger = logging.getLogger(__name__)

END = 64  # bytes whose hash tells whether a file is the one that was written


class FileOffset(NamedTuple):
    """How much of a file is committed, and a hash of the last committed bytes."""

    size: int = 0
    end: int = 0


class JsonLines:
    """A file of JSON objects that is committed up to an offset; created with the first record."""

    def __init__(self, path: Path, offset: FileOffset | None = None) -> None:
        self.path = path
        self.offset = offset or FileOffset()
        self._file = -1

    def open(self) -> None:
        """Cut off what was never committed; rename a file that is not the one that was written."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._open()
        if not self._is_ours():
            self.close()
            aside = rename_previous(self.path)
            why = f"is not as this crawl left it, and is kept as {aside}" if aside else "is gone"
            logger.warning("%s %s; it is begun anew: what it held is in the database alone", self.path, why)
            self.offset = FileOffset()
            self._open()
        self.cut()

    def append(self, records: Iterable[Mapping[str, Any]]) -> FileOffset:
        """Write and sync records behind what is committed; the offset to commit."""
        data = b"".join(map(json_line, records))
        if not data:
            return self.offset
        try:
            if self._file < 0:
                self.open()
            if os.name == "posix" and os.fstat(self._file).st_nlink == 0:
                raise OSError(ENOENT, "it was deleted")
            self.cut()
            offset = FileOffset(self.offset.size + len(data), _hash((self._read_end() + data)[-END:]))
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        return offset

    def cut(self) -> None:
        """Cut off what was written and not committed."""
        if self._file >= 0:
            os.ftruncate(self._file, self.offset.size)

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o644)

    def _is_ours(self) -> bool:
        return _hash(self._read_end()) == self.offset.end

    def _read_end(self) -> bytes:
        """The last committed bytes; fewer if the file is shorter."""
        os.lseek(self._file, max(0, self.offset.size - END), os.SEEK_SET)
        return os.read(self._file, min(END, self.offset.size))


def _hash(end: bytes) -> int:
    """63 bits, 0 for no bytes."""
    return int.from_bytes(blake2b(end, digest_size=8).digest(), "big") >> 1 if end else 0


def json_line(record: Mapping[str, Any]) -> bytes:
    """An object as a line, in UTF-8."""
    return one_line(json.dumps(record, ensure_ascii=False)).encode("utf-8", "replace") + b"\n"


def rename_previous(path: Path) -> Path | None:
    """Rename a file that is not empty to the first free of NAME.previous.jsonl, NAME.previous-2.jsonl and so on."""
    if not path.exists() or not path.stat().st_size:
        return None
    aside, number = path.with_suffix(f".previous{path.suffix}"), 1
    while aside.exists():
        number += 1
        aside = path.with_suffix(f".previous-{number}{path.suffix}")
    return path.rename(aside)
