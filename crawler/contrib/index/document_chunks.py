"""The chunks of a page that was just cleaned; those of a stored page are in stored_chunks.py."""

from collections.abc import Collection

from crawler.contrib.index.chunk_size import CountTokens, estimated_tokens
from crawler.contrib.index.chunks import Chunk, page_chunks
from crawler.contrib.index.heading_anchors import heading_anchors
from crawler.page.blocks import Block
from crawler.page.page import Page


def document_chunks(
    page: Page,
    kept: Collection[Block],
    *,
    markdown: str,
    title: str,
    language: str | None,
    tokens: int,
    count: CountTokens | None,
) -> list[Chunk]:
    """The chunks of a page whose main text consists of the kept blocks."""
    return page_chunks(
        markdown,
        title=title,
        url=page.url,
        language=language,
        tokens=tokens,
        count=count or estimated_tokens,
        anchors=heading_anchors(page, kept),
    )
