"""Labels: what people said of pictures and texts, and the pages that they might label next.

Labels are there to learn from and outlive the crawls that they are of. The newest label of a thing replaces the older.
Labels are written in a transaction of their own, which takes milliseconds: a crawl waits no longer for it, and it waits
no longer than some seconds for a crawl.

The pages to label come in the order of certainty, those of methods that tell none last, in the order in which they were
stored. No index tells which of them can be labelled: so many are looked at for each part of the list, and the next part
goes on there.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Row, delete, func, select, text, tuple_
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from crawler.store.crawl_tables import crawl
from crawler.store.database import LOCK_SECONDS, StateError, dialect_insert, error_message, storable
from crawler.store.images import PICTURE, label_key
from crawler.store.page_tables import label, page, stored_response
from crawler.store.page_writer import COMPRESSION_LEVEL, zstd
from crawler.store.read_only import exists, reading

TEXT = "text"
CONTENT, NOISE = "content", "noise"
NEWEST = 2**63 - 1  # no label or verdict has a higher number
TEXTS = ("crawl", "kind", "url", "page", "value", "detail")
AT_ONCE = {PICTURE: 100, TEXT: 1}  # labels that are read together: those of texts have their pages with them
BEGINNING = 300  # letters of a text that a list shows
LOOKED_AT = 1_000  # pages for a part of the list: their rows, which lie anywhere, take some tens of milliseconds


@dataclass(frozen=True)
class Label:
    """What somebody said of a picture, or of the text of a page."""

    kind: str
    """picture or text."""
    crawl: str
    """Its name."""
    url: str
    """Of the picture or the page."""
    page: str
    """That shows it."""
    value: str
    """Of a picture content or noise; of a page its main text."""
    detail: str = ""
    """Of a picture how a page shows it, as a sighting's record; of a page the blocks that are kept, as JSON."""
    source: bytes = b""
    """Of a page its HTML."""
    said_at: float = 0.0

    @property
    def key(self) -> int:
        """A number of 64 bits: that of all labels of the same thing."""
        return label_key(self.crawl, self.kind, self.url, self.page)


@dataclass(frozen=True, slots=True)
class ListedLabel:
    """A label in a list, without what it is made of."""

    id: int
    kind: str
    url: str
    page: str
    """That shows the picture; of a page its own address."""
    value: str
    """Of a text its beginning."""
    said_at: float
    number: int | None
    """Of the page that was labelled, if it is still there."""


def put_label(engine: Engine, said: Label) -> None:
    """Keep a label in place of the earlier one of the same thing."""
    row: dict[str, Any] = {name: storable(getattr(said, name)) for name in TEXTS}
    source = zstd.compress(said.source, COMPRESSION_LEVEL) if said.source else None
    row |= {"key": said.key, "said_at": said.said_at, "source": source}
    new = dialect_insert(engine)(label)
    renewed = {name: new.excluded[name] for name in ("value", "detail", "source", "said_at")}
    with _writing(engine) as connection:
        connection.execute(new.on_conflict_do_update(index_elements=["key"], set_=renewed), row)


def remove_label(engine: Engine, key: int) -> bool:
    """Take back what was said of the thing of this key; whether anything was."""
    with _writing(engine) as connection:
        return bool(connection.execute(delete(label).where(label.c.key == key)).rowcount)


def list_labels(connection: Connection, crawl: str, before: int = 0, most: int = 20) -> tuple[ListedLabel, ...]:
    """The labels of a crawl before this one, the newest first; one that was changed stays in its place."""
    # By their numbers, so that long texts are read of these few alone.
    numbers = select(label.c.id).where(label.c.crawl == crawl, label.c.id < (before or NEWEST))
    beginning = func.substr(label.c.value, 1, BEGINNING, type_=label.c.value.type).label("value")
    found = select(label.c.id, label.c.kind, label.c.url, label.c.page, beginning, label.c.said_at, label.c.detail)
    found = found.where(label.c.id.in_(numbers.order_by(label.c.id.desc()).limit(most))).order_by(label.c.id.desc())
    rows = connection.execute(found).all()
    of_pages = {row.id: json.loads(row.detail)["number"] for row in rows if row.kind == TEXT}
    there = select(page.c.id, page.c.url).where(page.c.id.in_([one for one in of_pages.values() if one]))
    pages = {(row.id, row.url) for row in connection.execute(there)}
    return tuple(
        ListedLabel(*row[:-1], number if ((number := of_pages.get(row.id)), row.url) in pages else None) for row in rows
    )


def all_labels(connection: Connection, crawl: str | None, kind: str) -> Iterator[Label]:
    """All labels of a kind, of a crawl or of all, in the order in which they came."""
    found = select(label).where(*_of(crawl, kind)).order_by(label.c.id).limit(AT_ONCE[kind])
    after = 0
    while rows := connection.execute(found.where(label.c.id > after)).all():
        yield from map(_label, rows)
        after = rows[-1].id


