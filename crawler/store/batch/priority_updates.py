"""Writes new priorities of queued addresses, and when a crawl gets another topic the relevance of its stored pages.

If a worker crashes, addresses keep their old priorities. No worker waits to write priorities: if another transaction
has locked a host, its priorities are written with a later batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Connection, Integer, Row, Select, bindparam, func, select, update

from crawler.frontier.page_result import AddressKind
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.claims import Claimant
from crawler.store.batch.hosts import UPDATE_BEST
from crawler.store.batch.shared_learning import SharedTopicModel
from crawler.store.crawl_tables import IS_WAITING, address, crawl, host, worker
from crawler.store.database import database_time, in_chunks
from crawler.store.page_tables import page
from crawler.topic.priorities import HIGHEST, LEAST_LIKELY

PRIORITIES_AT_ONCE = 50_000  # priorities written in one transaction; later ones wait for the next
# Seeds, lists, images, and pages that only an image links to have fixed priorities.
HAS_LEARNED_PRIORITY = (
    address.c.key.in_(bindparam("keys", expanding=True))
    & IS_WAITING
    & (address.c.kind == AddressKind.LINK)
    & address.c.sight.is_(None)
)
LOCK_HOSTS = (
    select(host.c.id)
    .where(host.c.id.in_(select(address.c.host_id).where(HAS_LEARNED_PRIORITY)))
    .with_for_update(of=host, skip_locked=True, key_share=True)
)
PRIORITIES = select(address.c.id, address.c.key, address.c.host_id, address.c.priority).where(HAS_LEARNED_PRIORITY)
UPDATE_PRIORITY = update(address).where(address.c.id == bindparam("number")).values(priority=bindparam("new"))
_arrays = bindparam("numbers", type_=ARRAY(BigInteger)), bindparam("priorities", type_=ARRAY(Integer))
_given = func.unnest(*_arrays).table_valued("number", "new").render_derived()
# The id is the only condition: PostgreSQL would start with any other condition that it expects to hold for few rows.
UPDATE_PRIORITIES = update(address).where(address.c.id == _given.c.number).values(priority=_given.c.new)


class PriorityUpdates:
    """Writes the new priorities of one worker, and keeps those that wait for another worker's locks."""

    def __init__(self, keys: AddressKeys) -> None:
        self.keys = keys
        self.late: dict[int, int] = {}
        """Priorities still to be written, by the key of the address, oldest first."""
        self.dropped = 0
        """How many priorities were dropped because too many were waiting."""
        self._later: dict[int, int] = {}

    def write(self, connection: Connection, priorities: Mapping[str, int]) -> None:
        """Write the new priorities of queued addresses, and update the best priorities of their hosts."""
        self._later = {}
        if not priorities and not self.late:
            return
        new_priorities = {self.keys(url): priority for url, priority in priorities.items()}
        new_priorities = {
            key: priority for key, priority in self.late.items() if key not in new_priorities
        } | new_priorities
        now = sorted(list(new_priorities)[-PRIORITIES_AT_ONCE:])
        unlocked = _lock_hosts(connection, now)
        # While their hosts are locked, nobody claims the addresses.
        rows = [row for part in in_chunks(now) for row in connection.execute(PRIORITIES, {"keys": part})]
        later = {row.key for row in rows if unlocked is not None and row.host_id not in unlocked}
        changed = [row for row in rows if row.key not in later and row.priority != new_priorities[row.key]]
        _write_priorities(connection, changed, new_priorities)
        for hosts in in_chunks(sorted({row.host_id for row in changed})):
            connection.execute(UPDATE_BEST, {"ids": hosts})
        done = set(now) - later
        self._later = {key: priority for key, priority in new_priorities.items() if key not in done}

    def committed(self) -> None:
        """Keep what is still to be written, as the transaction is committed."""
        late = list(self._later.items())
        self.dropped += max(0, len(late) - PRIORITIES_AT_ONCE)
        self.late = dict(late[-PRIORITIES_AT_ONCE:])
        self._later = {}

    def forget(self) -> None:
        """Forget what is still to be written, as this worker expired."""
        self.late = {}
        self._later = {}


def _lock_hosts(connection: Connection, keys: Sequence[int]) -> set[int] | None:
    """Lock the hosts of addresses that no other transaction has locked; None stands for all of them."""
    if connection.dialect.name == "sqlite":  # SQLite has only one writer at a time
        return None
    return {n for part in in_chunks(keys) for n in connection.execute(LOCK_HOSTS, {"keys": part}).scalars()}


