"""A page in chunks for retrieval: pieces of its Markdown, each with the headings above it and an id of its own.

A chunk is in one section. So a change in a section changes no chunk of another one, unless it changes a heading above
both. The id follows from the headings, the text and, of equal ones, their order, and from no number of the chunks
before. `place` is such a number, within a section: a chunk may move in its section and keep its id.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from typing import Any
from urllib.parse import quote, urldefrag

from crawler.contrib.index.chunk_size import TOKENS, CountTokens, checked_size, estimated_tokens
from crawler.contrib.index.cut_blocks import packed_blocks
from crawler.contrib.index.page_id import page_id
from crawler.contrib.index.page_sections import HeadingAnchor, page_sections

DIGITS = 16
IN_FRAGMENT = "!$&'()*+,;=:@/?-._~"
"""Signs that stay as they are in a fragment: https://url.spec.whatwg.org/#fragment-percent-encode-set"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a page."""

    id: str
    """`page_id`, a hyphen, and 16 hexadecimal digits of a SHA-256 of the headings and the text."""
    page_id: str
    """The first 32 hexadecimal digits of the SHA-256 of the page's address."""
    url: str
    """The page's address, with the anchor of the nearest heading above the chunk that has one."""
    headings: tuple[str, ...]
    """The page's title, then the headings above the chunk, the nearest last."""
    text: str
    """The Markdown of the chunk, without these headings."""
    language: str | None
    """The page's language."""
    tokens: int
    """How many tokens the text has, by the counter or estimated."""
    place: int
    """Its number among the chunks below the same headings, from 0."""

    def record(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return {name: getattr(self, name) for name in self.__slots__} | {"headings": [*self.headings]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkChanges:
    """What makes the chunks of a page in an index those of the page."""

    add: Sequence[Chunk]
    delete: Sequence[str]
    """Ids."""


def page_chunks(
    markdown: str,
    *,
    title: str = "",
    url: str = "",
    language: str | None = None,
    tokens: int = TOKENS,
    count: CountTokens = estimated_tokens,
    anchors: Iterable[HeadingAnchor] = (),
) -> list[Chunk]:
    """The chunks of a page, in order, each of at most `tokens` tokens; raises a ChunkSizeError about that number.

    `anchors` are the headings of the page as its HTML has them.

    >>> [chunk] = page_chunks("# Bees\\n\\n## Dance\\n\\nThey dance.", title="Bees", url="https://example.org/bees")
    >>> chunk.headings, chunk.text, chunk.place
    (('Bees', 'Dance'), 'They dance.', 0)
    """
    limit = checked_size(tokens)
    page = page_id(url)
    places: Counter[tuple[str, ...]] = Counter()
    equal_ones: Counter[tuple[tuple[str, ...], str]] = Counter()
    found = []
    for section in page_sections(markdown, title, anchors):
        address = f"{urldefrag(url).url}#{quote(section.anchor, safe=IN_FRAGMENT)}" if section.anchor else url
        for text in packed_blocks(section.blocks, limit, count):
            content = (section.headings, text)
            chunk = Chunk(
                id=f"{page}-{_digest(*content, equal_ones[content])}",
                page_id=page,
                url=address,
                headings=section.headings,
                text=text,
                language=language,
                tokens=ceil(count(text)),
                place=places[section.headings],
            )
            found.append(chunk)
            places[section.headings] += 1
            equal_ones[content] += 1
    return found


def chunk_changes(old_ids: Iterable[str], new: Sequence[Chunk]) -> ChunkChanges:
    """Which chunks of a page to add to an index that has these ids of it, and which ids to delete from it.

    >>> old = page_chunks("Bees dance.\\n\\n# Honey\\n\\nSweet.")
    >>> new = page_chunks("Bees dance.\\n\\n# Honey\\n\\nGolden.")
    >>> changes = chunk_changes([chunk.id for chunk in old], new)
    >>> [chunk.text for chunk in changes.add], changes.delete == [old[1].id]
    (['Golden.'], True)
    """
    new_ids = {chunk.id for chunk in new}
    known_ids = dict.fromkeys(old_ids)
    return ChunkChanges(
        add=[chunk for chunk in new if chunk.id not in known_ids],
        delete=[known_id for known_id in known_ids if known_id not in new_ids],
    )


def _digest(headings: tuple[str, ...], text: str, number: int) -> str:
    """What tells a chunk from the others of its page; `number` is its own among those with these headings and text."""
    return sha256(json.dumps([headings, text, number]).encode()).hexdigest()[:DIGITS]
