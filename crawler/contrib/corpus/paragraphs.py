"""`--dedupe paragraphs`: lines that a site repeats on several pages, which stay only on the first of them.

A paragraph is a line of at least `SHORTEST` bytes: newsletter boxes and legal lines are that long, headings and labels
are not. Two are the same if they have the same letters and digits. At least `FEWEST_PAGES` pages must have it: the
title and the first sentence of an article are also on the pages that list it, and must not go from the article.

The pages are read twice: the first time, 16 bytes for each paragraph go into temporary files, by the paragraph's hash,
so that one file at a time is sorted; memory holds the paragraphs that are repeated, with 16 bytes each.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from numpy.typing import NDArray

from crawler.export.selection import RemovalReason, Removed
from crawler.page.text import letters
from crawler.reports.stored_pages import StoredPage
from crawler.urls.address import address_of
from crawler.urls.parsing import host_of

SHORTEST = 40
"""Bytes of UTF-8: 40 Latin letters, 14 Chinese characters."""
FEWEST_PAGES = 5
"""Pages of a site that have a repeated paragraph."""
NEEDS = ("url", "text")
FIELDS = ("text", "markdown")
REPEATED = "dedupe: paragraphs"
NOTHING_ELSE = "dedupe: paragraphs alone"
LONGEST_SHOWN = 100
"""Characters of a paragraph in the list of what was removed."""
FILES = 64
PACKED = Struct("<qq")
# In Markdown, the address of a link is no part of what one reads.
TARGET = re.compile(r"\]\([^()\s]*\)")
GAP = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class RepeatedParagraphs:
    """The paragraphs that sites repeat, in order, and the first page of each."""

    paragraphs: NDArray[np.int64]
    first: NDArray[np.int64]

    def without(self, pages: Iterable[StoredPage], removed: Removed) -> Iterator[StoredPage]:
        """The pages without paragraphs that an earlier page has; pages that have nothing else are left out."""
        for page in pages:
            values = dict(page.values)
            lines: list[str] = []
            for name in FIELDS:
                if text := values.get(name):
                    values[name], gone = self._shortened(page, text)
                    lines = lines or gone
            if not lines:
                yield page
                continue
            is_empty = not values["text"]
            shown = [line[:LONGEST_SHOWN] for line in lines]
            reason = RemovalReason(NOTHING_ELSE if is_empty else REPEATED, shown, None)
            if is_empty:
                removed.add(values["url"], reason)
            else:
                removed.shorten(values["url"], reason, len(lines))
                yield replace(page, values=values)

    def _shortened(self, page: StoredPage, text: str) -> tuple[str, list[str]]:
        """A text without its paragraphs that an earlier page has, and these paragraphs."""
        lines = text.split("\n")
        hashes = list(_hashes(page.values["url"], lines))
        known = [(at, number) for at, number in enumerate(hashes) if number is not None]
        if not known or not len(self.paragraphs):
            return text, []
        numbers = np.array([number for _, number in known])
        place = np.minimum(np.searchsorted(self.paragraphs, numbers), len(self.paragraphs) - 1)
        is_repeated = (self.paragraphs[place] == numbers) & (self.first[place] != page.key)
        gone = {at for (at, _), is_gone in zip(known, is_repeated.tolist(), strict=True) if is_gone}
        if not gone:
            return text, []
        left = "\n".join(line for at, line in enumerate(lines) if at not in gone)
        return GAP.sub("\n\n", left).strip(), [lines[at] for at in sorted(gone)]


def repeated_paragraphs(pages: Iterable[StoredPage], folder: Path | None) -> RepeatedParagraphs:
    """The paragraphs that at least `FEWEST_PAGES` pages of a site have; `folder` is where temporary files go."""
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile(dir=folder)) for _ in range(FILES)]
        for page in pages:
            found = _hashes(page.values["url"], page.values["text"].split("\n"))
            for number in {number for number in found if number is not None}:
                files[number % FILES].write(PACKED.pack(number, page.key))
        parts = [_repeated(file) for file in files]
    paragraphs, first = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(paragraphs)
    return RepeatedParagraphs(paragraphs[order], first[order])


def _repeated(file: IO[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The repeated paragraphs of a file, and the page that had each first."""
    file.seek(0)
    rows = np.frombuffer(file.read(), "<i8").reshape(-1, 2)
    paragraphs, first, count = np.unique(rows[:, 0], return_index=True, return_counts=True)
    is_repeated = count >= FEWEST_PAGES
    return paragraphs[is_repeated], rows[first[is_repeated], 1]


def _hashes(url: str, lines: Iterable[str]) -> Iterator[int | None]:
    """For each line a number that it shares with the same paragraph of the same site, None if it is too short."""
    salt = blake2b(address_of(url).site.encode() if host_of(url) else b"", digest_size=32).digest()
    for line in lines:
        found = letters(TARGET.sub("]", line)) if len(line.encode("utf-8", "replace")) >= SHORTEST else b""
        digest = blake2b(found, digest_size=8, key=salt) if found else None
        yield int.from_bytes(digest.digest(), "big", signed=True) if digest else None
