"""The pages that crawls stored, as a report of whole crawls wants them; read without touching them.

Texts are not read, and pages come one after another: so a million of them take no more memory than one.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import NamedTuple

from sqlalchemy import Connection, func, select
from sqlalchemy.engine import URL

from crawler.outcomes import Code
from crawler.reports.state_report import PLACED
from crawler.store.page_tables import focus, page
from crawler.store.read_only import exists, reading
from crawler.store.schema import IS_DONE, IS_WAITING, address, crawl, host

PAGES_AT_ONCE = 1_000
PRIORITIES = 1_000
"""Priorities of links are scores in so many parts."""


class Fetched(NamedTuple):
    """A page that was stored."""

    id: int
    url: str
    requested_url: str
    relevance: float
    link_score: float | None
    """What its link promised before it was asked for; None where there was none to go by."""
    via: str
    """How it was found."""


@dataclass(frozen=True, slots=True)
class Told:
    """A page, and what it is called."""

    url: str
    title: str
    relevance: float
    link_score: float | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Addresses that wait to be asked for, pictures among them."""

    total: int
    promising: int
    """Those whose score reaches what was asked about; and seeds, which have none."""


class Gathered:
    """What one crawl has gathered, while the connection is open."""

    def __init__(self, connection: Connection, number: int, name: str) -> None:
        self._connection = connection
        self._mine = page.c.crawl_id == number
        self.number = number
        self.name = name

    def pages(self) -> Generator[Fetched, None, None]:
        """The pages in the order in which they were fetched, to the second; within a second in any."""
        columns = [page.c[name] for name in Fetched._fields]
        wanted = select(*columns).where(self._mine).order_by(page.c.fetched_at, page.c.id)
        with self._connection.execution_options(yield_per=PAGES_AT_ONCE).execute(wanted) as rows:
            for part in rows.partitions():
                yield from map(Fetched._make, part)

    def told(self, numbers: Iterable[int]) -> list[Told]:
        """The pages of these numbers, in this order."""
        wanted = list(numbers)
        columns = [page.c[one.name] for one in fields(Told)]
        rows = self._connection.execute(select(page.c.id, *columns).where(page.c.id.in_(wanted)))
        found = {row[0]: Told(*row[1:]) for row in rows}
        return [found[number] for number in wanted]

    def summaries(self) -> list[str]:
        """What each worker learned, as JSON."""
        mine = select(focus.c.summary).where(focus.c.crawl_id == self.number).order_by(focus.c.number)
        return list(self._connection.execute(mine).scalars())

    def off_topic(self) -> int:
        """How many pages were read and not kept, as their relevance was under `min_relevance`."""
        mine = host.c.crawl_id == self.number, IS_DONE, address.c.outcome == Code.OFF_TOPIC
        count = select(func.count()).select_from(PLACED).where(*mine)
        return int(self._connection.execute(count).scalar_one())

    def waiting(self, score: float) -> Waiting:
        """What the crawl has still to ask for, and how much of it promises so much."""
        promises = address.c.priority >= score * PRIORITIES
        counts = select(func.count(), func.count().filter(promises)).select_from(PLACED)
        mine = IS_WAITING, host.c.crawl_id == self.number
        return Waiting(*self._connection.execute(counts.where(*mine)).one())


@contextmanager
def gathered(url: URL) -> Iterator[list[Gathered]]:
    """The crawls in a database as they are at one moment; none where no crawl was ever run."""
    if not exists(url):
        yield []
        return
    with reading(url) as connection:
        rows = connection.execute(select(crawl.c.id, crawl.c.name).order_by(crawl.c.id)).all()
        yield [Gathered(connection, row.id, row.name) for row in rows]
