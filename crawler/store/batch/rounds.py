"""Rounds: when a crawl has nothing left to do, it begins a new round with the pages that are due.

Each page has its own revisit interval. A new round also requests all seeds, sitemaps and feeds again, and addresses
that failed for temporary reasons. Each round begins with full site budgets, and closed hosts are open again. If a
sitemap or feed says during a round that a page changed since its last request, the page is queued again.

A crawl that is begun fresh forgets all addresses, and its next round is again a first one. Its pages stay, each with
the number of the round in which it was last stored or unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    bindparam,
    case,
    cast,
    delete,
    func,
    or_,
    select,
    text,
    update,
)

from crawler.frontier.page_result import AddressKind, Candidate, Completion, LessonKind
from crawler.outcomes import Code, Group, codes
from crawler.recrawl.page_history import NEVER
from crawler.store.batch.addresses import Addresses, AddressKeys, LinksByKey
from crawler.store.batch.hosts import NEXT_BEST, interval, raise_best
from crawler.store.crawl_tables import IS_DONE, NO_OUTCOME, AddressState, address, crawl, host, site, worker
from crawler.store.database import database_time, in_chunks
from crawler.store.page_tables import IS_REVISITED, page, shared_example
from crawler.topic.priorities import HIGHEST

REQUEUED_KINDS = (AddressKind.SEED, AddressKind.LIST, AddressKind.LINK)
"""Kinds of addresses that are requested again, not images and examples."""
IS_SEED_OR_LIST = address.c.kind.in_((AddressKind.SEED, AddressKind.LIST))
"""The condition for seeds, and for sitemaps and feeds that a page or another sitemap names."""
GONE_STATUSES = ("404", "410")
"""Statuses of pages that are gone for good."""
BEST_OF_PAGE = HIGHEST - 1
"""The priority of a page of relevance 1; only links that exploration chooses have a higher one."""
QUEUED_AT_ONCE = 5_000
"""The most pages whose addresses are queued by one statement."""
IS_NOT_DEADLY = func.coalesce(address.c.outcome != Code.WORKERS_CRASHED, True)
"""The condition for addresses that were not given up because workers crashed on them; most have no outcome."""


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a crawl."""

    number: int
    first: int
    """The round in which the crawl was begun, or last begun fresh."""

    @property
    def is_first(self) -> bool:
        """Whether the crawl was begun, or last begun fresh, in this round."""
        return self.number == self.first


@dataclass(frozen=True, slots=True)
class RoundCounts:
    """Counts of the pages of a round."""

    changed: int
    new: int
    gone: int
    unchanged: int
    not_modified: int
    """For how many of the unchanged pages the server answered 304."""
    noindex: int = 0
    """Pages that were stored before and have noindex now."""


ROUND = select(crawl.c.round, crawl.c.first_round).where(crawl.c.id == bindparam("crawl"))


def round_of(connection: Connection, crawl_id: int) -> Round:
    """The round of a crawl."""
    return Round(*connection.execute(ROUND, {"crawl": crawl_id}).one())


def round_counts(connection: Connection, crawl_id: int) -> RoundCounts:
    """Counts of the pages of a crawl in its current round."""
    number = round_of(connection, crawl_id).number
    of_crawl = page.c.crawl_id == crawl_id

    def count_of_round(column: Any) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((column == number, 1), else_=0)), 0)

    round_columns = page.c.changed_round, page.c.first_round, page.c.not_modified_round
    present = select(func.count(), *map(count_of_round, round_columns)).where(of_crawl, page.c.last_round == number)
    total, changed, new, not_modified = map(int, connection.execute(present).one())

    is_missing = of_crawl, page.c.gone_at.is_not(None), page.c.gone_round == number
    missing = select(func.count(), func.coalesce(func.sum(case((page.c.noindex, 1), else_=0)), 0)).where(*is_missing)
    gone_or_noindex, noindex = map(int, connection.execute(missing).one())
    return RoundCounts(
        changed=changed,
        new=new,
        gone=gone_or_noindex - noindex,
        unchanged=total - changed - new,
        not_modified=not_modified,
        noindex=noindex,
    )


@dataclass(frozen=True, slots=True)
class RoundLimits:
    """The limits of what a new round queues."""

    list_interval: float
    """Sitemaps and feeds among the seeds are due when this many seconds have passed since the previous round began."""
    site_pages: int
    """If a site has this many stored pages, addresses that were refused because of its budget are not queued again."""


