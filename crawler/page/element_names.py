"""The names of a page's elements: their tags, classes, ids, roles and item properties.

Containers and wraps are defined in crawler/page/blocks.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crawler.page.page import Page

MOST_LETTERS = 200
"""Characters of a class that are read."""
Name = tuple[str, str | None, str | None, str | None, str | None]
"""An element's tag, class, id, role and itemprop."""


@dataclass(frozen=True, slots=True)
class ElementNames:
    """The names of a page's elements. Each name is stored once; its number is its index in `names`."""

    names: list[Name]
    containers: list[int]
    """For each container, the number of its name. A container without blocks, whose name is not needed, has 0."""
    wraps: list[int]
    """For each block, the number of the name of its wrap; -1 if it has no wrap."""


_DIGITS = "0123456789"


def kinds(names: Iterable[Name]) -> list[int]:
    """The kind of each name, as a number: repeated elements, such as the items of a list, are of one kind.

    Names are of one kind if they have the same tag and the same first class, apart from digits at its end. Names
    without a class are of one kind if they have the same tag; the number of such a kind is negative.
    """
    numbers: dict[tuple[str, str], int] = {}
    kind_numbers = []
    for tag, its_class, _, _, _ in names:
        first_class = its_class[:MOST_LETTERS].split(None, 1)[:1] if its_class else None
        if first_class:
            kind = tag, first_class[0].rstrip(_DIGITS)
            kind_numbers.append(numbers.setdefault(kind, len(numbers) + 1))
        else:
            kind_numbers.append(-numbers.setdefault((tag, ""), len(numbers) + 1))
    return kind_numbers


def element_names(page: Page) -> ElementNames:
    """The names of a page's elements, computed once."""
    return page.once(_element_names)


def _element_names(page: Page) -> ElementNames:
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
    return ElementNames(names=list(numbers), containers=containers, wraps=wraps)
