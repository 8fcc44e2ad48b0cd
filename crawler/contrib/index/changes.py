"""`changes("bees", after=offset)`: what an index has to do to stay equal to the stored pages of a crawl.

Each change has the offset to come back with, and on request the chunks of the page. A page comes once, with its last
change. A page is gone after a noindex, or after two visits in a row that found it deleted, moved or outside the scope;
never because a round was stopped, a budget was spent, or a host failed.
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
"""Where a crawl writes if OUTPUT_DIR is not set."""


class ChangeKind(StrEnum):
    """How a page changed."""

    NEW = "new"
    CHANGED = "changed"
    """Its text, its title or what it may be used for is another."""
    RENEWED = "renewed"
    """Another version of the extractor made its text."""
    GONE = "gone"
    """It was deleted, moved, left the scope, or has noindex."""
    ERASED = "erased"
    """Somebody had it erased: only its id is left."""


LEFT = {GONE: ChangeKind.GONE, NOINDEX: ChangeKind.GONE, ERASED: ChangeKind.ERASED}
"""The kinds of changes after which a page is not in the crawl."""
STORED = {PageChange.NEW: ChangeKind.NEW, PageChange.RENEWED: ChangeKind.RENEWED}
"""The kinds of other changes; all else is `changed`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """The last change of a page."""

    kind: ChangeKind
    """What an index has to do: delete the page if it is gone or erased, else store it anew."""
    page_id: str
    """A digest of the address, which is the same for all changes of the page."""
    url: str
    """Empty if the page was erased."""
    item: Mapping[str, Any] | None
    """The fields of the page; None if it is gone or erased."""
    offset: str
    """To come back with."""
    chunks: Sequence[Chunk] | None = None
    """The chunks of the page as it is now; empty if it is gone or erased, None if no chunks were requested."""

    def chunk_changes(self, indexed_ids: Iterable[str]) -> ChunkChanges:
        """Which chunks to add to an index that has chunks of this page with these ids, and which ids to delete.

        Whatever the index has of the page, it has the chunks of the page as it is now afterwards. Raises a ValueError
        if no chunks were requested.
        """
        if self.chunks is None:
            raise WrongUseError("the changes were read without chunks; read them with chunks=True")
        return chunk_changes(indexed_ids, self.chunks)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkSize:
    """How large chunks are."""

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
    page, of at most `tokens` tokens each; `count` tells how many tokens a text has, and without it they are estimated.
    The database is that of the folder, or at `state_url`.

    Raises an OffsetError if the offset is not of this crawl, which may have been deleted and begun anew, or if the
    database was restored from a copy: the index is then read anew, from the offset "0". Raises a ValueError if there is
    no such crawl.
    """
    try:
        url = database_url(state_url, Path(folder))
    except StateError as error:
        raise WrongUseError(error.message) from None
    offset = offset_of(str(after))
    if not chunks and (tokens != TOKENS or count is not None):
        raise WrongUseError("tokens and count are of chunks; give chunks=True, too")
    chunk_size = ChunkSize(tokens=checked_size(tokens), count=count or estimated_tokens) if chunks else None
    with crawls_to_export(url) as crawls:
        check_name([crawl.name for crawl in crawls], name, url)
        if name is None and len(crawls) > 1:
            names = name_list([crawl.name for crawl in crawls])
            raise WrongUseError("there are several crawls; name says which of {names}", names=names)
        crawl = next(crawl for crawl in crawls if name in (None, crawl.name))
        for page in crawl.changes([*TYPES], offset, responses=chunks):
            yield _change_of(page, chunk_size)


def _change_of(page: StoredPage, chunk_size: ChunkSize | None) -> Change:
    """The change of a page, with chunks if they have a size."""
    change = page.values["change"]
    kind = LEFT.get(change) or STORED.get(change, ChangeKind.CHANGED)
    has_left = change in LEFT
    page_chunks: Sequence[Chunk] | None = None
    if chunk_size is not None:
        page_chunks = [] if has_left else stored_chunks(page, chunk_size.tokens, chunk_size.count)
    return Change(
        kind=kind,
        page_id=page.values["page_id"],
        url=page.values["url"],
        item=None if has_left else {name: page.values[name] for name in TYPES},
        offset=page.values["offset"],
        chunks=page_chunks,
    )
