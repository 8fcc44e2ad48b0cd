"""A folder that is there as a whole or not at all."""

import contextlib
import os
import shutil
from pathlib import Path

from crawler.whole_file import OutputError

MARKER = ".winnow-export"
"""A file by which a folder is known that may be replaced."""


class WholeFolder:
    """A folder of files that is made under another name beside its own, OUT.PROCESS.part, and takes its own when it is
    done; there may be one before it only if it is empty or was made so itself.
    """

    def __init__(self, path: str) -> None:
        self.shown = path
        self.path = Path(os.path.realpath(path))
        self.part: Path | None = None
        self._made: set[str] = set()
        try:
            if self.path.exists() and not self._may_go():
                raise OutputError(f"{path!r} is there already and is no folder of an export: give another name")
            self.part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
            self.part.mkdir()
        except OSError as error:
            raise OutputError(f"{path!r} cannot be written to ({error.strerror})") from None
        except (KeyboardInterrupt, SystemExit):  # nobody has it yet who could discard it
            if self.part is not None:
                with contextlib.suppress(OSError):
                    self.part.rmdir()  # if it was made: it is empty
            raise

    def _may_go(self) -> bool:
        return self.path.is_dir() and ((self.path / MARKER).is_file() or not any(self.path.iterdir()))

    def write(self, name: str, data: bytes) -> None:
        """Write a file; / stands between its folder and its name."""
        assert self.part is not None  # noqa: S101 - it is not finished
        folder = name.rpartition("/")[0]
        try:
            if folder not in self._made:
                (self.part / folder).mkdir(exist_ok=True)
                self._made.add(folder)
            (self.part / name).write_bytes(data)
        except OSError as error:
            raise self._failed(error) from None

    def finish(self) -> None:
        """Give the folder its name, now that it is whole; what was there before goes."""
        assert self.part is not None  # noqa: S101 - as above
        before = self.path.with_name(f"{self.path.name}.{os.getpid()}.old")
        try:
            (self.part / MARKER).write_text("Made by scrapy export, which may replace this folder.\n", encoding="utf-8")
            if self.path.exists():
                self.path.rename(before)
            try:
                self.part.rename(self.path)
            except OSError:
                if before.exists():
                    before.rename(self.path)
                raise
        except OSError as error:
            raise self._failed(error) from None
        self.part = None
        shutil.rmtree(before, ignore_errors=True)

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(f"{self.shown!r} cannot be written any further ({error.strerror})")

    def discard(self) -> None:
        """Remove what was written, unless it is finished."""
        if self.part is not None:
            with contextlib.suppress(OSError):
                shutil.rmtree(self.part)
            self.part = None
