"""Splits a page into chunks for retrieval: pieces of its Markdown, each with the headings above it and a stable id.

`page_sections` divides the page at its headings, and `packed_blocks` packs the blocks of each section into chunks. So a
change of a section does not change the chunks of other sections, unless a heading above both changes.

The id of a chunk depends on its headings and its text, but not on its position: a chunk that moves within its section
gets another `place` and keeps its id. The ids of chunks with equal headings and texts depend on their order, too.
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
from crawler.contrib.index.page_sections import HeadingAnchor, page_sections
from crawler.urls.page_id import page_id

DIGITS = 16
"""Hexadecimal digits of the digest in an id."""
IN_FRAGMENT = "!$&'()*+,;=:@/?-._~"
"""Signs that are not escaped in a fragment: https://url.spec.whatwg.org/#fragment-percent-encode-set"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a page."""

    id: str
    """`page_id`, a hyphen, and 16 hexadecimal digits of a SHA-256 of the headings and the text."""
    page_id: str
    """The first 32 hexadecimal digits of the SHA-256 of the page's address."""
    url: str
    """The page's address, with the anchor of the nearest heading above the chunk; headings without one are skipped."""
    headings: tuple[str, ...]
    """The page's title, then the headings above the chunk, the nearest last."""
    text: str
    """The Markdown of the chunk, without these headings."""
    language: str | None
    """The page's language."""
    tokens: int
    """The number of tokens of the text, counted or estimated."""
    place: int
    """Its number among the chunks below the same headings, from 0."""

    def record(self) -> dict[str, Any]:
        """The fields as values of JSON, which has no tuples."""
        return {name: getattr(self, name) for name in self.__slots__} | {"headings": [*self.headings]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkChanges:
    """The chunks to add to an index and the ids to delete from it, so that it has the current chunks of a page."""

    add: Sequence[Chunk]
    delete: Sequence[str]
    """The ids of chunks."""


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
    """The chunks of a page, in order, each of at most `tokens` tokens; raises a ChunkSizeError for a wrong `tokens`.

    `anchors` are the headings in the HTML of the page, with their anchors.

    >>> [chunk] = page_chunks("# Bees\\n\\n## Dance\\n\\nThey dance.", title="Bees", url="https://example.org/bees")
    >>> chunk.headings, chunk.text, chunk.place
    (('Bees', 'Dance'), 'They dance.', 0)
    """
    limit = checked_size(tokens)
    id_of_page = page_id(url)
    places: Counter[tuple[str, ...]] = Counter()
    earlier_copies: Counter[tuple[tuple[str, ...], str]] = Counter()
    chunks = []
    for section in page_sections(markdown, title, anchors):
        address = url
        if section.anchor:
            address = f"{urldefrag(url).url}#{quote(section.anchor, safe=IN_FRAGMENT)}"

        for text in packed_blocks(section.blocks, limit, count):
            content = (section.headings, text)
            chunk = Chunk(
                id=f"{id_of_page}-{_digest(*content, earlier_copies[content])}",
                page_id=id_of_page,
                url=address,
                headings=section.headings,
                text=text,
                language=language,
                tokens=ceil(count(text)),
                place=places[section.headings],
            )
            chunks.append(chunk)
            places[section.headings] += 1
            earlier_copies[content] += 1
    return chunks


def chunk_changes(old_ids: Iterable[str], new: Sequence[Chunk]) -> ChunkChanges:
    """The changes after which an index has exactly the chunks `new` of a page; `old_ids` are the ids that it has now.

    >>> old = page_chunks("Bees dance.\\n\\n# Honey\\n\\nSweet.")
    >>> new = page_chunks("Bees dance.\\n\\n# Honey\\n\\nGolden.")
    >>> changes = chunk_changes([chunk.id for chunk in old], new)
    >>> [chunk.text for chunk in changes.add], changes.delete == [old[1].id]
    (['Golden.'], True)
    """
    new_ids = {chunk.id for chunk in new}
    distinct_old_ids = dict.fromkeys(old_ids)
    return ChunkChanges(
        add=[chunk for chunk in new if chunk.id not in distinct_old_ids],
        delete=[old_id for old_id in distinct_old_ids if old_id not in new_ids],
    )


def _digest(headings: tuple[str, ...], text: str, earlier_copies: int) -> str:
    """The part of an id that identifies a chunk in its page; `earlier_copies` counts equal chunks before it."""
    return sha256(json.dumps([headings, text, earlier_copies]).encode()).hexdigest()[:DIGITS]
