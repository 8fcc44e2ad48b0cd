"""The words by which a page names itself, each as the number of a bucket."""

import re
from zlib import crc32

from crawler.page import Page
from crawler.structured import structured

BUCKETS = 1 << 13
"""How many names are told apart."""
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|[^\W\d_A-Za-z]+")
MOST_LETTERS = 200
"""Letters of an address, or of a name, that are read."""


def page_names(page: Page) -> tuple[int, ...]:
    """The words of a page's address, of its body's class and id, of og:type, and the types of its JSON-LD."""
    path = page.url.split("://")[-1].partition("/")[2][:MOST_LETTERS]
    found = {f"/{path.count('/')}", f"og {page.meta.get('og:type', '')[:40].lower()}"}
    found.update(f"path {word.lower()}" for word in _WORD.findall(path))
    found.update(f"generator {word.lower()}" for word in _WORD.findall(page.meta.get("generator", "")[:40]))
    found.update(f"type {name}" for name in structured(page).types)
    body = next(page.root.iter("body"), None)
    if body is not None:
        for name in (body.get("class", "")[:MOST_LETTERS], body.get("id", "")[:MOST_LETTERS]):
            found.update(f"body {word.lower()}" for word in (*_WORD.findall(name), *name.split()))
    return tuple(sorted({crc32(name.encode("utf-8", "replace")) % BUCKETS for name in found}))
