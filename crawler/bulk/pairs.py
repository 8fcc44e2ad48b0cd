"""Which file of an archive becomes which file of lines."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from crawler.archives.inputs import STANDARD_INPUT, kind_of_name
from crawler.files import LONGEST

ENDING = ".jsonl"
NO_ARCHIVE = "--into cleans WARC files, JSON lines and Tianwang's raw pages, and -o all the others"


class PairsError(Exception):
    """Why these files cannot be cleaned into this folder, in one sentence."""


@dataclass(frozen=True)
class Pair:
    """A file, in full so that other machines find it, and the name of what it becomes."""

    shown: str
    input: Path
    output: str
    size: int | None
    """Bytes as it is stored; None when the file cannot be read."""


def pairs(names: Sequence[str]) -> list[Pair]:
    """What each file becomes; a PairsError if one is no archive, or two would become the same file.

    A file keeps its whole name, so that `2004.warc` and `2004.warc.gz` do not meet.
    """
    found = [_pair(name) for name in names]
    taken: dict[str, Pair] = {}
    for pair in found:
        other = taken.setdefault(pair.output.casefold(), pair)  # some file systems do not tell A from a
        if other is not pair:
            raise PairsError(f"{other.shown!r} and {pair.shown!r} would both become {pair.output!r}")
    return found


def largest_first(found: Iterable[Pair]) -> list[Pair]:
    """In the order in which they are begun: who is free at the end shall not have to wait for a large one."""
    return sorted(found, key=lambda pair: (-(pair.size or 0), pair.output))


def _pair(name: str) -> Pair:
    if name == STANDARD_INPUT:
        raise PairsError(f"standard input has no name to give to what it becomes; {NO_ARCHIVE}")
    path = Path(os.path.abspath(name))  # noqa: PTH100 - resolve() would give the names of what links lead to
    try:
        status = path.stat()
    except (OSError, ValueError):
        size = None
    else:
        size = status.st_size
        if not S_ISREG(status.st_mode):
            what = "a folder" if S_ISDIR(status.st_mode) else "no file"
            raise PairsError(f"{name!r} is {what}; {NO_ARCHIVE}")
    kind = kind_of_name(name)
    if kind is not None and kind.name == "HTML":
        raise PairsError(f"{name!r} is HTML; {NO_ARCHIVE}")
    if len(os.fsencode(path.name + ENDING)) > LONGEST:
        raise PairsError(f"the name of {name!r} is too long: {LONGEST - len(ENDING)} bytes are allowed")
    return Pair(name, path, path.name + ENDING, size)
