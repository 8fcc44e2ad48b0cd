"""The current pages of a crawl, or their chunks, as documents for other libraries, with an id, a text and metadata.

All metadata are strings, which every vector store accepts. A chunk's metadata contain no timestamp: libraries compare
documents together with their metadata, and an unchanged chunk must not be embedded again because another part of its
page changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from crawler.contrib.index.changes import FOLDER, Change, changes
from crawler.contrib.index.chunk_size import TOKENS, CountTokens
from crawler.contrib.index.chunks import Chunk

HEADING_SEPARATOR = " > "


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexDocument:
    """A page or a chunk for an index."""

    id: str
    """The `page_id` of a page, or the id of a chunk."""
    text: str
    """The Markdown of a page, or its plain text if it has none; for a chunk its headings and its text."""
    metadata: Mapping[str, str]


@dataclass(frozen=True)
class DocumentSource:
    """Reads the current pages of a crawl, or their chunks; the fields are the arguments of `crawler.changes`."""

    name: str | None = None
    _: KW_ONLY
    chunks: bool = False
    tokens: int = TOKENS
    count: CountTokens | None = None
    folder: str | Path = FOLDER
    state_url: str = ""

    def documents(self) -> Iterator[IndexDocument]:
        """Yields the documents one at a time."""
        for change in changes(
            self.name,
            chunks=self.chunks,
            tokens=self.tokens,
            count=self.count,
            folder=self.folder,
            state_url=self.state_url,
        ):
            if change.item is None:
                continue
            if change.chunks is None:
                yield _page_document(change, change.item)
            else:
                for chunk in change.chunks:
                    yield _chunk_document(chunk, change.item)


def _page_document(change: Change, item: Mapping[str, Any]) -> IndexDocument:
    return IndexDocument(
        id=change.page_id,
        text=item["markdown"] or item["text"],
        metadata=_page_metadata(change.page_id, item) | {"fetched_at": item["fetched_at"]},
    )


def _chunk_document(chunk: Chunk, item: Mapping[str, Any]) -> IndexDocument:
    headings = HEADING_SEPARATOR.join(chunk.headings)
    return IndexDocument(
        id=chunk.id,
        text=f"{headings}\n\n{chunk.text}" if headings else chunk.text,
        metadata=_page_metadata(chunk.page_id, item) | {"url": chunk.url, "headings": headings, "chunk_id": chunk.id},
    )


def _page_metadata(page_id: str, item: Mapping[str, Any]) -> dict[str, str]:
    """The metadata that all documents of a page share; libraries expect the address in `source`."""
    return {"source": item["url"], "title": item["title"], "language": item["language"] or "", "page_id": page_id}