def begin_round(
    connection: Connection, addresses: Addresses, seeds: Collection[int], everything: bool, limits: RoundLimits
) -> int | None:
    """Begin a round with the pages that are due, or with all pages if `everything` is true.

    Returns how many addresses are queued; None if no page is due, so that no round begins. The seeds are given by key.
    """
    crawl_id = addresses.crawl_id
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))  # queries over millions of rows take long
    now = database_time(connection)
    row = connection.execute(select(crawl).where(crawl.c.id == crawl_id)).one()
    is_due: tuple[ColumnElement[bool], ...] = (page.c.crawl_id == crawl_id,)
    if not everything:
        is_due = (*is_due, page.c.due_at <= now)

    # See whether anything is due.
    _exclude_crashing_pages(connection, page.c.crawl_id == crawl_id, page.c.due_at <= now)
    lists_are_due = now - (row.round_started or 0.0) >= limits.list_interval and _has_lists(connection, seeds)
    queued = 0
    if row.first_round > 1:  # the crawl was begun fresh
        queued = _queue_unlinked(connection, addresses, *is_due, page.c.last_round < row.first_round)
    if not (everything or lists_are_due or queued or _has_due_pages(connection, is_due)):
        return None

    # Queue the addresses, and reset the budgets.
    is_requeued = _is_requeued(everything, _hosts_of_full_sites(row, limits.site_pages))
    queued += _requeue_due(connection, crawl_id, select(page.c.key).where(*is_due), is_requeued)
    new_round = {"round": crawl.c.round + 1, "round_started": now, "pages": 0, "waiting": crawl.c.waiting + queued}
    connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(**new_round, ended_at=None))
    connection.execute(update(worker).where(worker.c.crawl_id == crawl_id).values(pages=0))
    connection.execute(update(site).where(site.c.crawl_id == crawl_id).values(pages=0, requests=0))
    connection.execute(update(host).where(host.c.crawl_id == crawl_id).values(best=NEXT_BEST, closed=None))

    # The notes of failed seeds, which are rows of `shared_example`, are not needed any more: the seeds are queued.
    is_failed_seed = shared_example.c.crawl_id == crawl_id, shared_example.c.kind == LessonKind.SEED_AGAIN
    connection.execute(delete(shared_example).where(*is_failed_seed))
    return queued


def due_times(connection: Connection, crawls: Collection[int]) -> dict[int, float]:
    """When the next page of each crawl is due, by the crawl's id; crawls without any such page are left out."""
    soonest = select(func.min(page.c.due_at)).where(page.c.crawl_id == crawl.c.id, IS_REVISITED).correlate(crawl)
    rows = select(crawl.c.id, soonest.scalar_subquery().label("due")).where(crawl.c.id.in_(crawls))
    return {row.id: row.due for row in connection.execute(rows) if row.due is not None}


def next_due(connection: Connection, crawl_id: int) -> float | None:
    """Seconds until the next page of a crawl is due; None if no page will be due."""
    due_at = due_times(connection, [crawl_id]).get(crawl_id)
    if due_at is None:
        return None
    return max(0.0, due_at - database_time(connection))


def pages_known(connection: Connection, crawl_id: int) -> int:
    """How many pages a crawl has, from all rounds since it was begun or last begun fresh."""
    since = round_of(connection, crawl_id).first
    is_of_crawl = page.c.crawl_id == crawl_id, page.c.last_round >= since
    return int(connection.execute(select(func.count()).select_from(page).where(*is_of_crawl)).scalar_one())


def _exclude_crashing_pages(connection: Connection, *is_due: ColumnElement[bool]) -> None:
    """Exclude due pages from all further rounds if their addresses have crashed too many workers."""
    has_crashed_workers = (
        select(address.c.key)
        .where(address.c.key == page.c.key, IS_DONE, address.c.outcome == Code.WORKERS_CRASHED)
        .exists()
    )
    connection.execute(update(page).where(*is_due, has_crashed_workers).values(due_at=NEVER))


def _queue_unlinked(connection: Connection, addresses: Addresses, *is_due: ColumnElement[bool]) -> int:
    """Queue the due pages that have no address in the frontier; returns how many.

    A fresh start deletes all addresses. A page to which no link has led since then would never be requested again.
    """
    has_address = select(address.c.id).where(address.c.key == page.c.key).exists()
    unlinked = select(page.c.id, page.c.key, page.c.url, page.c.depth, page.c.relevance).where(*is_due, ~has_address)
    after = 0
    count = 0
    while rows := connection.execute(unlinked.where(page.c.id > after).order_by(page.c.id).limit(QUEUED_AT_ONCE)).all():
        links: LinksByKey = {
            row.key: (Candidate(row.url, round(min(row.relevance, 1) * BEST_OF_PAGE), depth=row.depth), None)
            for row in rows
        }
        count += addresses.add(connection, links)
        after = rows[-1].id
    addresses.raise_hosts(connection)
    return count