def _write_priorities(connection: Connection, rows: Collection[Any], priorities: Mapping[int, int]) -> None:
    priority_of_row = {row.id: priorities[row.key] for row in rows}
    if not priority_of_row:
        return
    if connection.dialect.name == "sqlite":
        connection.execute(
            UPDATE_PRIORITY, [{"number": number, "new": priority} for number, priority in priority_of_row.items()]
        )
    else:
        connection.execute(
            UPDATE_PRIORITIES, {"numbers": list(priority_of_row), "priorities": list(priority_of_row.values())}
        )


ROWS_AT_ONCE = 1_000
_text = func.substr(page.c.text, 1, bindparam("most"), type_=page.c.text.type).label("text")
# The sum keeps databases from using the indexes by crawl: they would sort all pages for each part.
STORED_PAGES = (
    select(page.c.id, page.c.requested_url, page.c.title, page.c.language, _text)
    .where(page.c.crawl_id + 0 == bindparam("crawl"), page.c.id > bindparam("last"))
    .order_by(page.c.id)
    .limit(ROWS_AT_ONCE)
)
SET_RELEVANCE = update(page).where(page.c.id == bindparam("number")).values(relevance=bindparam("new"))
_is_learned = address.c.priority.between(0, HIGHEST) | (address.c.priority < LEAST_LIKELY)
_parent = address.alias("parent")
_found_on = func.coalesce(_parent.c.requested, _parent.c.url).label("parent")
QUEUED_LINKS = (
    select(address.c.id, address.c.host_id, address.c.url, _found_on)
    .join(host, host.c.id == address.c.host_id)
    .outerjoin(_parent, _parent.c.id == address.c.parent)
    .where(host.c.crawl_id == bindparam("crawl"), address.c.id > bindparam("last"), IS_WAITING)
    .where(address.c.kind == AddressKind.LINK, address.c.sight.is_(None), _is_learned)
    .order_by(address.c.id)
    .limit(ROWS_AT_ONCE)
)


class NewTopic:
    """What a crawl has of its earlier topic, in parts, each in a transaction of its own that shows the worker alive."""

    def __init__(self, in_transaction: Callable[[Callable[[Connection], Any]], Any], claimant: Claimant) -> None:
        self._in_transaction = in_transaction
        self._claimant = claimant

    def pages(self, most: int) -> Iterator[Sequence[Row[Any]]]:
        """The stored pages: id, address, title, language and the beginning of the text."""
        return self._rows(STORED_PAGES, {"most": most})

    def links(self) -> Iterator[Sequence[Row[Any]]]:
        """The queued links: id, host, address and the address of the page on which each was found, if it is known."""
        return self._rows(QUEUED_LINKS, {})

    def save_relevance(self, relevance: Mapping[int, float]) -> None:
        """Save the relevance of pages, by their ids."""
        rows = [{"number": number, "new": new} for number, new in sorted(relevance.items())]
        self._in_transaction(lambda connection: connection.execute(SET_RELEVANCE, rows) if rows else None)

    def save_priorities(self, links: Mapping[int, int], hosts: Collection[int]) -> None:
        """Save the priorities of links of these hosts, by their ids."""

        def save(connection: Connection) -> None:
            rows = [{"number": number, "new": new} for number, new in sorted(links.items())]
            connection.execute(UPDATE_PRIORITY, rows)
            connection.execute(UPDATE_BEST, {"ids": sorted(hosts)})

        if links:
            self._in_transaction(save)

    def finish(self, topic: str, digest: str, learned: tuple[str, str]) -> None:
        """Give the crawl its new topic, with what was learned of it so far."""
        crawl_id = self._claimant.crawl_id
        worker_id = self._claimant.worker_id

        def save(connection: Connection) -> None:
            values = {"topic": topic, "topic_digest": digest}
            connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(**values))
            SharedTopicModel(crawl_id).save(connection, worker_id, learned, database_time(connection))

        self._in_transaction(save)

    def _rows(self, query: Select[Any], values: Mapping[str, Any]) -> Iterator[Sequence[Row[Any]]]:
        last = 0

        def read(connection: Connection) -> Sequence[Row[Any]]:
            alive = update(worker).where(worker.c.id == self._claimant.worker_id)
            connection.execute(alive.values(heartbeat=database_time(connection)))
            return connection.execute(query, {"crawl": self._claimant.crawl_id, "last": last, **values}).all()

        while rows := self._in_transaction(read):
            last = rows[-1].id
            yield rows
