"""A downloaded picture as it lies on disk: the bytes of a stranger, given on as a picture or not at all."""

from pathlib import Path

from crawler.dashboard.request import Answer
from crawler.page.image_file import type_of

MOST_BYTES = 10 * 1024 * 1024
HEADERS = (
    ("Content-Security-Policy", "default-src 'none'; sandbox"),
    ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "private, max-age=3600"),
    ("Content-Disposition", "inline"),
)


def picture(path: Path) -> Answer | None:
    """The picture in a file as an answer; None where there is none that may be shown."""
    body = read_file(path, MOST_BYTES + 1)
    if body is None or len(body) > MOST_BYTES:
        return None
    found = type_of(body)
    return Answer(body, found.media_type, headers=HEADERS) if found is not None else None


def read_file(path: Path, most: int) -> bytes | None:
    """The first bytes of a file; None where it is none that can be read, and for a link."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(most)
    except OSError:
        return None
