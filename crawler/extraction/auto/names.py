"""The words by which an element or a page names itself, each as the number of a bucket."""

import re
from functools import lru_cache
from zlib import crc32

from lxml import etree

from crawler.page import Page

BUCKETS = 1 << 15
"""How many names are told apart."""
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|[^\W\d_A-Za-z]+")
_TYPE = re.compile(r'"@type"\s{0,9}:\s{0,9}"(\w{1,40})"')
MOST_LETTERS = 200
"""Letters of an attribute that are read."""
MOST_TYPES = 30


def _bucket(name: str) -> int:
    return crc32(name.encode("utf-8", "replace")) % BUCKETS


@lru_cache(1 << 14)
def _names(tag: str, *values: str | None) -> tuple[int, ...]:
    found = {tag}
    for kind, value in zip("cirp", values, strict=True):
        if value:
            value = value[:MOST_LETTERS]
            found.update(kind + word.lower() for word in _WORD.findall(value))
            found.update(f"{kind}={word.lower()}" for word in value.split())
    return tuple(sorted(set(map(_bucket, found))))


def names(element: etree._Element) -> tuple[int, ...]:
    """The tag of an element and the words of its class, id, role and itemprop."""
    get = element.get
    return _names(element.tag, get("class"), get("id"), get("role"), get("itemprop"))


def page_names(page: Page) -> tuple[int, ...]:
    """The words of a page's address, of its body's class and id, of og:type, and the types of its JSON-LD."""
    path = page.url.split("://")[-1].partition("/")[2][:MOST_LETTERS]
    found = {"u" + word.lower() for word in _WORD.findall(path)}
    found.update(f"d{path.count('/')}" for _ in "1")
    found.add("o" + page.meta.get("og:type", "")[:40].lower())
    found.update("g" + word.lower() for word in _WORD.findall(page.meta.get("generator", "")[:40]))
    found.update("t" + name for name in _TYPE.findall(page.html)[:MOST_TYPES])
    body = next(page.root.iter("body"), None)
    own = names(body) if body is not None else ()
    return tuple(sorted({*map(_bucket, found), *own}))
