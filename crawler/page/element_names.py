"""The names of a page's elements: their tags, classes, ids, roles and item properties."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crawler.page.page import Page

MOST_LETTERS = 200
"""Characters of a name that are read."""
Name = tuple[str, str | None, str | None, str | None, str | None]
"""An element's tag, class, id, role and itemprop."""


@dataclass(frozen=True, slots=True)
class Named:
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
    kind_numbers = []
    for tag, its_class, _, _, _ in names:
        first = its_class[:MOST_LETTERS].split(None, 1)[:1] if its_class else None
        if first:
            kind = tag, first[0].rstrip(_DIGITS)
            kind_numbers.append(numbers.setdefault(kind, len(numbers) + 1))
        else:
            kind_numbers.append(-numbers.setdefault((tag, ""), len(numbers) + 1))
    return kind_numbers


def named(page: Page) -> Named:
    """The elements of a page by their names, found once."""
    return page.once(_named)


def _named(page: Page) -> Named:
    columns = page.containers
    numbers: dict[Name, int] = {}
    containers = []
    for element, start, end, tag in zip(columns.elements, columns.starts, columns.ends, columns.tags, strict=True):
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
    return Named(names=list(numbers), containers=containers, wraps=wraps)
