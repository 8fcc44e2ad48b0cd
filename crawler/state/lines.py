"""Files of JSON objects, one a line, that can be cut back to what was committed."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# Ends of lines to some readers, which JSON leaves as they are.
OTHER_LINE_ENDS = {"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


class JsonLines:
    """A file of JSON objects of which so many bytes are committed; made when there is something to write."""

    def __init__(self, path: Path, size: int = 0) -> None:
        self.path = path
        self.size = size
        self._file = -1

    def open(self) -> None:
        """Cut off what was never committed; a file that was taken away starts anew."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o644)
        self.size = min(self.size, os.lseek(self._file, 0, os.SEEK_END))
        self.cut()

    def append(self, records: Iterable[Mapping[str, Any]]) -> int:
        """Write records behind what is committed, for good; the size of the file then."""
        data = b"".join(map(_line, records))
        size = self.size + len(data)
        if data:
            try:
                if self._file < 0:
                    self.open()
                self.cut()
                while data:
                    data = data[os.write(self._file, data) :]
                os.fsync(self._file)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self.path)) from error
        return size

    def cut(self) -> None:
        """Forget what was written and not committed."""
        if self._file >= 0:
            os.ftruncate(self._file, self.size)

    def close(self) -> None:
        """Write nothing more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False)
    for end, escaped in OTHER_LINE_ENDS.items():
        text = text.replace(end, escaped)
    return text.encode("utf-8", "replace") + b"\n"


def storable(text: str) -> str:
    """A text without the characters that PostgreSQL refuses."""
    text = text.replace("\x00", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def keep_aside(path: Path) -> None:
    """Rename what an earlier crawl left to NAME.previous.jsonl, if there is something in it."""
    if path.exists() and path.stat().st_size:
        path.replace(path.with_suffix(f".previous{path.suffix}"))


def pages_file(name: str, number: int) -> str:
    """The name of the file in which the worker of this number writes a crawl's pages."""
    return f"{name}.jsonl" if number == 1 else f"{name}-{number}.jsonl"
