"""Writes files and folders so that they appear complete or not at all.

An output is written beside its place, under the temporary name NAME.TOKEN.part, and renamed to NAME when it is
complete. The token is random, so that no other process, even on another machine, writes the same temporary file.
"""

import contextlib
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, NoReturn, Self, TypeVar

from crawler.errors import OutputError, UnopenedOutputError, WrongUseError

MARKER = ".winnow-export"
"""A file that marks a folder as one that may be replaced."""
LONGEST_NAME = 255 - len(".0123456789abcdef.part")
"""The most bytes of a name: file systems allow 255, and the temporary name is longer."""
T = TypeVar("T")


class _Atomic:
    """What atomic files and folders have in common."""

    shown: str
    """The path as the user gave it, for errors."""
    path: Path | None
    part: Path | None = None
    """The temporary file or folder, until the output is finished."""

    def _begin(self, make: Callable[[Path], T]) -> T:
        """Create the temporary file or folder."""
        assert self.path is not None  # noqa: S101 - standard output has no part
        self.part = self.path.with_name(f"{self.path.name}.{secrets.token_hex(8)}.part")
        try:
            return make(self.part)
        except BaseException:  # also KeyboardInterrupt: no caller can discard the output yet
            _remove(self.part)
            raise

    def _unopened(self, error: OSError) -> UnopenedOutputError:
        return UnopenedOutputError("{path} cannot be written to ({why})", path=repr(self.shown), why=_reason(error))

    def _output_error(self, error: OSError) -> OutputError:
        return OutputError("{path} cannot be written any further ({why})", path=repr(self.shown), why=_reason(error))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def close(self) -> None:
        """Close the output; if it is not finished, the temporary file stays, unless it is empty."""

    def discard(self) -> None:
        """Close the output; if it is not finished, the temporary file is deleted."""
        self.close()
        if self.part is not None:
            _remove(self.part)
            self.part = None


class AtomicFile(_Atomic):
    """A file that appears when it is complete. Pipes, devices and standard output (no path) are written directly."""

    def __init__(self, path: str | None) -> None:
        self.shown = "standard output" if path is None else path
        self.path = None if path is None else Path(os.path.realpath(path))
        try:
            self._file = self._open()
        except OSError as error:
            raise self._unopened(error) from None

    def _open(self) -> BinaryIO:
        if self.path is None:
            return sys.stdout.buffer
        if self.path.exists() and not stat.S_ISREG(self.path.stat().st_mode):
            return self.path.open("wb")  # a folder raises an error by itself
        return self._begin(lambda part: part.open("wb"))

    @property
    def is_terminal(self) -> bool:
        """Whether the output is a terminal."""
        return self.path is None and self._file.isatty()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        try:
            self._file.write(data)
        except OSError as error:
            self._raise(error)

    def finish(self) -> None:
        """Sync the file and rename it to its own name."""
        try:
            self._file.flush()
            if self.path is not None and self.part is not None:
                os.fsync(self._file.fileno())
                self._file.close()
                self.part.replace(self.path)
                self.part = None
        except OSError as error:
            self._raise(error)

    def _raise(self, error: OSError) -> NoReturn:
        """Raise an OutputError; but the error itself if standard output is not read to its end, as by `head`."""
        if self.path is None and isinstance(error, BrokenPipeError):
            raise error
        raise self._output_error(error) from None

    def close(self) -> None:
        if self.path is None:
            try:
                self._file.flush()
            except OSError:  # The reader has closed the pipe: keep Python from flushing again at exit.
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._file.fileno())
            return
        with contextlib.suppress(OSError):  # the disk is full, which was already reported
            self._file.close()
        if self.part is not None and self.part.exists() and not self.part.stat().st_size:
            self.part.unlink()
            self.part = None


class AtomicFolder(_Atomic):
    """A folder that appears when it is complete. It replaces only a folder that is empty or has a MARKER."""

    def __init__(self, path: str) -> None:
        self.shown = path
        self.path: Path = Path(os.path.realpath(path))
        self._folders: set[str] = set()
        """The folders inside that exist already."""
        try:
            if self.path.exists() and not self._is_replaceable():
                raise UnopenedOutputError(
                    "{path} exists and was not written by an export; give another name", path=repr(path)
                )
            self._begin(Path.mkdir)
        except OSError as error:
            raise self._unopened(error) from None

    def _is_replaceable(self) -> bool:
        return self.path.is_dir() and ((self.path / MARKER).is_file() or not any(self.path.iterdir()))

    def write(self, name: str, data: bytes) -> None:
        """Write a file; its name may contain one /."""
        assert self.part is not None  # noqa: S101 - it is not finished
        folder = name.rpartition("/")[0]
        try:
            if folder not in self._folders:
                (self.part / folder).mkdir(exist_ok=True)
                self._folders.add(folder)
            (self.part / name).write_bytes(data)
        except OSError as error:
            raise self._output_error(error) from None

    def append(self, name: str, data: bytes) -> None:
        """Append to a file."""
        assert self.part is not None  # noqa: S101 - as above
        try:
            with (self.part / name).open("ab") as file:
                file.write(data)
        except OSError as error:
            raise self._output_error(error) from None

    def finish(self) -> None:
        """Rename the folder to its own name, in place of an earlier one."""
        assert self.part is not None  # noqa: S101 - as above
        earlier = self.part.with_suffix(".old")
        try:
            (self.part / MARKER).write_text("Made by winnow export, which may replace this folder.\n", encoding="utf-8")
            if self.path.exists():
                self.path.rename(earlier)
            try:
                self.part.rename(self.path)
            except OSError:
                if earlier.exists():
                    earlier.rename(self.path)
                raise
        except OSError as error:
            raise self._output_error(error) from None
        self.part = None
        shutil.rmtree(earlier, ignore_errors=True)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    with contextlib.suppress(OSError):
        part.unlink()


def remove_parts(folder: Path, ending: str) -> int:
    """Delete the temporary files of outputs whose names end in `ending`; returns how many.

    The caller must know that no process is writing such an output.
    """
    temporary_name = re.compile(rf".+{re.escape(ending)}\.[0-9a-f]{{16}}\.part", re.DOTALL)
    parts = [path for path in sorted(folder.iterdir()) if temporary_name.fullmatch(path.name) and not path.is_dir()]
    for path in parts:
        _remove(path)
    return sum(not os.path.lexists(path) for path in parts)


def readable_file(name: str) -> Path:
    """The path of a regular file; raises a WrongUseError if it cannot be read, or only once, like a pipe."""
    path = Path(name)
    try:
        is_regular = path.is_file()
        if is_regular or not path.exists():
            path.open("rb").close()  # raises an error if the file is missing or cannot be read
    except OSError as error:
        raise WrongUseError("{path} cannot be read ({why})", path=repr(name[:200]), why=error.strerror) from None
    if not is_regular:
        raise WrongUseError("{path} is not a file", path=repr(name[:200]))
    return path


def check_apart(output: str | None, inputs: Iterable[Path]) -> None:
    """Raise a WrongUseError if the output is one of the inputs."""
    if output is not None and Path(output).exists() and any(path.samefile(output) for path in inputs):
        raise WrongUseError("{path} is an input and cannot be the output", path=repr(output))
