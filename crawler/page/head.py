"""The elements by which a page says something about itself, found in one pass."""

from itertools import islice
from typing import NamedTuple

from lxml.etree import _Element

MAX_ELEMENTS, MAX_SCRIPTS, MAX_TIMES = 2_000, 20, 100  # looked at: meta, script and time; JSON-LD; time
MAX_JSON = 200_000  # characters of one JSON-LD script read
MAX_LINE = 120  # characters of a name of a meta element, or of a date
MAX_HEADLINE = 400  # characters of what a meta element says


class Head(NamedTuple):
    """The elements of a page that say something about it."""

    scripts: tuple[str, ...]
    """The JSON-LD."""
    metas: dict[str, str]
    """Contents of the meta elements by lower-case property, name, itemprop or http-equiv, the first of each."""
    times: tuple[_Element, ...]


def read_head(root: _Element) -> Head:
    """The elements of a tree that say something about the page."""
    scripts: list[str] = []
    metas: dict[str, str] = {}
    times: list[_Element] = []
    for element in islice(root.iter("script", "meta", "time"), MAX_ELEMENTS):
        if element.tag == "time":
            times.append(element)
        elif element.tag == "script":
            if len(scripts) < MAX_SCRIPTS and "ld+json" in element.get("type", "").lower():
                scripts.append((element.text or "")[:MAX_JSON])
        elif content := element.get("content"):
            for attribute in ("property", "name", "itemprop", "http-equiv"):
                if name := element.get(attribute):
                    metas.setdefault(name[:MAX_LINE].lower(), content[:MAX_HEADLINE])
    return Head(tuple(scripts), metas, tuple(times[:MAX_TIMES]))
