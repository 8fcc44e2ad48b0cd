"""`changes("bees", after=offset)`: what an index has to do to stay equal to the stored pages of a crawl.

Each change has the offset to come back with. A page comes once, with its last change. A page is gone after a noindex,
or after two visits in a row that found it deleted, moved or outside the scope; never because a round was stopped, a
budget was spent, or a host failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from crawler.command_line.terminal import WrongUseError
from crawler.items import TYPES
from crawler.recrawl.page_history import PageChange
from crawler.reports.crawls import check_name, name_list
from crawler.reports.stored_pages import ERASED, GONE, NOINDEX, OffsetError, StoredPages, crawls_to_export, offset_of
from crawler.store.database import StateError, database_url
from crawler.store.page_changes import ChangeOffset

__all__ = ["Change", "ChangeKind", "OffsetError", "changes"]

FOLDER = "output"
"""Where a crawl writes if OUTPUT_DIR is not set."""


class ChangeKind(StrEnum):
    """How a page changed."""

    NEW = "new"
    CHANGED = "changed"
    RENEWED = "renewed"
    """Another version of the extractor made its text."""
    GONE = "gone"
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
    page_id: str
    """A digest of the address, which is the same for all changes of the page."""
    url: str
    """Empty if the page was erased."""
    item: Mapping[str, Any] | None
    """The fields of the page; None if it is gone or erased."""
    offset: str
    """To come back with."""


def changes(
    name: str | None = None, *, after: str = "0", folder: str | Path = FOLDER, state_url: str = ""
) -> Iterator[Change]:
    """The changes of a crawl after an offset, in order.

    `name` is needed only if the database has several crawls. The database is that of the folder, or at `state_url`.
    Raises an OffsetError if the offset is not of this database, which may have been restored from a copy: the index is
    then read anew, from the offset "0". Raises a ValueError if there is no such crawl.
    """
    try:
        url = database_url(state_url, Path(folder))
    except StateError as error:
        raise WrongUseError(error.message) from None
    offset = offset_of(after)
    with crawls_to_export(url) as crawls:
        check_name([crawl.name for crawl in crawls], name, url)
        if name is None and len(crawls) > 1:
            names = name_list([crawl.name for crawl in crawls])
            raise WrongUseError("there are several crawls; name says which of {names}", names=names)
        crawl = next(crawl for crawl in crawls if name in (None, crawl.name))
        yield from _changes_of(crawl, offset)


def _changes_of(crawl: StoredPages, after: ChangeOffset) -> Iterator[Change]:
    """The changes of a crawl after an offset."""
    for page in crawl.changes([*TYPES], after):
        kind = LEFT.get(page.values["change"]) or STORED.get(page.values["change"], ChangeKind.CHANGED)
        has_left = page.values["change"] in LEFT
        yield Change(
            kind=kind,
            page_id=page.values["page_id"],
            url=page.values["url"],
            item=None if has_left else {name: page.values[name] for name in TYPES},
            offset=page.values["offset"],
        )
