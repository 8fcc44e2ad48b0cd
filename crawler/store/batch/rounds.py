"""Rounds: when a crawl has nothing left to do, it begins a new round with the pages that are due.

Each page has its own revisit interval. A new round also requests all seeds, sitemaps and feeds again, and addresses
that failed for temporary reasons. Site budgets and closed hosts are reset each round. If a sitemap or feed says during
a round that a page changed since its last request, the page is queued again.
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
from crawler.store.batch.addresses import Addresses, AddressKeys
from crawler.store.batch.hosts import next_best, pause, raise_best
from crawler.store.crawl_tables import IS_DONE, NO_OUTCOME, AddressState, address, crawl, host, site, worker
from crawler.store.database import database_time, in_chunks
from crawler.store.page_tables import IS_REVISITED, page, shared_example

BEST = 999
"""The priority of a page of relevance 1; links have at most this priority, seeds a higher one."""
PAGES = (AddressKind.SEED, AddressKind.LIST, AddressKind.LINK)
"""Kinds of addresses that are requested again."""
GONE = ("404", "410")
"""Statuses of pages that are gone for good."""
QUEUED_AT_ONCE = 5_000
"""Pages whose addresses are queued by one statement."""
IS_NOT_DEADLY = func.coalesce(address.c.outcome != Code.WORKERS_CRASHED, True)


@dataclass(frozen=True, slots=True)
class Round:
    """The round of a crawl, and the round in which it was begun, or last begun fresh."""

    number: int
    first: int

    @property
    def comes_again(self) -> bool:
        """Whether there were rounds before this one."""
        return self.number > self.first


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
    """Counts of the pages of a crawl in its round."""
    number = round_of(connection, crawl_id).number

    def of_this(column: Any) -> ColumnElement[int]:
        return func.coalesce(func.sum(case((column == number, 1), else_=0)), 0)

    counts = [of_this(column) for column in (page.c.changed_round, page.c.first_round, page.c.not_modified_round)]
    of_crawl = page.c.crawl_id == crawl_id
    sums = connection.execute(select(func.count(), *counts).where(of_crawl, page.c.last_round == number)).one()
    total, changed, new, same = map(int, sums)
    has_left = of_crawl, page.c.gone_at.is_not(None), page.c.gone_round == number
    left = select(func.count(), func.coalesce(func.sum(case((page.c.noindex, 1), else_=0)), 0)).where(*has_left)
    all_left, noindex = map(int, connection.execute(left).one())
    return RoundCounts(
        changed=changed,
        new=new,
        gone=all_left - noindex,
        unchanged=total - changed - new,
        not_modified=same,
        noindex=noindex,
    )


@dataclass(frozen=True, slots=True)
class RoundLimits:
    """The limits of what a new round queues."""

    least: float
    """Seconds after the round before until sitemaps and feeds among the seeds are due."""
    site_pages: int
    """A site with so many stored pages gets none of the addresses that were refused for its budget."""


def begin_round(
    connection: Connection, addresses: Addresses, seeds: Collection[int], everything: bool, limits: RoundLimits
) -> int | None:
    """Begin a round with what is due, or everything; returns how many addresses are queued, None if nothing is due.

    The seeds are given by key.
    """
    crawl_id = addresses.crawl_id
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))  # millions of rows take their time
    now = database_time(connection)
    row = connection.execute(select(crawl).where(crawl.c.id == crawl_id)).one()
    due: tuple[ColumnElement[bool], ...] = (page.c.crawl_id == crawl_id,)
    if not everything:
        due = (*due, page.c.due_at <= now)
    _give_up(connection, page.c.crawl_id == crawl_id, page.c.due_at <= now)
    lists_due = now - (row.round_started or 0.0) >= limits.least and _has_lists(connection, seeds)
    waiting = 0
    if row.first_round > 1:
        waiting = _queue_unlinked(connection, addresses, *due, page.c.last_round < row.first_round)
    if not (everything or lists_due or waiting or _is_any_due(connection, due)):
        return None
    worth = _is_worth_it(everything, _hosts_of_full_sites(row, limits.site_pages))
    waiting += _requeue_due(connection, crawl_id, select(page.c.key).where(*due), worth)
    anew = {"round": crawl.c.round + 1, "round_started": now, "pages": 0, "waiting": crawl.c.waiting + waiting}
    connection.execute(update(crawl).where(crawl.c.id == crawl_id).values(**anew, ended_at=None))
    connection.execute(update(worker).where(worker.c.crawl_id == crawl_id).values(pages=0))
    connection.execute(update(site).where(site.c.crawl_id == crawl_id).values(pages=0, requests=0))
    connection.execute(update(host).where(host.c.crawl_id == crawl_id).values(best=next_best, closed=None))
    connection.execute(
        delete(shared_example).where(
            shared_example.c.crawl_id == crawl_id, shared_example.c.kind == LessonKind.SEED_AGAIN
        )
    )  # they are queued already
    return waiting


def next_due(connection: Connection, crawl_id: int) -> float | None:
    """In how many seconds the next page of a crawl is due; None if no page will be."""
    soonest = select(func.min(page.c.due_at)).where(page.c.crawl_id == crawl_id, IS_REVISITED)
    due_at: float | None = connection.execute(soonest).scalar()
    if due_at is None:
        return None
    return max(0.0, due_at - database_time(connection))


def pages_known(connection: Connection, crawl_id: int) -> int:
    """How many pages a crawl has, from all rounds since it was begun or last begun fresh."""
    since = round_of(connection, crawl_id).first
    known_pages = page.c.crawl_id == crawl_id, page.c.last_round >= since
    return int(connection.execute(select(func.count()).select_from(page).where(*known_pages)).scalar_one())


def _give_up(connection: Connection, *due: ColumnElement[bool]) -> None:
    """Exclude due pages that have crashed workers from all further rounds."""
    deadly = (
        select(address.c.key)
        .where(address.c.key == page.c.key, IS_DONE, address.c.outcome == Code.WORKERS_CRASHED)
        .exists()
    )
    connection.execute(update(page).where(*due, deadly).values(due_at=NEVER))


def _queue_unlinked(connection: Connection, addresses: Addresses, *due: ColumnElement[bool]) -> int:
    """Queue due pages from before a fresh start to which no link has led since; returns how many."""
    is_known = select(address.c.id).where(address.c.key == page.c.key).exists()
    unlinked = select(page.c.id, page.c.key, page.c.url, page.c.depth, page.c.relevance).where(*due, ~is_known)
    after, count = 0, 0
    while rows := connection.execute(unlinked.where(page.c.id > after).order_by(page.c.id).limit(QUEUED_AT_ONCE)).all():
        links: dict[int, tuple[Candidate, int | None]] = {
            row.key: (Candidate(row.url, round(min(row.relevance, 1) * BEST), depth=row.depth), None) for row in rows
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


def _is_any_due(connection: Connection, due: tuple[ColumnElement[bool], ...]) -> bool:
    due_pages = select(page.c.id).join(address, address.c.key == page.c.key).where(*due).limit(1)
    return connection.execute(due_pages).first() is not None


def _hosts_of_full_sites(its: Row[Any], limit: int) -> Select[Any]:
    """The hosts of a crawl's sites that have so many pages. All columns are in one index."""
    is_present = page.c.last_round >= its.first_round, page.c.gone_round.is_(None), page.c.site_id.is_not(None)
    stored = select(page.c.site_id).where(page.c.crawl_id == its.id, *is_present)
    return select(host.c.id).where(host.c.site_id.in_(stored.group_by(page.c.site_id).having(func.count() >= limit)))


