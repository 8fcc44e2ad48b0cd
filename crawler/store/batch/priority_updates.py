"""Writes new priorities of queued addresses, and the relevance of stored pages when a crawl gets another topic.

If a worker crashes, addresses keep their old priorities. No worker waits to write priorities: if another transaction
has locked a host, its priorities are written with a later batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Connection, Integer, Row, Select, Update, bindparam, func, select, update

from crawler.frontier.page_result import AddressKind
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.claims import Claimant
from crawler.store.batch.hosts import UPDATE_BEST
from crawler.store.batch.shared_learning import SharedTopicModel
from crawler.store.crawl_tables import IS_WAITING, address, crawl, host, worker
from crawler.store.database import database_time, in_chunks
from crawler.store.page_tables import page
from crawler.topic.priorities import HIGHEST, LEAST_LIKELY

PRIORITIES_AT_ONCE = 50_000
"""The most priorities that are written in one transaction, and the most that may wait for the next one."""
HAS_LEARNED_PRIORITY = (
    address.c.key.in_(bindparam("keys", expanding=True))
    & IS_WAITING
    & (address.c.kind == AddressKind.LINK)
    & address.c.sight.is_(None)
)
"""The condition for queued links among the addresses with some keys. All other addresses have fixed priorities: seeds,
lists, images, and pages that only an image links to.
"""
LOCK_HOSTS = (
    select(host.c.id)
    .where(host.c.id.in_(select(address.c.host_id).where(HAS_LEARNED_PRIORITY)))
    .with_for_update(of=host, skip_locked=True, key_share=True)
)
"""Locks the hosts of these links, except those that another transaction has locked."""
PRIORITIES = select(address.c.id, address.c.key, address.c.host_id, address.c.priority).where(HAS_LEARNED_PRIORITY)
UPDATE_PRIORITY = (
    update(address).where(address.c.id == bindparam("address_id")).values(priority=bindparam("new_priority"))
)
"""The UPDATE of one priority, which SQLite runs for each address."""


def _update_priorities() -> Update:
    """The UPDATE of many priorities at once on PostgreSQL, given as an array of ids and one of priorities."""
    ids = bindparam("address_ids", type_=ARRAY(BigInteger))
    priorities = bindparam("new_priorities", type_=ARRAY(Integer))
    pairs = func.unnest(ids, priorities).table_valued("address_id", "new_priority").render_derived()
    # The id is the only condition: with another one, PostgreSQL might read all rows that meet that one.
    return update(address).where(address.c.id == pairs.c.address_id).values(priority=pairs.c.new_priority)


UPDATE_PRIORITIES = _update_priorities()


class PriorityUpdates:
    """Writes the new priorities of one worker, and keeps those that wait for another worker's locks."""

    def __init__(self, keys: AddressKeys) -> None:
        self.keys = keys
        self.late: dict[int, int] = {}
        """Priorities that an earlier batch could not write, by the key of the address, oldest first."""
        self.dropped = 0
        """How many priorities were dropped because too many were waiting."""
        self._late_after_commit: dict[int, int] = {}
        """The priorities that the uncommitted transaction leaves to be written."""

    def write(self, connection: Connection, priorities: Mapping[str, int]) -> None:
        """Write the new priorities of queued addresses, and update the best priorities of their hosts."""
        self._late_after_commit = {}
        if not priorities and not self.late:
            return
        # The late priorities, without those of addresses that have a new one, and then the new ones. If there are too
        # many, the last are written now.
        new_priorities = {self.keys(url): priority for url, priority in priorities.items()}
        late = {key: priority for key, priority in self.late.items() if key not in new_priorities}
        new_priorities = late | new_priorities
        keys = sorted(list(new_priorities)[-PRIORITIES_AT_ONCE:])

        # While their hosts are locked, no worker claims the addresses.
        locked_hosts = _lock_hosts(connection, keys)
        rows = [row for part in in_chunks(keys) for row in connection.execute(PRIORITIES, {"keys": part})]
        skipped = {row.key for row in rows if locked_hosts is not None and row.host_id not in locked_hosts}
        changed = [row for row in rows if row.key not in skipped and row.priority != new_priorities[row.key]]
        _write_priorities(connection, changed, new_priorities)
        for hosts in in_chunks(sorted({row.host_id for row in changed})):
            connection.execute(UPDATE_BEST, {"ids": hosts})

        done = set(keys) - skipped
        self._late_after_commit = {key: priority for key, priority in new_priorities.items() if key not in done}

    def committed(self) -> None:
        """Keep what is still to be written, as the transaction is committed."""
        late = list(self._late_after_commit.items())
        self.dropped += max(0, len(late) - PRIORITIES_AT_ONCE)
        self.late = dict(late[-PRIORITIES_AT_ONCE:])
        self._late_after_commit = {}

    def forget(self) -> None:
        """Forget what is still to be written, as this worker expired."""
        self.late = {}
        self._late_after_commit = {}


def _lock_hosts(connection: Connection, keys: Sequence[int]) -> set[int] | None:
    """Lock those hosts of addresses that no other transaction has locked; returns their ids, or None if all hosts are
    locked.
    """
    if connection.dialect.name == "sqlite":  # SQLite has only one writer at a time
        return None
    return {host_id for part in in_chunks(keys) for host_id in connection.execute(LOCK_HOSTS, {"keys": part}).scalars()}


