"""`changes("bees", after=offset)`: the changes that keep an index equal to the stored pages of a crawl.

Each change has the offset to continue from, and on request the chunks of the page. Each page is listed once, with its
last change. A page is gone after a noindex, or after two consecutive visits that found it deleted, moved or outside the
scope; never because a round was stopped, a budget was spent, or a host failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from crawler.contrib.index.chunk_size import TOKENS, CountTokens, checked_size, estimated_tokens
from crawler.contrib.index.chunks import Chunk, ChunkChanges, chunk_changes
from crawler.contrib.index.stored_chunks import stored_chunks
from crawler.errors import OffsetError, StateError, WrongUseError
from crawler.items import TYPES
from crawler.recrawl.page_history import PageChange
from crawler.reports.crawls import check_name, name_list
from crawler.reports.stored_pages import ERASED, GONE, NOINDEX, StoredPage, crawls_to_export, offset_of
from crawler.store.database import database_url

__all__ = ["Change", "ChangeKind", "OffsetError", "changes"]

FOLDER = "output"
"""The folder of a crawl if OUTPUT_DIR is not set."""


class ChangeKind(StrEnum):
    """How a page changed."""

    NEW = "new"
    CHANGED = "changed"
    """Its text, its title or its rights have changed."""
    RENEWED = "renewed"
    """Its text was extracted again by another version of the extractor."""
    GONE = "gone"
    """It was deleted, moved, left the scope, or has noindex."""
    ERASED = "erased"
    """It was erased on request: only its id is left."""


KINDS_OF_REMOVED = {GONE: ChangeKind.GONE, NOINDEX: ChangeKind.GONE, ERASED: ChangeKind.ERASED}
"""The kinds of changes after which the page is no longer stored."""
KINDS_OF_STORED = {PageChange.NEW: ChangeKind.NEW, PageChange.RENEWED: ChangeKind.RENEWED}
"""The kinds of changes after which the page is stored; any other one is `changed`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """The last change of a page."""

    kind: ChangeKind
    """An index deletes a page that is gone or erased, and otherwise stores it again."""
    page_id: str
    """A digest of the address, which is the same for all changes of the page."""
    url: str
    """Empty if the page was erased."""
    item: Mapping[str, Any] | None
    """The fields of the page; None if it is gone or erased."""
    offset: str
    """The offset to continue from after this change."""
    chunks: Sequence[Chunk] | None = None
    """The current chunks of the page; empty if it is gone or erased, None if no chunks were requested."""

    def chunk_changes(self, indexed_ids: Iterable[str]) -> ChunkChanges:
        """The chunks to add to an index that has chunks of this page with these ids, and the ids to delete from it.

        After that, the index has exactly the current chunks of the page. Raises a WrongUseError (a ValueError) if no
        chunks were requested.
        """
        if self.chunks is None:
            raise WrongUseError("the changes were read without chunks; read them with chunks=True")
        return chunk_changes(indexed_ids, self.chunks)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkSize:
    """The largest size of a chunk, and how it is measured."""

    tokens: int
    count: CountTokens


def changes(
    name: str | None = None,
    *,
    after: str | int = "0",
    chunks: bool = False,
    tokens: int = TOKENS,
    count: CountTokens | None = None,
    folder: str | Path = FOLDER,
    state_url: str = "",
) -> Iterator[Change]:
    """The changes of a crawl after an offset, in order.

    `name` is needed only if the database has several crawls. With `chunks=True`, each change has the chunks of its
    page, of at most `tokens` tokens each. `count` returns the number of tokens of a text; without it, the number is
    estimated. The database is the one at `state_url`, or in `folder` if `state_url` is empty.

    Raises an OffsetError if the offset is not from this crawl, which may have been deleted and started again, or if the
    database was restored from a copy. The index must then be built again, from the offset "0". Raises a
    WrongUseError (a ValueError) if the crawl does not exist.
    """
    try:
        url = database_url(state_url, Path(folder))
    except StateError as error:
        raise WrongUseError(error.message) from None
    offset = offset_of(str(after))
    if not chunks and (tokens != TOKENS or count is not None):
        raise WrongUseError("tokens and count apply only to chunks; also pass chunks=True")
    chunk_size = None
    if chunks:
        chunk_size = ChunkSize(tokens=checked_size(tokens), count=count or estimated_tokens)
    with crawls_to_export(url) as crawls:
        check_name([crawl.name for crawl in crawls], name, url)
        if name is None and len(crawls) > 1:
            names = name_list([crawl.name for crawl in crawls])
            raise WrongUseError("there are several crawls; set name to one of {names}", names=names)
        crawl = next(crawl for crawl in crawls if name in (None, crawl.name))
        for page in crawl.changes([*TYPES], offset, responses=chunks):  # the anchors of chunks are in responses
            yield _change_of(page, chunk_size)


def _change_of(page: StoredPage, chunk_size: ChunkSize | None) -> Change:
    """The change of a page, with its chunks if a size of chunks is given."""
    change = page.values["change"]
    is_removed = change in KINDS_OF_REMOVED
    kind = KINDS_OF_REMOVED[change] if is_removed else KINDS_OF_STORED.get(change, ChangeKind.CHANGED)
    page_chunks: Sequence[Chunk] | None = None
    if chunk_size is not None:
        page_chunks = [] if is_removed else stored_chunks(page, chunk_size.tokens, chunk_size.count)
    return Change(
        kind=kind,
        page_id=page.values["page_id"],
        url=page.values["url"],
        item=None if is_removed else {name: page.values[name] for name in TYPES},
        offset=page.values["offset"],
        chunks=page_chunks,
    )
