"""The end of a run's log, for people who look from afar: no more of it, and of no other file."""

import os
import stat
from pathlib import Path
from typing import NamedTuple

from crawler.arguments import NAME
from crawler.schedule.children import log_of

MOST_BYTES = 65_536
MOST_LINES = 200


class Tail(NamedTuple):
    """The end of a log."""

    text: str
    lines: int
    bytes: int
    """Of the whole log."""
    is_cut: bool
    """Whether there is more before it."""


def tail(output: Path, name: str, number: int) -> Tail | None:
    """The last lines of a run's log; None where there is none in this folder.

    Who can write to the database could give a job any name, and who can write to the folder put a link there.
    """
    if not NAME.fullmatch(name):
        return None
    path = log_of(output, name, number)
    try:
        if path.resolve() != log_of(output.resolve(), name, number):
            return None
        with open(os.open(path, _HOW), "rb") as file:  # noqa: PTH123 - a descriptor
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return None
            file.seek(max(0, found.st_size - MOST_BYTES))
            text = file.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, RuntimeError):  # a link that leads to itself
        return None
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []
    whole = lines[1:] if found.st_size > MOST_BYTES and len(lines) > 1 else lines
    last = whole[-MOST_LINES:]
    return Tail("\n".join(last), len(last), found.st_size, len(last) < len(lines) or found.st_size > MOST_BYTES)


# A pipe that somebody put there would be waited for.
_HOW = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
