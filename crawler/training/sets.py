"""Pages to learn from, as files of JSON lines have them: with gold text, or with snippets that it has and lacks."""

import gzip
import json
import lzma
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from crawler.evaluation.gold import set_name
from crawler.page.page import Page
from crawler.urls.parsing import absolute, site

OPEN: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open}
BROKEN_OFF = (lzma.LZMAError, zlib.error, gzip.BadGzipFile, EOFError, UnicodeDecodeError)


class GoldError(Exception):
    """Gold that cannot be read; the message is one sentence for the user."""


class Row(NamedTuple):
    """A page of a file."""

    id: str
    url: str
    html: str
    gold: str | None
    """None where only snippets are known."""
    present: tuple[str, ...]
    absent: tuple[str, ...]
    page_type: str

    @property
    def page(self) -> Page:
        """The page, read."""
        return Page.from_html(self.html, self.url)

    @property
    def site(self) -> str:
        """The site that the page is of."""
        return site(self.url)


class GoldSet(NamedTuple):
    """What a file holds."""

    name: str
    path: Path
    pages: int
    sites: frozenset[str]
    fingerprint: str
    """As `scrapy evaluate` prints it, where there are gold texts."""
    is_golden: bool


class Count:
    """Counts the pages of a file while they are read."""

    def __init__(self, path: Path) -> None:
        self.path, self.name, self.pages, self.is_golden = path, set_name(path), 0, False
        self.sites: set[str] = set()
        self.digest = blake2b(digest_size=8)

    def add(self, row: Row) -> None:
        """Count one more page."""
        self.pages += 1
        self.sites.add(row.site)
        self.is_golden |= row.gold is not None
        known = (*row.present, "", *row.absent) if row.gold is None else (row.gold,)
        for part in (row.id, row.html, *known):
            self.digest.update(part.encode("utf-8", "surrogatepass") + b"\xff")

    def done(self) -> GoldSet:
        """What was counted."""
        return GoldSet(self.name, self.path, self.pages, frozenset(self.sites), self.digest.hexdigest(), self.is_golden)


def rows(path: Path, snippets: bool = False) -> Iterator[Row]:
    """The pages of a file, those of snippets only if they are wanted; a GoldError at a line that is none."""
    with OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        try:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _row(_object(line, f"line {number} of {path}", snippets), path, number)
        except BROKEN_OFF as error:
            raise GoldError(f"{path} cannot be read: {error}") from error


def _object(line: str, place: str, snippets: bool) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise GoldError(f"{place} is no JSON: {error}") from error
    if isinstance(found, dict) and isinstance(found.get("html"), str):
        if isinstance(found.get("gold"), str):
            return found
        if snippets and "gold" not in found and all(_is_list(found.get(name)) for name in ("with", "without")):
            return found
    raise GoldError(f"{place} has no html and gold{', nor html, with and without' * snippets}")


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _row(found: dict[str, Any], path: Path, number: int) -> Row:
    return Row(
        id=str(found.get("id", number)),
        # A page without an address is a site by itself.
        url=absolute("", str(found.get("url"))) or f"http://{path.name}-{number}/",
        html=found["html"],
        gold=found.get("gold"),
        present=tuple(found.get("with", ())),
        absent=tuple(found.get("without", ())),
        page_type=str(found.get("page_type") or ""),
    )
