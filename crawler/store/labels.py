"""Labels: how people judge images, which text of a page they choose, and whether a page is on the topic.

Models are trained on labels, which therefore outlive their crawls. A new label of an image or page replaces the earlier
label. Each label is written in a transaction of its own: a crawl waits only milliseconds for a label, and a
label waits a few seconds at most for a crawl.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, delete, func, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from crawler.errors import StateError
from crawler.store.batch.images import label_key
from crawler.store.batch.responses import COMPRESSION_LEVEL, zstd
from crawler.store.database import LOCK_SECONDS, dialect_insert, error_message, storable
from crawler.store.page_tables import LabelKind, label
from crawler.store.read_only import exists, reading

CONTENT = "content"
NOISE = "noise"
NEWEST = 2**63 - 1  # above the ids of all labels and verdicts: a list of ids below it begins with the newest
TEXT_COLUMNS = ("crawl", "kind", "url", "page", "value", "detail")
LABELS_AT_ONCE = {LabelKind.IMAGE: 100, LabelKind.TEXT: 1, LabelKind.TOPIC: 100}
"""How many labels of each kind are read at a time: a label of a text contains the source of its page."""


@dataclass(frozen=True)
class Label:
    """A person's label of an image, of the text of a page, or of the topic of a page."""

    kind: LabelKind
    crawl: str
    url: str
    page: str
    value: str
    """For an image, content or noise; for a text, the main text; for a topic, on_topic or off_topic."""
    detail: str = ""
    """For an image, how a page shows it, as a sighting's record; for a text, the chosen blocks, as JSON; for a topic,
    the number of the page and the topic's digest.
    """
    source: bytes = b""
    """For a text, the HTML of the page; for a topic, its title and text."""
    said_at: float = 0.0
    """When the person gave the label, in seconds since 1970."""

    @property
    def key(self) -> int:
        """The 64-bit key of the crawl, kind and image or page: a later label with this key replaces this one."""
        return label_key(self.crawl, self.kind, self.url, self.page)


def put_label(engine: Engine, new_label: Label) -> None:
    """Save a label; it replaces the earlier label with its key."""
    row: dict[str, Any] = {name: storable(getattr(new_label, name)) for name in TEXT_COLUMNS}
    source = zstd.compress(new_label.source, COMPRESSION_LEVEL) if new_label.source else None
    row |= {"key": new_label.key, "said_at": new_label.said_at, "source": source}
    new = dialect_insert(engine)(label)
    renewed = {name: new.excluded[name] for name in ("value", "detail", "source", "said_at")}
    with _writing(engine) as connection:
        connection.execute(new.on_conflict_do_update(index_elements=["key"], set_=renewed), row)


def remove_label(engine: Engine, key: int) -> bool:
    """Delete the label with this key; returns whether there was one."""
    with _writing(engine) as connection:
        return bool(connection.execute(delete(label).where(label.c.key == key)).rowcount)


def all_labels(connection: Connection, crawl: str | None, kind: LabelKind) -> Iterator[Label]:
    """All labels of a kind, of one crawl or of all crawls, in the order in which they were added."""
    rows_of_kind = select(label).where(*_of_kind(crawl, kind)).order_by(label.c.id).limit(LABELS_AT_ONCE[kind])
    after = 0
    while rows := connection.execute(rows_of_kind.where(label.c.id > after)).all():
        yield from map(_label, rows)
        after = rows[-1].id


@contextmanager
def text_labels(url: URL, crawl: str | None) -> Iterator[Iterator[Label]]:
    """The labels of texts in a database, of one crawl or of all crawls; none if no crawl was ever run."""
    if not exists(url):
        yield iter(())
        return
    with reading(url) as connection:
        yield all_labels(connection, crawl, LabelKind.TEXT)


def count_labels(connection: Connection, crawl: str | None, kind: LabelKind) -> dict[str, int]:
    """How many labels of a kind there are, by value. All labels of texts are counted under `text`."""
    value = label.c.kind if kind == LabelKind.TEXT else label.c.value
    rows = connection.execute(select(value, func.count()).where(*_of_kind(crawl, kind)).group_by(value))
    return {str(value_of_label): int(number) for value_of_label, number in rows}


def _of_kind(crawl: str | None, kind: LabelKind) -> list[ColumnElement[bool]]:
    """The conditions for the labels of a kind, of one crawl or of all crawls."""
    if crawl is None:
        return [label.c.kind == kind]
    return [label.c.kind == kind, label.c.crawl == crawl]


def _label(row: Row[Any]) -> Label:
    """The label in a row."""
    source = zstd.decompress(row.source) if row.source is not None else b""
    return Label(
        kind=LabelKind(row.kind),
        crawl=row.crawl,
        url=row.url,
        page=row.page,
        value=row.value,
        detail=row.detail,
        source=source,
        said_at=row.said_at,
    )


@contextmanager
def _writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that waits at most LOCK_SECONDS for locks; raises a StateError if it fails."""
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SET LOCAL lock_timeout = {round(1000 * LOCK_SECONDS)}"))
            yield connection
    except SQLAlchemyError as error:
        raise StateError("the label cannot be saved: {why}", why=error_message(error)) from None
