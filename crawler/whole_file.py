"""Output that is there as a whole or not at all."""

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO


class OutputError(Exception):
    """Why the output cannot be written, in one sentence."""


class WholeFile:
    """A file that is written under another name beside its own, OUT.PROCESS.part, and takes its own when it is done.

    Without a path it is standard output; a pipe or a device is written to directly.
    """

    def __init__(self, path: str | None) -> None:
        self.shown = path or "standard output"
        self.path = Path(os.path.realpath(path)) if path else None
        self.part: Path | None = None
        try:
            self._file = self._open()
        except OSError as error:
            raise OutputError(f"{self.shown!r} cannot be written to ({error.strerror})") from None
        except (KeyboardInterrupt, SystemExit):  # nobody has it yet who could discard it
            if self.part is not None:
                self.part.unlink(missing_ok=True)
            raise

    def _open(self) -> BinaryIO:
        if self.path is None:
            return sys.stdout.buffer
        if self.path.exists() and not stat.S_ISREG(self.path.stat().st_mode):
            return self.path.open("wb")  # a folder says so itself
        self.part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        return self.part.open("wb")

    @property
    def is_terminal(self) -> bool:
        """Whether people read what is written."""
        return self.path is None and self._file.isatty()

    def write(self, line: bytes) -> None:
        """Write a line behind the others."""
        try:
            self._file.write(line)
        except OSError as error:
            raise self._failed(error) from None

    def finish(self) -> None:
        """Give the file its name, now that it is whole."""
        try:
            self._file.flush()
            if self.path is None or self.part is None:
                return
            os.fsync(self._file.fileno())
            self._file.close()
            self.part.replace(self.path)
            self.part = None
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(f"{self.shown!r} cannot be written any further ({error.strerror})")

    def discard(self) -> None:
        """Close the file; where it is not finished, nothing of it stays."""
        self.close()
        if self.part is not None:
            with contextlib.suppress(OSError):
                self.part.unlink()
            self.part = None

    def close(self) -> None:
        """Close the file; where it is not finished, what was written stays under the other name."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            if self.part is not None and not self.part.stat().st_size:
                self.part.unlink()
                self.part = None
            return
        try:
            self._file.flush()
        except OSError:  # nobody reads it any more: Python must not try again when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._file.fileno())
