"""A file of lines while it is written: NAME.clean-TOKEN.part, which nobody else writes, whatever the machine.

Beside it lies NAME.clean-TOKEN.lock, which is locked while its writer lives. So a part that a dead one left can be told
from one that is being written, and swept.
"""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Self

from filelock import FileLock, Timeout

from crawler.whole_file import OutputError

PART, LOCK = ".part", ".lock"
STRAY = re.compile(r".+\.jsonl\.clean-[0-9a-f]{16}\.(?:part|lock)", re.DOTALL)
LONGEST = 255 - len(".clean-") - 16 - len(PART)
"""Bytes of an output's name, so that the part's is one that file systems take."""


class Part:
    """Lines that become a file when they are all there, and else nothing."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.path = output.with_name(f"{output.name}.clean-{secrets.token_hex(8)}{PART}")
        self._lock = FileLock(self.path.with_suffix(LOCK))
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        try:
            self.output.parent.stat()  # the lock would make a folder that is not mounted here
            self._lock.acquire(timeout=0)
            self._file = self.path.open("xb")
        except OSError as error:
            self.__exit__()
            raise self._failed(error) from None
        return self

    def write(self, line: bytes) -> None:
        """Write a line behind the others."""
        assert self._file is not None  # noqa: S101 - it is open between enter and exit
        try:
            self._file.write(line)
        except OSError as error:
            raise self._failed(error) from None

    def finish(self) -> None:
        """Give the lines their name, now that they are all there and on the disk."""
        assert self._file is not None  # noqa: S101 - as above
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self.path.replace(self.output)
        except OSError as error:
            raise self._failed(error) from None

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # of a full disk, which was said before
            if self._file is not None:
                self._file.close()
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self._lock.release()
        with suppress(OSError):
            self.path.with_suffix(LOCK).unlink(missing_ok=True)

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(f"{str(self.output)!r} cannot be written ({error.strerror or type(error).__name__})")


def sweep(folder: Path) -> int:
    """How many parts were removed that nobody writes any more."""
    return sum(_swept(path) for path in sorted(_strays(folder)))


def _strays(folder: Path) -> Iterator[Path]:
    """The parts in a folder by their names, and locks whose parts are gone."""
    found = {path.stem: path for path in folder.iterdir() if STRAY.fullmatch(path.name)}
    yield from (folder / f"{stem}{PART}" for stem in found)


def _swept(part: Path) -> bool:
    """Whether there was a part without a writer, which is gone now."""
    lock = FileLock(part.with_suffix(LOCK))
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):  # it is being written, or is nobody's lock
        return False
    try:
        if part.is_dir():
            return False
        was_there = os.path.lexists(part)
        part.unlink(missing_ok=True)
        return was_there
    except OSError:
        return False
    finally:
        lock.release()
        with suppress(OSError):
            part.with_suffix(LOCK).unlink(missing_ok=True)
