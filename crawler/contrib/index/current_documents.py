"""The pages of a crawl as they are now, or their chunks, as documents of other libraries have them: an id, a text, and
metadata of strings alone, which every store of vectors can keep.

The metadata of a chunk has no time: libraries compare documents with their metadata, and a chunk that stays as it is
must not be embedded again because its page changed elsewhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from crawler.contrib.index.changes import FOLDER, Change, changes
from crawler.contrib.index.chunk_size import TOKENS, CountTokens
from crawler.contrib.index.chunks import Chunk

BETWEEN_HEADINGS = " > "


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexDocument:
    """A page or a chunk for an index."""

    id: str
    """The `page_id` of a page, or the id of a chunk."""
    text: str
    """The Markdown of a page, or its plain text if it has none; the text of a chunk below its headings."""
    metadata: Mapping[str, str]


@dataclass(frozen=True)
class DocumentSource:
    """The pages that a crawl has now, or their chunks; the fields are the arguments of `crawler.changes`."""

    name: str | None = None
    _: KW_ONLY
    chunks: bool = False
    tokens: int = TOKENS
    count: CountTokens | None = None
    folder: str | Path = FOLDER
    state_url: str = ""

    def documents(self) -> Iterator[IndexDocument]:
        """The documents, one after the other."""
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
            for chunk in change.chunks or ():
                yield _chunk_document(chunk, change.item)


def _page_document(change: Change, item: Mapping[str, Any]) -> IndexDocument:
    return IndexDocument(
        id=change.page_id,
        text=item["markdown"] or item["text"],
        metadata=_page_metadata(change.page_id, item) | {"fetched_at": item["fetched_at"]},
    )


def _chunk_document(chunk: Chunk, item: Mapping[str, Any]) -> IndexDocument:
    headings = BETWEEN_HEADINGS.join(chunk.headings)
    return IndexDocument(
        id=chunk.id,
        text=f"{headings}\n\n{chunk.text}" if headings else chunk.text,
        metadata=_page_metadata(chunk.page_id, item) | {"url": chunk.url, "headings": headings, "chunk_id": chunk.id},
    )


def _page_metadata(page_id: str, item: Mapping[str, Any]) -> dict[str, str]:
    """What the documents of a page have in common; libraries know the address of a page as `source`."""
    return {"source": item["url"], "title": item["title"], "language": item["language"] or "", "page_id": page_id}
