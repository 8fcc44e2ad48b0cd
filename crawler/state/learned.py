"""What workers have learned of where the topic's pages are: kept for later runs, and read by the other workers.

Each worker has one row, that of its seat, and writes it anew; whoever sits there later goes on with it.
"""

import time
from typing import Any

from sqlalchemy import Connection, select

from crawler.state.addresses import insert_of
from crawler.state.lines import storable
from crawler.state.schema import focus, worker

READ_SECONDS = 10.0  # between two looks at what others have learned


class Lore:
    """Writes what this worker has learned, and reads what others have; each of theirs once."""

    def __init__(self, crawl_id: int) -> None:
        self.crawl_id = crawl_id
        self.looked: float | None = None
        """When this worker last read."""
        self._known: dict[int, float] = {}
        """When each row was saved that was read, by seat."""
        self._read: dict[int, float] | None = None

    def keep(self, connection: Connection, worker_id: int, learned: tuple[str, str], now: float) -> None:
        """Write what a worker has learned, over what it wrote before."""
        summary, text = map(storable, learned)
        number = select(worker.c.number).where(worker.c.id == worker_id).scalar_subquery()
        new = insert_of(connection.engine)(focus)
        new = new.values(crawl_id=self.crawl_id, number=number, saved=now, summary=summary, learned=text)
        renewed: dict[str, Any] = {name: new.excluded[name] for name in ("saved", "summary", "learned")}
        connection.execute(new.on_conflict_do_update(index_elements=["crawl_id", "number"], set_=renewed))

    def read(self, connection: Connection, worker_id: int) -> list[str]:
        """What all workers learned in earlier runs, this one's seat too; later on, now and then, what is new of others.

        A row may be committed after one that was saved later, so each is known by its own time.
        """
        self._read = None
        if self.looked is not None and time.monotonic() - self.looked < READ_SECONDS:
            return []
        mine = select(worker.c.number).where(worker.c.id == worker_id)
        own = None if self.looked is None else connection.execute(mine).scalar()
        rows = connection.execute(select(focus.c.number, focus.c.saved).where(focus.c.crawl_id == self.crawl_id)).all()
        self._read = {row.number: row.saved for row in rows}
        new = sorted(n for n, saved in self._read.items() if n != own and self._known.get(n) != saved)
        wanted = select(focus.c.learned).where(focus.c.crawl_id == self.crawl_id, focus.c.number.in_(new))
        return list(connection.execute(wanted.order_by(focus.c.number)).scalars()) if new else []

    def committed(self) -> None:
        """Remember what was read, now that it is certain."""
        if self._read is not None:
            self._known, self._read, self.looked = self._read, None, time.monotonic()