def _has_lists(connection: Connection, seeds: Collection[int]) -> bool:
    """Whether one of the seeds is a sitemap or a feed."""
    for part in in_chunks(sorted(seeds)):
        lists = select(address.c.id).where(address.c.key.in_(part), address.c.outcome == Code.LIST)
        if connection.execute(lists.limit(1)).first() is not None:
            return True
    return False


def _has_due_pages(connection: Connection, is_due: tuple[ColumnElement[bool], ...]) -> bool:
    """Whether a page with an address is due."""
    due_pages = select(page.c.id).join(address, address.c.key == page.c.key).where(*is_due).limit(1)
    return connection.execute(due_pages).first() is not None


def _hosts_of_full_sites(crawl_row: Row[Any], limit: int) -> Select[Any]:
    """The hosts of the sites of a crawl that have at least `limit` stored pages."""
    # All these columns are in the index `page_list`, so that no rows of pages are read.
    is_present = page.c.last_round >= crawl_row.first_round, page.c.gone_round.is_(None), page.c.site_id.is_not(None)
    pages = select(page.c.site_id).where(page.c.crawl_id == crawl_row.id, *is_present)
    full_sites = pages.group_by(page.c.site_id).having(func.count() >= limit)
    return select(host.c.id).where(host.c.site_id.in_(full_sites))


def _requeue_due(connection: Connection, crawl_id: int, due: Select[Any], is_requeued: ColumnElement[bool]) -> int:
    """Requeue the due pages, given by a query of their keys, and the other addresses that meet the condition.

    Returns how many addresses are requeued.
    """
    requeued = {"state": AddressState.WAITING, "worker": None, "crashes": 0} | NO_OUTCOME

    # The due pages. The priority of a page is its relevance in thousandths; seeds and lists keep theirs.
    thousandths = case(
        (page.c.relevance >= 1, BEST_OF_PAGE), else_=cast(func.round(page.c.relevance * BEST_OF_PAGE), Integer)
    )
    of_page = select(thousandths).where(page.c.key == address.c.key).scalar_subquery()
    priority = case((IS_SEED_OR_LIST, address.c.priority), else_=func.coalesce(of_page, address.c.priority))
    pages = update(address).where(address.c.key.in_(due), IS_DONE, IS_NOT_DEADLY)
    count = connection.execute(pages.values(**requeued, priority=priority)).rowcount

    # The other addresses.
    hosts = select(host.c.id).where(host.c.crawl_id == bindparam("crawl"))
    others = update(address).where(
        IS_DONE, address.c.host_id.in_(hosts), address.c.kind.in_(REQUEUED_KINDS), is_requeued
    )
    return count + connection.execute(others.values(**requeued), {"crawl": crawl_id}).rowcount


def _is_requeued(everything: bool, full_hosts: Select[Any]) -> ColumnElement[bool]:
    """The condition for requeuing an address that is not the address of a due page.

    It holds for seeds and lists, for addresses that failed for a temporary reason, and for addresses that were refused
    because of a budget. With `everything`, it also holds for pages, and for addresses that were skipped or put off. An
    address that was refused because of a budget stays refused if its host is among `full_hosts`, the hosts of sites
    that are full already.
    """
    code = address.c.outcome
    has_failed = code.in_(codes(Group.FAILED))
    has_room = (code != Code.SITE_BUDGET_SPENT) | address.c.host_id.not_in(full_hosts)
    if everything:
        is_left_out = code.in_((*codes(Group.SKIPPED), *codes(Group.PUT_OFF)))
        is_page_or_list = code.is_(None) | code.in_((Code.LIST, Code.REDIRECTED))
        return IS_NOT_DEADLY & or_(IS_SEED_OR_LIST, is_page_or_list, has_failed, is_left_out & has_room)
    is_gone = (code == Code.HTTP_STATUS) & address.c.outcome_detail.in_(GONE_STATUSES)
    may_have_passed = code.in_(
        (Code.LIST, Code.ROBOTS_UNREADABLE, Code.SITE_BUDGET_SPENT, Code.HOST_CLOSED, Code.HOST_WALLED)
    )
    return IS_NOT_DEADLY & or_(IS_SEED_OR_LIST, has_failed & ~is_gone, may_have_passed & has_room)


