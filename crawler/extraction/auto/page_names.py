"""The names of a page: words in its address, head and body that hint at its type, hashed to buckets."""

from __future__ import annotations

import re
from zlib import crc32

from crawler.metadata.structured_data import structured
from crawler.page.page import Page

NAME_BUCKETS = 1 << 13
"""The number of buckets for names."""
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|[^\W\d_A-Za-z]+")
MOST_LETTERS = 200
"""The most characters of an address, a class or an id that are read."""


def page_names(page: Page) -> tuple[int, ...]:
    """The buckets of the names of a page: its og:type, the types of its JSON-LD, the number of slashes in its path and
    query, the words of path, query and generator, and the classes and ids of its body, whole and in words:
    `single-post` -> `single`, `post`, `single-post`. A prefix says where a name is from.
    """
    path_and_query = page.url.split("://")[-1].partition("/")[2][:MOST_LETTERS]
    names = {f"/{path_and_query.count('/')}", f"og {page.meta.get('og:type', '')[:40].lower()}"}
    names.update(f"path {word.lower()}" for word in _WORD.findall(path_and_query))
    names.update(f"generator {word.lower()}" for word in _WORD.findall(page.meta.get("generator", "")[:40]))
    names.update(f"type {name}" for name in structured(page).types)
    body = page.root.find("body")
    if body is not None:
        for name in (body.get("class", "")[:MOST_LETTERS], body.get("id", "")[:MOST_LETTERS]):
            names.update(f"body {word.lower()}" for word in (*_WORD.findall(name), *name.split()))
    return tuple(sorted({crc32(name.encode("utf-8", "replace")) % NAME_BUCKETS for name in names}))
