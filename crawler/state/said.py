"""What people said, as a list shows it, and the marked pages of a whole database."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy import Connection, RowMapping, func, select
from sqlalchemy.engine import URL

from crawler.state.dashboard_tables import label
from crawler.state.marks import PICTURE, TEXT, Mark, all_marks
from crawler.state.report import exists, reading
from crawler.state.schema import page

MOST_LETTERS = 300


class Said(NamedTuple):
    """A mark in a list, without what it is made of."""

    id: int
    kind: str
    url: str
    page: str
    """That shows the picture; of a page its own address."""
    value: str
    """Of a text its beginning."""
    said_at: float
    number: int | None
    """Of the page that was marked, if it is still there."""


def said(connection: Connection, crawl_name: str, before: int = 0, most: int = 20) -> tuple[Said, ...]:
    """The marks of a crawl before this one, the newest first; one that was changed stays in its place."""
    beginning = func.substr(label.c.value, 1, MOST_LETTERS, type_=label.c.value.type).label("value")
    plain = (label.c.id, label.c.kind, label.c.url, label.c.page, label.c.said_at, label.c.detail)
    rows: list[RowMapping] = []
    for kind in (PICTURE, TEXT):
        wanted = select(*plain, beginning).where(label.c.crawl == crawl_name, label.c.kind == kind)
        if before:
            wanted = wanted.where(label.c.id < before)
        rows += connection.execute(wanted.order_by(label.c.id.desc()).limit(most)).mappings().all()
    newest = sorted(rows, key=lambda row: int(row["id"]), reverse=True)[:most]
    return tuple(
        Said(**{name: row[name] for name in Said._fields[:-1]}, number=_number(connection, row)) for row in newest
    )


@contextmanager
def labelled(url: URL, crawl_name: str | None) -> Iterator[Iterator[Mark]]:
    """The marked pages of a crawl or of all in a database; none where no crawl was ever run."""
    if not exists(url):
        yield iter(())
        return
    with reading(url) as connection:
        yield all_marks(connection, crawl_name, TEXT)


def _number(connection: Connection, row: RowMapping) -> int | None:
    if row["kind"] != TEXT:
        return None
    number = int(json.loads(row["detail"])["number"])
    found = connection.execute(select(page.c.url).where(page.c.id == number)).scalar_one_or_none()
    return number if found == row["url"] else None
