"""One file of an archive cleaned into one file of lines: the piece of work, in whatever process on whatever machine.

Files cleaned by processes of this machine.
"""

import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crawler.archives.inputs import Input
from crawler.archives.records import Broken, InputError
from crawler.bulk.cleaning import Cleaned, Cleaner, Tally
from crawler.bulk.manifest import is_folder, maker
from crawler.bulk.pairs import NO_ARCHIVE, Pair
from crawler.bulk.parallel import as_done
from crawler.files import OutputError, WholeFile

NAMED = 10
"""Broken records of a file that are named; the others are counted: a file of nothing else must not fill the memory."""


def _this_worker() -> tuple[str, int, int]:
    """The machine, the process and the thread."""
    return socket.gethostname(), os.getpid(), threading.get_ident()


@dataclass
class FileResult:
    """The result of a file."""

    pair: Pair
    tally: Tally = field(default_factory=Tally)
    named: list[Broken] = field(default_factory=list)
    was_there: bool = False
    failed: str = ""
    """Why there is no output."""
    stops: bool = False
    """Whether other files would fail as well."""
    worker: tuple[str, int, int] = field(default_factory=_this_worker)


@dataclass(frozen=True)
class Work:
    """How files are cleaned, and into which folder."""

    folder: Path
    name: str
    """What tells the folder from others."""
    clean: Cleaner
    maker: str
    """Whose lines they are: another Winnow would write others."""

    def __call__(self, pair: Pair) -> FileResult:
        """Clean a file, in the order of its records; its result, and never an exception for what is in it."""
        result = FileResult(pair)
        try:
            self._check()
            if os.path.lexists(self.folder / pair.output):  # by one whose death was said before its success
                result.was_there = True
                return result
            self._clean(pair, result)
        except InputError as error:
            result.failed = str(error)
        except OutputError as error:
            result.failed, result.stops = str(error), True
        return result

    def _check(self) -> None:
        """Raise an OutputError when the lines would be others, or elsewhere."""
        if maker() != self.maker:
            raise OutputError(f"on {socket.gethostname()} is another Winnow or Python: {maker()}, not {self.maker}")
        if not is_folder(self.folder, self.name):
            raise OutputError(f"{str(self.folder)!r} on {socket.gethostname()} is not the folder that is written to")

    def _clean(self, pair: Pair, result: FileResult) -> None:
        source = Input(str(pair.input))
        if source.kind is None or source.kind.name == "HTML":
            source.close()
            raise InputError(f"{pair.shown!r} is HTML; {NO_ARCHIVE}")
        with WholeFile(str(self.folder / pair.output)) as output:
            for found in source.found():
                one = self.clean(found)
                result.tally.add(one)
                if isinstance(one, Cleaned):
                    output.write(one.line)
                elif isinstance(one, Broken) and len(result.named) < NAMED:
                    result.named.append(one)
            output.finish()


DIES = "the processes that clean it die"


def by_processes(work: Work, todo: Sequence[Pair], jobs: int, died: Callable[[], None]) -> Iterator[FileResult]:
    """The result of each file, as it is done; a file that kills two processes is given up."""
    yield from as_done(work, todo, jobs, lost, died)


def lost(pair: Pair) -> FileResult:
    """A file whose cleaning kills."""
    return FileResult(pair, failed=f"{pair.shown!r}: {DIES}")