def _write_priorities(connection: Connection, rows: Collection[Any], priorities: Mapping[int, int]) -> None:
    """Write the new priorities of the addresses in rows, given by key."""
    priority_of_row = {row.id: priorities[row.key] for row in rows}
    if not priority_of_row:
        return
    if connection.dialect.name == "sqlite":
        connection.execute(
            UPDATE_PRIORITY,
            [{"address_id": number, "new_priority": priority} for number, priority in priority_of_row.items()],
        )
    else:
        connection.execute(
            UPDATE_PRIORITIES,
            {"address_ids": list(priority_of_row), "new_priorities": list(priority_of_row.values())},
        )


ROWS_AT_ONCE = 1_000
"""The most rows that are read together."""
BEGINNING_OF_TEXT = func.substr(page.c.text, 1, bindparam("most"), type_=page.c.text.type).label("text")
STORED_PAGES = (
    select(page.c.id, page.c.requested_url, page.c.title, page.c.language, BEGINNING_OF_TEXT)
    # The sum keeps databases from using the indexes by crawl: they would sort all pages for each part.
    .where(page.c.crawl_id + 0 == bindparam("crawl"), page.c.id > bindparam("last_id"))
    .order_by(page.c.id)
    .limit(ROWS_AT_ONCE)
)
"""The stored pages of a crawl, in parts."""
SET_RELEVANCE = update(page).where(page.c.id == bindparam("page_id")).values(relevance=bindparam("new_relevance"))


def _queued_links() -> Select[Any]:
    """The queued links of a crawl whose priorities depend on the topic, in parts, each with the address of its page."""
    parent = address.alias("parent")
    parent_url = func.coalesce(parent.c.requested, parent.c.url).label("parent")
    # Links that are only an image have a fixed priority between these ranges (topic/priorities.py).
    has_score = address.c.priority.between(0, HIGHEST) | (address.c.priority < LEAST_LIKELY)
    return (
        select(address.c.id, address.c.host_id, address.c.url, parent_url)
        .join(host, host.c.id == address.c.host_id)
        .outerjoin(parent, parent.c.id == address.c.parent)
        .where(host.c.crawl_id == bindparam("crawl"), address.c.id > bindparam("last_id"), IS_WAITING)
        .where(address.c.kind == AddressKind.LINK, address.c.sight.is_(None), has_score)
        .order_by(address.c.id)
        .limit(ROWS_AT_ONCE)
    )


QUEUED_LINKS = _queued_links()


class NewTopic:
    """Gives a crawl a new topic: reads its pages and links in parts, and saves their new scores.

    Each part is a transaction of its own, which also writes a heartbeat of the worker.
    """

    def __init__(self, in_transaction: Callable[[Callable[[Connection], Any]], Any], claimant: Claimant) -> None:
        self._in_transaction = in_transaction
        self._claimant = claimant

    def pages(self, most: int) -> Iterator[Sequence[Row[Any]]]:
        """The stored pages: id, address, title, language and the first `most` characters of the text."""
        return self._rows(STORED_PAGES, {"most": most})

    def links(self) -> Iterator[Sequence[Row[Any]]]:
        """The queued links: id, host, address and the address of the page on which each was found, if it is known."""
        return self._rows(QUEUED_LINKS, {})

    def save_relevance(self, relevance: Mapping[int, float]) -> None:
        """Save the relevance of pages, by their ids."""
        rows = [{"page_id": page_id, "new_relevance": new} for page_id, new in sorted(relevance.items())]
        if rows:
            self._in_transaction(lambda connection: connection.execute(SET_RELEVANCE, rows))

    def save_priorities(self, links: Mapping[int, int], hosts: Collection[int]) -> None:
        """Save the priorities of links, by their ids; `hosts` are the ids of the hosts of these links."""

        def save(connection: Connection) -> None:
            rows = [{"address_id": link_id, "new_priority": priority} for link_id, priority in sorted(links.items())]
            connection.execute(UPDATE_PRIORITY, rows)
            connection.execute(UPDATE_BEST, {"ids": sorted(hosts)})

        if links:
            self._in_transaction(save)

    def finish(self, topic: str, digest: str, learned: tuple[str, str]) -> None:
        """Save the new topic of the crawl, with the topic model of this worker."""
        crawl_id = self._claimant.crawl_id
        worker_id = self._claimant.worker_id

        def save(connection: Connection) -> None:
            values = {"topic": topic, "topic_digest": digest}
            connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(**values))
            SharedTopicModel(crawl_id).save(connection, worker_id, learned, database_time(connection))

        self._in_transaction(save)

    def _rows(self, query: Select[Any], values: Mapping[str, Any]) -> Iterator[Sequence[Row[Any]]]:
        """The rows of a query in parts. Each part begins after the last id of the part before it."""
        last_id = 0

        def read(connection: Connection) -> Sequence[Row[Any]]:
            own_row = update(worker).where(worker.c.id == self._claimant.worker_id)
            connection.execute(own_row.values(heartbeat=database_time(connection)))
            return connection.execute(query, {"crawl": self._claimant.crawl_id, "last_id": last_id, **values}).all()

        while rows := self._in_transaction(read):
            last_id = rows[-1].id
            yield rows
