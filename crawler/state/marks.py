"""Marks: what people said of pictures and texts, to learn from; they outlive the crawls that they are of.

The newest mark of a thing replaces the older. Marks are written in a transaction of their own, which takes
milliseconds: a crawl waits no longer for it, and it waits no longer than some seconds for a crawl.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Engine, Row, delete, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from crawler.state.addresses import insert_of
from crawler.state.dashboard_tables import label
from crawler.state.database import LOCK_SECONDS, StateError, why
from crawler.state.lines import storable
from crawler.state.raw import LEVEL

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PICTURE, TEXT = "picture", "text"
KINDS = (PICTURE, TEXT)
CONTENT, NOISE = "content", "noise"
MOST_LETTERS = {"crawl": 1_000, "url": 10_000, "page": 10_000, "value": 10_000_000, "detail": 10_000_000}
MOST_SOURCE = 20_000_000  # bytes of what a page is made of
AT_ONCE = {PICTURE: 100, TEXT: 1}  # marks that are read together: those of texts have their pages with them


@dataclass(frozen=True)
class Mark:
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
    source: bytes | None = None
    """Of a page what it is made of."""
    said_at: float = 0.0

    @property
    def key(self) -> int:
        """A number of 64 bits: that of all marks of the same thing."""
        return key_of(self.crawl, self.kind, self.url, self.page)


@dataclass(frozen=True)
class Kept:
    """A mark in the database, and its number, by which one reads on behind it."""

    number: int
    mark: Mark


def key_of(crawl: str, kind: str, url: str, page: str) -> int:
    """What marks of the same thing have in common."""
    parts = json.dumps([crawl, kind, url, page]).encode()
    return int.from_bytes(blake2b(parts, digest_size=8).digest(), "big", signed=True)


def mark(engine: Engine, said: Mark) -> None:
    """Keep a mark; the one before of the same thing goes. A ValueError where it can be none."""
    _check(said)
    row: dict[str, Any] = {name: storable(getattr(said, name)) for name in (*MOST_LETTERS, "kind")}
    row |= {"key": said.key, "said_at": said.said_at, "source": None}
    if said.source is not None:
        row["source"] = zstd.compress(said.source, LEVEL)
    new = insert_of(engine)(label)
    renewed = {name: new.excluded[name] for name in ("value", "detail", "source", "said_at")}
    with _writing(engine) as connection:
        connection.execute(new.on_conflict_do_update(index_elements=["key"], set_=renewed), row)


def unmark(engine: Engine, said: Mark) -> bool:
    """Take back what was said of a thing, whatever it was; whether anything was."""
    with _writing(engine) as connection:
        return bool(connection.execute(delete(label).where(label.c.key == said.key)).rowcount)


def marks(connection: Connection, crawl: str | None, kind: str, after: int = 0, most: int = 100) -> list[Kept]:
    """The first marks of a kind behind one of this number, of a crawl or of all, in the order in which they came."""
    found = select(label).where(*_of(crawl, kind), label.c.id > after).order_by(label.c.id).limit(most)
    return [Kept(row.id, _mark(row)) for row in connection.execute(found)]


def all_marks(connection: Connection, crawl: str | None, kind: str) -> Iterator[Mark]:
    """All marks of a kind, of a crawl or of all."""
    after = 0
    while some := marks(connection, crawl, kind, after, AT_ONCE[kind]):
        yield from (one.mark for one in some)
        after = some[-1].number


def count(connection: Connection, crawl: str | None, kind: str) -> dict[str, int]:
    """How many marks there are of a kind: of pictures by what they say, of texts all under `text`."""
    value = label.c.value if kind == PICTURE else label.c.kind
    rows = connection.execute(select(value, func.count()).where(*_of(crawl, kind)).group_by(value))
    return {str(said): int(number) for said, number in rows}


def _of(crawl: str | None, kind: str) -> list[Any]:
    return [label.c.kind == kind, *([] if crawl is None else [label.c.crawl == crawl])]


def _mark(row: Row[Any]) -> Mark:
    source = None if row.source is None else zstd.decompress(row.source)
    return Mark(row.kind, row.crawl, row.url, row.page, row.value, row.detail, source, row.said_at)


def _check(said: Mark) -> None:
    """Nothing comes back; a ValueError says what is wrong with a mark."""
    if said.kind not in KINDS:
        raise ValueError(f"a mark is of a {' or a '.join(KINDS)}, not of {said.kind[:100]!r}")
    if said.kind == PICTURE and said.value not in (CONTENT, NOISE):
        raise ValueError(f"a picture is {CONTENT} or {NOISE}, not {said.value[:100]!r}")
    for name, most in MOST_LETTERS.items():
        if len(getattr(said, name)) > most:
            raise ValueError(f"the {name} of a mark has more than {most:,} letters")
    if said.source is not None and len(said.source) > MOST_SOURCE:
        raise ValueError(f"what a page is made of has more than {MOST_SOURCE:,} bytes")


@contextmanager
def _writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that waits some seconds for others and no longer; a StateError says why it came to nothing."""
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"SET LOCAL lock_timeout = {round(1000 * LOCK_SECONDS)}"))
            yield connection
    except SQLAlchemyError as error:
        raise StateError(f"the label cannot be kept: {why(error)}") from None
