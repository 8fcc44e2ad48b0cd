"""The changes of a crawl's pages after an offset, as data for an index that reads only new changes.

An offset is the position of a change in the order of all changes of a database; its epoch tells whether the offset was
drawn before the database was restored from a backup (crawler/store/page_changes.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from sqlalchemy import RowMapping, select

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context
from crawler.contrib.dashboard.views.page_list import CrawlName, crawl_or_newest
from crawler.items import TYPES, PageRecord
from crawler.reports.stored_pages import OTHER_DATABASE, OffsetBounds, changed_values, changes_after, is_of_crawl
from crawler.store.crawl_tables import crawl as crawl_table
from crawler.store.page_changes import OFFSET, ChangeOffset, change_epochs, last_offset
from crawler.translation.message import N_

AT_ONCE = 100
"""The most changes in a response."""
MOST_LETTERS = 4_000_000
"""Characters of texts after which a response has no further change."""
PATIENCE = 1.0
"""Seconds for which a request waits until a crawl has stored its pages."""
router = APIRouter()
api = APIRouter()
After = Annotated[
    str,
    Field(pattern=rf"^{OFFSET.pattern}$"),
    Query(description=N_("offset of the last change that was read; 0 for all pages")),
]


@dataclass(kw_only=True)
class ChangedPage(PageRecord):
    """A page whose `change` may also be `gone`, `noindex` or `erased`. Of an erased page, only `offset`, `page_id` and
    `change` have values.
    """

    offset: str
    """The offset of its last change."""
    page_id: str
    """A digest of its address, which stays when a page is erased."""


@dataclass(frozen=True, slots=True)
class ChangeList:
    """Some changes of a crawl, in order."""

    crawl: str
    changes: tuple[ChangedPage, ...]
    after: str
    """The offset of the last change, for the next request; without changes, the requested one."""


@api.get("/api/changes", summary=N_("Pages that became new, changed, gone or noindex after an offset, in order"))
def data(context: Context, crawl: CrawlName = "", after: After = "0") -> ChangeList:
    """Changes of a crawl after an offset."""
    with context.reading() as connection:
        chosen_crawl = crawl_or_newest(connection, crawl)
        until = last_offset(connection, PATIENCE)

    # The changes up to `until` are read in another transaction: the first transaction does not see changes that were
    # committed after it began.
    offset = ChangeOffset.of(after)
    names = [*TYPES]
    with context.reading() as connection:
        epochs = change_epochs(connection)
        before = connection.execute(
            select(crawl_table.c.offset_before).where(crawl_table.c.id == chosen_crawl.id)
        ).scalar_one()
        if not is_of_crawl(offset, OffsetBounds(before=before, last=until), epochs):
            raise RefusedError(HTTPStatus.BAD_REQUEST, OTHER_DATABASE, after=after)

        query = changes_after(chosen_crawl.id, names, offset.number, until).limit(AT_ONCE)
        rows: list[RowMapping] = []
        letters = 0
        for row in connection.execute(query, execution_options={"yield_per": 10}).mappings():
            rows.append(row)
            letters += _letters(row, names)
            if letters > MOST_LETTERS:
                break

    changes = tuple(ChangedPage(**changed_values(row, names, epochs)) for row in rows)
    return ChangeList(chosen_crawl.name, changes, changes[-1].offset if changes else after)


def _letters(row: RowMapping, names: Sequence[str]) -> int:
    """Characters of the texts in a row."""
    return sum(len(row[name]) for name in names if isinstance(row[name], str))
