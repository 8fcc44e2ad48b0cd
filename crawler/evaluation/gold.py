"""Pages with their main text as people labelled it: JSON lines, one file a set."""

import gzip
import json
import lzma
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import urlsplit

BROKEN_OFF = (OSError, EOFError, lzma.LZMAError, zlib.error)
ENDINGS = (".gz", ".xz", ".jsonl", ".json")


class Gold(NamedTuple):
    """A saved page and its main text."""

    id: str
    url: str
    lang: str
    page_type: str
    html: str
    gold: str

    @property
    def host(self) -> str:
        """The host the page is from, empty where its address tells none."""
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:
            return ""


class GoldSet(NamedTuple):
    """The pages of one file, and what of it could not be read."""

    name: str
    pages: tuple[Gold, ...]
    faults: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """16 hex digits that sets share whose pages and gold texts are the same."""
        digest = blake2b(digest_size=8)
        for page in self.pages:
            for part in (page.id, page.html, page.gold):
                digest.update(part.encode("utf-8", "surrogatepass") + b"\xff")
        return digest.hexdigest()


def read_set(path: Path) -> GoldSet:
    """The pages of a file; a line that is none is named with its place, and left out."""
    pages, faults = [], []
    for place, found in _lines(path):
        if isinstance(found, Gold):
            pages.append(found)
        else:
            faults.append(f"{path}:{place}: {found}")
    if not pages:
        faults.append(f"{path}: no page is in it")
    return GoldSet(set_name(path), tuple(pages), tuple(faults))


def set_name(path: Path) -> str:
    """What a file is called in tables.

    >>> set_name(Path("gold/news.2024.jsonl.xz"))
    'news.2024'
    """
    name = path.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name or path.name


def _lines(path: Path) -> Iterator[tuple[int, Gold | str]]:
    """The lines of a file with their numbers: pages, or what is wrong with them."""
    number = 0
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _page(line, number)
    except BROKEN_OFF as error:
        yield number + 1, f"the file cannot be read from here on ({error})"


def opened(path: Path) -> BinaryIO:
    """A file that may be compressed, by its name."""
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path))
    if path.suffix == ".xz":
        return cast(BinaryIO, lzma.open(path))
    return path.open("rb")


def _page(line: bytes, number: int) -> Gold | str:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return "no JSON"
    if not isinstance(row, dict):
        return "no object"
    wrong = [name for name in ("html", "gold") if not isinstance(row.get(name), str)]
    if wrong:
        return f"{' and '.join(wrong)} must be there and be text"
    url, lang, page_type = (
        value if isinstance(value := row.get(name), str) else "" for name in ("url", "lang", "page_type")
    )
    return Gold(str(row.get("id", number)), url, lang, page_type, row["html"], row["gold"])
