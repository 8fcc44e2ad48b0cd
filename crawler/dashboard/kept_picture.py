"""A downloaded picture as it lies on disk: the bytes of a stranger, given on as a picture or not at all.

What the database names is no path yet: it must look like the names that the crawl gives. Neither the file nor its
folder may be a link, which somebody else may have put there, and what is opened must be a file and no pipe.
"""

import os
import re
import stat
from pathlib import Path

from crawler.dashboard.request import Answer
from crawler.picture import type_of

MOST_BYTES = 10 * 1024 * 1024
NAME = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}\.(?:png|jpg|gif|webp|avif|bmp|ico)", re.ASCII)
HEADERS = (
    ("Content-Security-Policy", "default-src 'none'; sandbox"),
    ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "private, max-age=3600"),
    ("Content-Disposition", "inline"),
)
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def picture(folder: Path, name: str) -> Answer | None:
    """The picture of this name as an answer; None where there is none that may be shown."""
    if not is_name(name):
        return None
    try:
        body = _read(folder / name[:2], name[3:])
    except OSError:
        return None
    found = type_of(body) if body is not None else None
    return Answer(body or b"", found.media_type, headers=HEADERS) if found is not None else None


def is_name(name: str | None) -> bool:
    """Whether a crawl gives such names to pictures."""
    return name is not None and NAME.fullmatch(name) is not None


def _read(folder: Path, name: str) -> bytes | None:
    """What is in a file; None where it is none, or too large."""
    if folder.is_symlink() or (folder / name).is_symlink():
        return None
    if os.open in os.supports_dir_fd:  # so that the folder is no other one by now
        parent = os.open(folder, FLAGS | os.O_DIRECTORY)
        try:
            file = os.open(name, FLAGS, dir_fd=parent)
        finally:
            os.close(parent)
    else:
        file = os.open(folder / name, FLAGS)
    with os.fdopen(file, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            return None
        return opened.read(MOST_BYTES)
