"""Files of JSON objects, one a line, that can be cut back to what was committed.

The folder of a worker's files: known by a name that is kept in it, wherever it is mounted.
"""

import json
import logging
import os
import secrets
from collections.abc import Iterable, Mapping
from errno import ENOENT
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from crawler.page.text import one_line

logger = logging.getLogger(__name__)

END = 64  # bytes, by which a file is known to be the one that was written


class FileOffset(NamedTuple):
    """How much of a file is committed, and a hash of the last bytes of that."""

    size: int = 0
    end: int = 0


class JsonLines:
    """A file of JSON objects that is committed up to a mark; made when there is something to write."""

    def __init__(self, path: Path, mark: FileOffset | None = None) -> None:
        self.path = path
        self.mark = mark or FileOffset()
        self._file = -1

    def open(self) -> None:
        """Cut off what was never committed; a file that is not the one that was written is kept aside."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._open()
        if not self._is_ours():
            self.close()
            aside = rename_previous(self.path)
            why = f"is not as this crawl left it, and is kept as {aside}" if aside else "is gone"
            logger.warning("%s %s; it is begun anew: what it held is in the database alone", self.path, why)
            self.mark = FileOffset()
            self._open()
        self.cut()

    def append(self, records: Iterable[Mapping[str, Any]]) -> FileOffset:
        """Write records behind what is committed, for good; the mark to commit then."""
        data = b"".join(map(json_line, records))
        if not data:
            return self.mark
        try:
            if self._file < 0:
                self.open()
            if os.name == "posix" and os.fstat(self._file).st_nlink == 0:
                raise OSError(ENOENT, "it was deleted")
            self.cut()
            mark = FileOffset(self.mark.size + len(data), _hash((self._read_end() + data)[-END:]))
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        return mark

    def cut(self) -> None:
        """Forget what was written and not committed."""
        if self._file >= 0:
            os.ftruncate(self._file, self.mark.size)

    def close(self) -> None:
        """Write nothing more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o644)

    def _is_ours(self) -> bool:
        return _hash(self._read_end()) == self.mark.end

    def _read_end(self) -> bytes:
        """The last bytes of what is committed; fewer if the file is shorter."""
        os.lseek(self._file, max(0, self.mark.size - END), os.SEEK_SET)
        return os.read(self._file, min(END, self.mark.size))


def _hash(end: bytes) -> int:
    """A number of 63 bits, 0 for nothing."""
    return int.from_bytes(blake2b(end, digest_size=8).digest(), "big") >> 1 if end else 0


def json_line(record: Mapping[str, Any]) -> bytes:
    """An object as a line, in UTF-8."""
    return one_line(json.dumps(record, ensure_ascii=False)).encode("utf-8", "replace") + b"\n"


def storable(text: str) -> str:
    """A text without the characters that PostgreSQL refuses."""
    text = text.replace("\x00", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def rename_previous(path: Path) -> Path | None:
    """Rename what an earlier crawl left, if there is something in it, to the first free of NAME.previous.jsonl,
    NAME.previous-2.jsonl and so on; its new name.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    aside, number = path.with_suffix(f".previous{path.suffix}"), 1
    while aside.exists():
        number += 1
        aside = path.with_suffix(f".previous-{number}{path.suffix}")
    return path.rename(aside)


def pages_file(name: str, number: int) -> str:
    """The name of the file in which the worker of this number writes a crawl's pages."""
    return f"{name}.jsonl" if number == 1 else f"{name}-{number}.jsonl"


FOLDER_ID_FILE = ".folder_id"  # the file that names a folder


def folder_id(folder: Path) -> tuple[str, bool]:
    """What names this folder, wherever it is mounted and whatever the machine is called; and whether it is a copy."""
    path = folder / FOLDER_ID_FILE
    if not path.exists():
        write_folder_id(folder, secrets.token_hex(16))
    name, number = path.read_text(encoding="ascii").split()
    return name, number != str(path.stat().st_ino)


def write_folder_id(folder: Path, name: str) -> None:
    """Write the name of a folder into it, with the number by which the file system knows that file alone."""
    path, mine = folder / FOLDER_ID_FILE, folder / f"{FOLDER_ID_FILE}-{secrets.token_hex(8)}"
    with mine.open("w", encoding="ascii") as file:
        file.write(f"{name} {mine.stat().st_ino}")
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        mine.replace(path)
        return
    try:
        os.link(mine, path)
    except FileExistsError:  # another worker starts here at the same moment
        pass
    except OSError:  # a file system without links
        mine.replace(path)
    mine.unlink(missing_ok=True)