def _requeue_due(connection: Connection, crawl_id: int, due: Select[Any], others_worth: ColumnElement[bool]) -> int:
    """Queue the due pages, and those of the other addresses that are worth it; returns how many."""
    its = page.c.key == address.c.key
    worth = select(case((page.c.relevance >= 1, BEST), else_=cast(func.round(page.c.relevance * BEST), Integer))).where(
        its
    )
    own = address.c.kind.in_((AddressKind.SEED, AddressKind.LIST))
    priority = case((own, address.c.priority), else_=func.coalesce(worth.scalar_subquery(), address.c.priority))
    again = {"state": AddressState.WAITING, "worker": None, "crashes": 0} | NO_OUTCOME
    pages = update(address).where(address.c.key.in_(due), IS_DONE, IS_NOT_DEADLY)
    count = connection.execute(pages.values(**again, priority=priority)).rowcount
    hosts = select(host.c.id).where(host.c.crawl_id == bindparam("crawl"))
    others = update(address).where(IS_DONE, address.c.host_id.in_(hosts), address.c.kind.in_(PAGES), others_worth)
    return count + connection.execute(others.values(**again), {"crawl": crawl_id}).rowcount


def _is_worth_it(everything: bool, full: Select[Any]) -> ColumnElement[bool]:
    """The condition for requesting an address again that yielded no page: a seed or a list, what failed for a temporary
    reason, and what a budget refused, unless its host is among those of full sites.
    """
    code = address.c.outcome
    own = address.c.kind.in_((AddressKind.SEED, AddressKind.LIST))
    failed = code.in_(codes(Group.FAILED))
    has_room = (code != Code.SITE_BUDGET_SPENT) | address.c.host_id.not_in(full)
    if everything:
        left_out = code.in_((*codes(Group.SKIPPED), *codes(Group.PUT_OFF)))
        other = code.is_(None) | code.in_((Code.LIST, Code.REDIRECTED))
        return IS_NOT_DEADLY & or_(own, other, failed, left_out & has_room)
    is_gone = (code == Code.HTTP_STATUS) & address.c.outcome_detail.in_(GONE)
    closed = (Code.HOST_CLOSED, Code.HOST_WALLED)
    passing = code.in_((Code.LIST, Code.ROBOTS_UNREADABLE, Code.SITE_BUDGET_SPENT, *closed))
    return IS_NOT_DEADLY & or_(own, failed & ~is_gone, passing & has_room)