@contextmanager
def labelled_pages(url: URL, crawl: str | None) -> Iterator[Iterator[Label]]:
    """The labelled pages of a crawl or of all in a database; none where no crawl was ever run."""
    if not exists(url):
        yield iter(())
        return
    with reading(url) as connection:
        yield all_labels(connection, crawl, TEXT)


def count_labels(connection: Connection, crawl: str | None, kind: str) -> dict[str, int]:
    """How many labels there are of a kind: of pictures by what they say, of texts all under `text`."""
    value = label.c.value if kind == PICTURE else label.c.kind
    rows = connection.execute(select(value, func.count()).where(*_of(crawl, kind)).group_by(value))
    return {str(said): int(number) for said, number in rows}


def _of(crawl: str | None, kind: str) -> list[Any]:
    return [label.c.kind == kind, *([] if crawl is None else [label.c.crawl == crawl])]


def _label(row: Row[Any]) -> Label:
    source = zstd.decompress(row.source) if row.source is not None else b""
    return Label(row.kind, row.crawl, row.url, row.page, row.value, row.detail, source, row.said_at)


@contextmanager
def _writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that waits some seconds for others and no longer; a StateError says why it came to nothing."""
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SET LOCAL lock_timeout = {round(1000 * LOCK_SECONDS)}"))
            yield connection
    except SQLAlchemyError as error:
        raise StateError("the label cannot be kept: {why}", why=error_message(error)) from None


@dataclass(frozen=True, slots=True)
class UncertainPage:
    """A page that somebody might label."""

    id: int
    url: str
    title: str
    language: str | None
    certainty: float | None
    """The F1 that the method expects of its text; not of all methods."""
    fetched_at: str


class UncertainPages(NamedTuple):
    """A part of the list."""

    pages: tuple[UncertainPage, ...]
    after: int
    """The page from which to go on; 0 where that was all."""


class LabelledCrawl(NamedTuple):
    """A crawl whose pages might be labelled."""

    id: int
    name: str
    kept: bool
    """Whether any response of its pages was kept."""


def crawl_to_label(connection: Connection, name: str) -> LabelledCrawl | None:
    """The crawl of this name; without one the one begun last that kept responses, or the one begun last."""
    kept = select(stored_response.c.key).where(stored_response.c.crawl_id == crawl.c.id).exists()
    order = (kept.desc(), crawl.c.started_at.desc(), crawl.c.id.desc())
    found = select(crawl.c.id, crawl.c.name, kept.label("kept")).order_by(*order).limit(1)
    row = connection.execute(found.where(crawl.c.name == name) if name else found).one_or_none()
    return LabelledCrawl(row.id, row.name, bool(row.kept)) if row is not None else None


def uncertain_pages(connection: Connection, of: LabelledCrawl, after: int = 0, most: int = 20) -> UncertainPages:
    """The next pages behind this one whose response was kept and that nobody has labelled, the least certain first."""
    if not of.kept:
        return UncertainPages((), 0)
    numbers = _next(connection, of.id, after)
    labelled = select(label.c.url).where(label.c.crawl == of.name, label.c.kind == TEXT)
    found = select(*(page.c[one.name] for one in fields(UncertainPage))).join(
        stored_response, stored_response.c.key == page.c.key
    )
    rows = connection.execute(found.where(page.c.id.in_(numbers), page.c.url.not_in(labelled)))
    known = {row.id: UncertainPage(*row) for row in rows}
    pages = tuple(known[number] for number in numbers if number in known)[:most]
    if len(pages) == most:
        return UncertainPages(pages, pages[-1].id)
    return UncertainPages(pages, numbers[-1] if len(numbers) == LOOKED_AT else 0)


def _next(connection: Connection, crawl_id: int, after: int) -> list[int]:
    """The numbers of the next pages, by the index alone."""
    mine = page.c.crawl_id == crawl_id
    last = connection.execute(select(page.c.certainty).where(mine, page.c.id == after)).one_or_none()
    every = select(page.c.id).where(mine)
    told = every.where(page.c.certainty.is_not(None)).order_by(page.c.certainty, page.c.id)
    untold = every.where(page.c.certainty.is_(None)).order_by(page.c.id)
    if last is None:
        ways = [told, untold]
    elif last.certainty is not None:
        ways = [told.where(tuple_(page.c.certainty, page.c.id) > (last.certainty, after)), untold]
    else:
        ways = [untold.where(page.c.id > after)]
    numbers: list[int] = []
    for way in ways:
        numbers += connection.execute(way.limit(LOOKED_AT - len(numbers))).scalars()
    return numbers
