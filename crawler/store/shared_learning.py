"""Lessons: what seeds taught one worker, for the others and for later runs.

What workers have learned of where the topic's pages are: kept for later runs, and read by the other workers.

Each worker has one row, that of its seat, and writes it anew; whoever sits there later goes on with it.

What the pages of a host have in common, for all workers: templates as one of them has learned them.

A worker reads those of the hosts it has at hand and of no others: all of a host when it comes to hand, later on what is
new. So what it has in memory does not grow with the crawl, but with the hosts it asks at a time.
"""

import time
from collections.abc import Collection, Iterable
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, insert, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from crawler.frontier.messages import Completion, Template
from crawler.store.addresses import dialect_insert, in_chunks
from crawler.store.output_files import storable
from crawler.store.schema import focus, host, shared_example, template, worker

LATE_EXAMPLES = 1_000


def save_shared_examples(connection: Connection, crawl_id: int, ended: Iterable[Completion]) -> None:
    """Keep what ended leases taught."""
    if taught := [
        {"crawl_id": crawl_id, "kind": kind, "text": storable(text)}
        for one in ended
        for kind, text in one.result.shared_examples
    ]:
        connection.execute(insert(shared_example), taught)


def new_shared_examples(connection: Connection, crawl_id: int, known: Collection[int]) -> dict[int, tuple[str, str]]:
    """The lessons of a crawl whose numbers are not known: kind and text, by number."""
    # A lesson may be committed after one with a higher number.
    after = max(known, default=0) - LATE_EXAMPLES
    late = select(shared_example.c.id).where(shared_example.c.crawl_id == crawl_id, shared_example.c.id > after)
    new = sorted(set(connection.execute(late).scalars()).difference(known))
    rows = [
        row
        for part in in_chunks(new)
        for row in connection.execute(
            select(shared_example).where(shared_example.c.id.in_(part)).order_by(shared_example.c.id)
        )
    ]
    return {row.id: (row.kind, row.text) for row in rows}


READ_SECONDS = 10.0  # between two looks at what others have learned


class SharedTopicModel:
    """Writes what this worker has learned, and reads what others have; each of theirs once."""

    def __init__(self, crawl_id: int) -> None:
        self.crawl_id = crawl_id
        self.read_at: float | None = None
        """When this worker last read."""
        self._known: dict[int, float] = {}
        """When each row was saved that was read, by seat."""
        self._read: dict[int, float] | None = None

    def keep(self, connection: Connection, worker_id: int, learned: tuple[str, str], now: float) -> None:
        """Write what a worker has learned, over what it wrote before."""
        summary, text = map(storable, learned)
        number = select(worker.c.number).where(worker.c.id == worker_id).scalar_subquery()
        new = dialect_insert(connection.engine)(focus)
        new = new.values(crawl_id=self.crawl_id, number=number, saved=now, summary=summary, learned=text)
        renewed: dict[str, Any] = {name: new.excluded[name] for name in ("saved", "summary", "learned")}
        connection.execute(new.on_conflict_do_update(index_elements=["crawl_id", "number"], set_=renewed))

    def read(self, connection: Connection, worker_id: int) -> list[str]:
        """What all workers learned in earlier runs, this one's seat too; later on, now and then, what is new of others.

        A row may be committed after one that was saved later, so each is known by its own time.
        """
        self._read = None
        if self.read_at is not None and time.monotonic() - self.read_at < READ_SECONDS:
            return []
        mine = select(worker.c.number).where(worker.c.id == worker_id)
        own = None if self.read_at is None else connection.execute(mine).scalar()
        rows = connection.execute(select(focus.c.number, focus.c.saved).where(focus.c.crawl_id == self.crawl_id)).all()
        self._read = {row.number: row.saved for row in rows}
        new = sorted(n for n, saved in self._read.items() if n != own and self._known.get(n) != saved)
        wanted = select(focus.c.learned).where(focus.c.crawl_id == self.crawl_id, focus.c.number.in_(new))
        return list(connection.execute(wanted.order_by(focus.c.number)).scalars()) if new else []

    def committed(self) -> None:
        """Remember what was read, now that it is certain."""
        if self._read is not None:
            self._known, self._read, self.read_at = self._read, None, time.monotonic()


def save_templates(connection: Connection, crawl_id: int, templates: Iterable[Template]) -> None:
    """Store templates that are not stored yet."""
    rows = {}
    for one in templates:
        fields = {name: storable(value) for name, value in one._asdict().items()}
        key = _key(crawl_id, *fields.values())
        rows[key] = {"key": key, "crawl_id": crawl_id, **fields}
    if rows:
        new = (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(template)
        # In one order for all workers, so that no two wait for each other.
        connection.execute(new.on_conflict_do_nothing(index_elements=["key"]), [rows[key] for key in sorted(rows)])


def new_templates(
    connection: Connection, crawl_id: int, come: Collection[int], at_hand: Collection[int], last: int
) -> tuple[list[Template], int]:
    """Those of hosts that come to hand, with those stored after the last one of hosts at hand; and the last one now.

    One that another worker commits after a later one is not seen before its host comes to hand again: where a host is
    one worker's alone, there is none.
    """
    if not come and not at_hand:
        return [], last
    mine = template.c.crawl_id == crawl_id
    wanted = or_(template.c.host.in_(_names(come)), template.c.host.in_(_names(at_hand)) & (template.c.id > last))
    rows = connection.execute(select(template).where(mine, wanted).order_by(template.c.id)).all()
    return [Template(row.host, row.tag, row.text) for row in rows], max([last, *(row.id for row in rows)])


def _names(hosts: Collection[int]):  # type: ignore[no-untyped-def]
    return select(host.c.name).where(host.c.id.in_(sorted(hosts)))


def _key(*parts: object) -> int:
    text = "\0".join(map(str, parts))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)