LISTED = (
    update(address)
    .where(
        address.c.key == bindparam("its"),
        or_(address.c.lastmod.is_(None), address.c.lastmod < bindparam("to_lastmod")),
    )
    .values(lastmod=bindparam("to_lastmod"))
)

NOT_YET = func.coalesce(page.c.checked_at < crawl.c.round_started, True)
"""The condition that a page was not requested in this round."""


def requeue_listed(
    connection: Connection, keys: AddressKeys, ended: Iterable[Completion], which: Round, now: float
) -> int:
    """Queue pages again that sitemaps or feeds say have changed, once a round; returns how many."""
    lastmod_of_key: dict[int, float] = {}
    for completion in ended:
        for link in completion.result.links:
            if link.lastmod is not None and link.lastmod <= now:  # a later time can only come from a wrong clock
                key = keys(link.url, link.kind)
                lastmod_of_key[key] = max(link.lastmod, lastmod_of_key.get(key, link.lastmod))
    if not lastmod_of_key or not which.comes_again:
        return 0
    rows = [{"its": key, "to_lastmod": lastmod_of_key[key]} for key in sorted(lastmod_of_key)]
    connection.execute(LISTED, rows)
    stale: list[int] = []
    for part in in_chunks(sorted(lastmod_of_key)):
        listed_pages = select(page.c.key, page.c.checked_at).join(crawl, crawl.c.id == page.c.crawl_id)
        listed_pages = listed_pages.where(
            page.c.key.in_(part), page.c.last_round < which.number, NOT_YET
        )  # even if it was missing
        stale += [
            row.key for row in connection.execute(listed_pages) if lastmod_of_key[row.key] > (row.checked_at or 0.0)
        ]
    return sum(_requeue(connection, part) for part in in_chunks(stale))


def _requeue(connection: Connection, keys: Iterable[int]) -> int:
    again = update(address).where(address.c.key.in_(list(keys)), IS_DONE)
    again = again.values(state=AddressState.WAITING, worker=None, **NO_OUTCOME)
    rows = connection.execute(again.returning(address.c.host_id, address.c.priority)).all()
    raise_best(connection, ((row.host_id, row.priority) for row in rows))
    return len(rows)


def requeue_failed_seeds(connection: Connection, crawl_id: int, keys: AddressKeys) -> int:
    """Queue the seeds and examples again that failed for a temporary reason; returns how many."""
    failed = (
        shared_example.c.crawl_id == crawl_id,
        shared_example.c.kind.in_((LessonKind.SEED_AGAIN, LessonKind.EXAMPLE_AGAIN)),
    )
    rows = connection.execute(select(shared_example.c.kind, shared_example.c.text).where(*failed)).all()
    connection.execute(delete(shared_example).where(*failed))
    failed_keys = {
        keys(row.text, AddressKind.SEED if row.kind == LessonKind.SEED_AGAIN else AddressKind.EXAMPLE) for row in rows
    }
    return sum(_reopen(connection, part) for part in in_chunks(sorted(failed_keys)))


def _reopen(connection: Connection, keys: Sequence[int]) -> int:
    """Queue addresses again that are done, and reopen their hosts; returns how many."""
    done = address.c.key.in_(keys), IS_DONE
    hosts = connection.execute(select(address.c.host_id).where(*done)).scalars().all()
    opened = connection.execute(update(address).where(*done).values(state=AddressState.WAITING, **NO_OUTCOME)).rowcount
    rested = database_time(connection) + pause()
    sooner = case((host.c.next_at < rested, host.c.next_at), else_=rested)  # than after a long pause for errors
    anew = {"best": next_best, "closed": None, "next_at": sooner}
    connection.execute(update(host).where(host.c.id.in_(sorted(set(hosts)))).values(**anew))
    return opened