UPDATE_LASTMOD = (
    update(address)
    .where(
        address.c.key == bindparam("address_key"),
        or_(address.c.lastmod.is_(None), address.c.lastmod < bindparam("to_lastmod")),
    )
    .values(lastmod=bindparam("to_lastmod"))
)

IS_NOT_REQUESTED_YET = func.coalesce(page.c.checked_at < crawl.c.round_started, True)
"""The condition that a page was not requested in this round."""


def requeue_listed(
    connection: Connection, keys: AddressKeys, ended: Iterable[Completion], current_round: Round, now: float
) -> int:
    """Requeue the pages that have changed according to sitemaps or feeds, once per round; returns how many.

    In the first round none is requeued, as no page has been requested before.
    """
    lastmod_of_key: dict[int, float] = {}
    for completion in ended:
        for link in completion.result.links:
            if link.lastmod is not None and link.lastmod <= now:  # a later time can only come from a wrong clock
                key = keys(link.url, link.kind)
                lastmod_of_key[key] = max(link.lastmod, lastmod_of_key.get(key, link.lastmod))
    if not lastmod_of_key or current_round.is_first:
        return 0
    rows = [{"address_key": key, "to_lastmod": lastmod_of_key[key]} for key in sorted(lastmod_of_key)]
    connection.execute(UPDATE_LASTMOD, rows)

    stale: list[int] = []
    for part in in_chunks(sorted(lastmod_of_key)):
        listed_pages = select(page.c.key, page.c.checked_at).join(crawl, crawl.c.id == page.c.crawl_id)
        # A page that was found missing in this round still has an earlier `last_round`; the last condition excludes it.
        listed_pages = listed_pages.where(
            page.c.key.in_(part), page.c.last_round < current_round.number, IS_NOT_REQUESTED_YET
        )
        stale += [
            row.key for row in connection.execute(listed_pages) if lastmod_of_key[row.key] > (row.checked_at or 0.0)
        ]
    return sum(_requeue(connection, part) for part in in_chunks(stale))


def _requeue(connection: Connection, keys: Iterable[int]) -> int:
    """Requeue the addresses with these keys that are done; returns how many."""
    done = update(address).where(address.c.key.in_(list(keys)), IS_DONE)
    requeued = done.values(state=AddressState.WAITING, worker=None, **NO_OUTCOME)
    rows = connection.execute(requeued.returning(address.c.host_id, address.c.priority)).all()
    raise_best(connection, ((row.host_id, row.priority) for row in rows))
    return len(rows)


def requeue_failed_seeds(connection: Connection, crawl_id: int, keys: AddressKeys) -> int:
    """Requeue the seeds and examples that `shared_example` notes as failed for a temporary reason; returns how many."""
    has_failed = (
        shared_example.c.crawl_id == crawl_id,
        shared_example.c.kind.in_((LessonKind.SEED_AGAIN, LessonKind.EXAMPLE_AGAIN)),
    )
    rows = connection.execute(select(shared_example.c.kind, shared_example.c.text).where(*has_failed)).all()
    connection.execute(delete(shared_example).where(*has_failed))
    # Counterexamples have the same keys as examples.
    kind_of_lesson = {LessonKind.SEED_AGAIN: AddressKind.SEED, LessonKind.EXAMPLE_AGAIN: AddressKind.EXAMPLE}
    failed_keys = {keys(row.text, kind_of_lesson[row.kind]) for row in rows}
    return sum(_reopen(connection, part) for part in in_chunks(sorted(failed_keys)))


def _reopen(connection: Connection, keys: Sequence[int]) -> int:
    """Requeue the addresses with these keys that are done, and reopen their hosts; returns how many."""
    is_done = address.c.key.in_(keys), IS_DONE
    hosts = connection.execute(select(address.c.host_id).where(*is_done)).scalars().all()
    requeued = update(address).where(*is_done).values(state=AddressState.WAITING, **NO_OUTCOME)
    count = connection.execute(requeued).rowcount
    # A host that rests after errors may be requested after the usual interval.
    interval_ends = database_time(connection) + interval()
    sooner = case((host.c.next_at < interval_ends, host.c.next_at), else_=interval_ends)
    reopened = {"best": NEXT_BEST, "closed": None, "next_at": sooner}
    connection.execute(update(host).where(host.c.id.in_(sorted(set(hosts)))).values(**reopened))
    return count
