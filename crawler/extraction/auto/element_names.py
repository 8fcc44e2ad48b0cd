"""The names of a page's elements and the words that describe the page, each hashed to a bucket number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from crawler.metadata.structured_data import structured

if TYPE_CHECKING:
    from crawler.page.page import Page

NAME_BUCKETS = 1 << 13
"""How many buckets there are."""
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|[^\W\d_A-Za-z]+")
MOST_LETTERS = 200
"""Characters of an address, or of a name, that are read."""
Name = tuple[str, str | None, str | None, str | None, str | None]
"""An element's tag, class, id, role and itemprop."""


class Named(NamedTuple):
    """The elements of a page by their names, each name once."""

    names: list[Name]
    containers: list[int]
    """The number of each container's name; 0 if it has no block, as it is not needed."""
    wraps: list[int]
    """The number of the first inline element that begins in each block, -1 if there is none."""


_DIGITS = "0123456789"


def kinds(names: Iterable[Name]) -> list[int]:
    """A number for each name, the same for elements that repeat: those with one tag and one first class, without
    digits at its end. It is below 0 for those without a class.
    """
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for tag, its_class, _, _, _ in names:
        first = its_class[:MOST_LETTERS].split(None, 1)[:1] if its_class else None
        if first:
            kind = tag, first[0].rstrip(_DIGITS)
            found.append(numbers.setdefault(kind, len(numbers) + 1))
        else:
            found.append(-numbers.setdefault((tag, ""), len(numbers) + 1))
    return found


def named(page: Page) -> Named:
    """The elements of a page by their names, found once."""
    return page.once(_named)


def _named(page: Page) -> Named:
    elements, _, starts, ends, tags = page.containers
    numbers: dict[Name, int] = {}
    containers = []
    for element, start, end, tag in zip(elements, starts, ends, tags, strict=True):
        if start == end:
            containers.append(0)
        else:
            get = element.get
            name = tag, get("class"), get("id"), get("role"), get("itemprop")
            containers.append(numbers.setdefault(name, len(numbers)))
    wraps = []
    for wrap in page.wraps:
        if wrap is None:
            wraps.append(-1)
        else:
            get = wrap.get
            name = wrap.tag, get("class"), get("id"), get("role"), get("itemprop")
            wraps.append(numbers.setdefault(name, len(numbers)))
    return Named(list(numbers), containers, wraps)


def page_names(page: Page) -> tuple[int, ...]:
    """The words of a page's address, of its body's class and id, of og:type, and the types of its JSON-LD."""
    path = page.url.split("://")[-1].partition("/")[2][:MOST_LETTERS]
    found = {f"/{path.count('/')}", f"og {page.meta.get('og:type', '')[:40].lower()}"}
    found.update(f"path {word.lower()}" for word in _WORD.findall(path))
    found.update(f"generator {word.lower()}" for word in _WORD.findall(page.meta.get("generator", "")[:40]))
    found.update(f"type {name}" for name in structured(page).types)
    body = page.root.find("body")
    if body is not None:
        for name in (body.get("class", "")[:MOST_LETTERS], body.get("id", "")[:MOST_LETTERS]):
            found.update(f"body {word.lower()}" for word in (*_WORD.findall(name), *name.split()))
    return tuple(sorted({crc32(name.encode("utf-8", "replace")) % NAME_BUCKETS for name in found}))
