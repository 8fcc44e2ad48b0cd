"""The elements by which a page says something about itself, found in one pass, and the names its site goes by."""

import re
from html import unescape
from itertools import islice
from typing import NamedTuple

from lxml.etree import _Element

from crawler.page import Page
from crawler.text import fold_space

MAX_ELEMENTS, MAX_SCRIPTS, MAX_TIMES = 2_000, 20, 100  # looked at: meta, script and time; JSON-LD; time
MAX_JSON = 200_000  # characters of one JSON-LD script read
MAX_LINE = 120  # characters of a name of a meta element, or of a date
MAX_HEADLINE = 400  # characters of what a meta element says
MAX_LABELS = 5  # of a host
_SITE_NAMES = ("og:site_name", "application-name")
_TAG = re.compile(r"<[^<>]{1,300}>")
_HOST = re.compile(r"https?://([^/:?#]{1,253})")
_NO_LETTERS = re.compile(r"[\W_]+")


class Heads(NamedTuple):
    """The elements of a page that say something about it."""

    scripts: tuple[str, ...]
    """The JSON-LD."""
    metas: dict[str, str]
    """Contents of the meta elements by lower-case property, name, itemprop or http-equiv, the first of each."""
    times: tuple[_Element, ...]


def heads(page: Page) -> Heads:
    """The elements of a page that say something about it, found once."""
    return page.once(_heads)


def site_keys(page: Page) -> frozenset[str]:
    """The names of the page's site, by what it says and by its host, each as its letters alone."""
    return page.once(_site_keys)


def letters(text: str) -> str:
    """The letters and digits of a text, without case.

    >>> letters("The Valley-Post!")
    'thevalleypost'
    """
    return _NO_LETTERS.sub("", text.casefold())


def plain(text: str) -> str:
    """A line of text without the entities and tags that some leave in what is to be plain.

    >>> plain("Bees &amp; <i>wasps</i>")
    'Bees & wasps'
    """
    text = text[: 2 * MAX_HEADLINE].encode("utf-8", "replace").decode()  # JSON can hold halves of characters
    return fold_space(_TAG.sub("", unescape(text)) if "&" in text or "<" in text else text)


def _heads(page: Page) -> Heads:
    scripts: list[str] = []
    metas: dict[str, str] = {}
    times: list[_Element] = []
    for element in islice(page.root.iter("script", "meta", "time"), MAX_ELEMENTS):
        if element.tag == "time":
            times.append(element)
        elif element.tag == "script":
            if len(scripts) < MAX_SCRIPTS and "ld+json" in element.get("type", "").lower():
                scripts.append((element.text or "")[:MAX_JSON])
        elif content := element.get("content"):
            for attribute in ("property", "name", "itemprop", "http-equiv"):
                if name := element.get(attribute):
                    metas.setdefault(name[:MAX_LINE].lower(), content[:MAX_HEADLINE])
    return Heads(tuple(scripts), metas, tuple(times[:MAX_TIMES]))


def _site_keys(page: Page) -> frozenset[str]:
    metas = heads(page).metas
    host = found[1] if (found := _HOST.match(page.url)) else ""
    labels = host.split(".")
    names = [metas.get(name, "") for name in _SITE_NAMES] + labels
    names += [".".join(labels[number:]) for number in range(min(len(labels), MAX_LABELS))]
    return frozenset(map(letters, names)) - {""}
