"""The state of crawls: summaries, which read a few rows however large a crawl is, and full states, which take seconds.

Reading locks nothing. A full state counts the addresses of a crawl: queued and leased ones by an index, done ones in
one pass, which takes seconds at five million addresses.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    case,
    func,
    select,
)
from sqlalchemy.engine import URL

from crawler.errors import WrongUseError
from crawler.frontier.batch import Control
from crawler.frontier.page_result import AddressKind
from crawler.outcomes import Code, Group, Outcome, Outcomes
from crawler.reports.seeds import FailedSeeds, all_failed, failed_seeds
from crawler.reports.sites import SiteQuery, SiteRow, sites
from crawler.store.batch.crawl_end import WaitingLinkCounts
from crawler.store.batch.rounds import due_times
from crawler.store.crawl_tables import ADDRESSES_WITH_HOSTS, IS_DONE, IS_RECORDED, address, crawl, host, output, site
from crawler.store.crawl_tables import worker as worker_table
from crawler.store.database import database_time, display_url
from crawler.store.heartbeats import LEASE_SECONDS, WorkerState, worker_rows
from crawler.store.page_tables import page
from crawler.store.read_only import exists, reading
from crawler.translation.message import first

AFTER_RUNNING = 2**62
"""The `before` of the part that follows the running crawls: larger than the id of any crawl."""
MOST_SITES = 10
"""The most sites that the full state of a crawl lists."""
MOST_NAMES = 10
"""The most crawls that an error names."""
MOST_FAILED = 10
"""The most failed seeds that the full state of a crawl lists."""
NO_LIMIT = 2**31 - 1
"""A limit that counts all queued addresses of a site: the largest value of PostgreSQL's INTEGER."""


class CrawlPhase(StrEnum):
    """How far a crawl has come."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    """It ended before its work did; the same command continues it."""
    BROKEN = "broken"
    """Its workers have no heartbeat any more."""
    FINISHED = "finished"
    FULL = "full"
    """It has as many pages as it may have, and more could be requested."""
    FAILED = "failed"
    """Every seed failed."""


PHASE_OF_CONTROL = {
    Control.RUNNING: CrawlPhase.RUNNING,
    Control.PAUSED: CrawlPhase.PAUSED,
    Control.STOPPING: CrawlPhase.STOPPING,
}


@dataclass(frozen=True)
class CrawlSummary:
    """The progress of a crawl and its workers."""

    id: int
    name: str
    seeds: str
    """As JSON."""
    topic: str
    """As the user gave it; empty if it follows from the seeds."""
    started_at: float
    ended_at: float | None
    pages: int
    """Pages of this round."""
    waiting: int
    """Queued addresses, without unlikely links."""
    unlikely: int
    """Queued links that wait because they are unlikely to lead to the topic."""
    behind_images: int
    """How many queued addresses are links behind images; 0 until the crawl has ended."""
    round: int
    first_round: int
    """The round in which it was begun, or last begun fresh."""
    control: Control
    workers: tuple[WorkerState, ...]
    is_fruitless: bool
    """Whether it ended without a page in this round because every seed failed."""

    @property
    def alive(self) -> tuple[WorkerState, ...]:
        """The workers with a recent heartbeat."""
        return tuple(worker for worker in self.workers if worker.alive)

    @property
    def silent(self) -> float | None:
        """Seconds since the last heartbeat of any worker."""
        return min((worker.silent for worker in self.workers), default=None)

    @property
    def status(self) -> CrawlPhase:
        """How far the crawl has come, and whether it has workers with a recent heartbeat."""
        if self.is_fruitless:
            return CrawlPhase.FAILED
        if self.ended_at is not None:
            links = WaitingLinkCounts(self.unlikely, self.behind_images)
            if links.requestable(self.waiting + self.unlikely):  # only max_pages ends a crawl that could go on
                return CrawlPhase.FULL
            return CrawlPhase.FINISHED
        if self.alive:
            return PHASE_OF_CONTROL[self.control]
        if self.workers:
            return CrawlPhase.BROKEN
        return CrawlPhase.STOPPED


def all_summaries(connection: Connection, now: float) -> list[CrawlSummary]:
    return _summaries(connection, connection.execute(select(crawl).order_by(crawl.c.id)).all(), now)


def latest_summaries(
    connection: Connection, now: float, before: int, most: int
) -> tuple[list[CrawlSummary], int | None]:
    """A part of the crawls with ids below `before`, the latest first, and the `before` of the next part; None after the
    last part.

    The first part, with before=0, lists the running crawls before the others. A later part may list running crawls a
    second time.
    """
    running = []
    if before:
        rows = _latest(connection, crawl.c.id < before, most + 1)
    else:
        have_workers = select(worker_table.c.crawl_id).where(worker_table.c.heartbeat >= now - LEASE_SECONDS)
        is_running = crawl.c.ended_at.is_(None) & crawl.c.id.in_(have_workers)
        running = _latest(connection, is_running, most + 1)
        rows = running + _latest(connection, ~is_running, most + 1 - len(running))
    shown = rows[:most]
    summaries = _summaries(connection, shown, now)
    if len(rows) <= most:
        return summaries, None
    if len(running) >= len(shown):  # the latest crawls have not been listed yet
        return summaries, AFTER_RUNNING
    return summaries, shown[-1].id


def summary_of(connection: Connection, number: int, now: float) -> CrawlSummary | None:
    """The crawl with this id; None if there is none."""
    rows = connection.execute(select(crawl).where(crawl.c.id == number)).all()
    return next(iter(_summaries(connection, rows, now)), None)


def _latest(connection: Connection, condition: ColumnElement[bool], most: int) -> list[Row[Any]]:
    return list(connection.execute(select(crawl).where(condition).order_by(crawl.c.id.desc()).limit(most)))


def _summaries(connection: Connection, rows: Collection[Row[Any]], now: float) -> list[CrawlSummary]:
    # The counts of the workers, by crawl.
    workers: defaultdict[int, list[WorkerState]] = defaultdict(list)
    pages = Counter[int]()
    waiting = Counter[int]()
    for worker_row, worker in worker_rows(connection, now):
        workers[worker_row.crawl_id].append(worker)
        pages[worker_row.crawl_id] += worker_row.pages
        waiting[worker_row.crawl_id] += worker_row.waiting

    without_pages = [row.id for row in rows if row.ended_at is not None and not row.pages]
    fruitless = all_failed(connection, without_pages)
    summaries = []
    for row in rows:
        # The row of a crawl has the counts of the workers that have left it. Unlikely links are counted now and then,
        # so fewer links may be queued by now.
        queued = row.waiting + waiting[row.id]
        summaries.append(
            CrawlSummary(
                id=row.id,
                name=row.name,
                seeds=row.seeds,
                topic=row.topic,
                started_at=row.started_at,
                ended_at=row.ended_at,
                pages=row.pages + pages[row.id],
                waiting=max(0, queued - row.unlikely),
                unlikely=min(row.unlikely, queued),
                behind_images=0 if row.ended_at is None else row.behind_images,
                round=row.round,
                first_round=row.first_round,
                control=row.control,
                workers=tuple(workers[row.id]),
                is_fruitless=row.id in fruitless,
            )
        )
    return summaries


def due_pages(connection: Connection, crawl_id: int, now: float, most: int | None = None) -> int:
    """How many pages of a crawl are due, counted up to a limit."""
    due = select(page.c.id).where(page.c.crawl_id == crawl_id, page.c.due_at <= now)
    return int(connection.execute(select(func.count()).select_from(due.limit(most).subquery())).scalar_one())


def check_name(names: Sequence[str], name: str | None, url: URL) -> None:
    """Raise a WrongUseError if `names`, the names of all crawls, is empty or lacks the requested name."""
    if not names:
        raise WrongUseError("no crawl was ever run here ({path})", path=display_url(url))
    if name is not None and name not in names:
        values = {"name": repr(name[:200]), "names": name_list(names)}
        raise WrongUseError("there is no crawl {name}; there are {names}", **values)


def name_list(names: Sequence[str]) -> object:
    """The first names, and how many others there are, for a message."""
    return first(names, MOST_NAMES)


@dataclass(frozen=True, slots=True)
class OutcomeTotals:
    """A crawl's completed addresses, counted by what became of them."""

    images: int
    pages: int
    outcomes: Outcomes
    """The outcomes of the addresses that became neither a page nor an image."""

    @property
    def ends(self) -> Mapping[str, int]:
        """The numbers of addresses by how they ended, the largest first. The keys are "page", "image", the codes of the
        group `done`, and the names of the other groups.
        """
        ends = Counter({"page": self.pages, "image": self.images})
        for outcome, count in self.outcomes.items():
            group = outcome.code.group
            if group is Group.DONE:
                ends[outcome.code] += count
            else:
                ends[group] += count
        return {end: count for end, count in ends.most_common() if count}

    @property
    def total(self) -> int:
        return self.pages + self.images + self.outcomes.total()


@dataclass(frozen=True)
class CrawlState(CrawlSummary):
    """A crawl with the counts that may take seconds."""

    failed_seeds: FailedSeeds
    texts: int
    """Pages in the database."""
    recorded: int
    """Images that are not judged yet, because too few pages of their site were read."""
    totals: OutcomeTotals
    files: tuple[Row[*tuple[Any, ...]], ...]
    """The rows of the workers' output files in the table `output`."""
    site_count: int
    due: int
    """Pages that are due."""
    next_due: float | None
    """Seconds until the next page is due, 0 if one is; None if no page ever will be."""
    sites: tuple[SiteRow, ...]
    """The first MOST_SITES sites with the most pages, if this crawl was requested in detail; otherwise empty."""

    @property
    def held(self) -> int:
        """Leased addresses."""
        return sum(worker.held for worker in self.workers)

    @property
    def done(self) -> int:
        return self.totals.total

    @property
    def addresses(self) -> int:
        return self.waiting + self.unlikely + self.held + self.recorded + self.done


@dataclass(frozen=True)
class DatabaseState:
    """All crawls of a database at one time."""

    now: float
    """The time by the clock of the database."""
    crawls: tuple[CrawlState, ...]


def read_state(url: URL, detailed: str = "") -> DatabaseState | None:
    """The state of all crawls, with the sites of the crawl named `detailed`; None if the database has no tables."""
    if not exists(url):
        return None
    with reading(url) as connection:
        now = database_time(connection)
        return DatabaseState(now, tuple(_crawls(connection, now, detailed)))


def _crawls(connection: Connection, now: float, detailed: str) -> Iterator[CrawlState]:
    # Counts by crawl.
    of_pages = select(page.c.crawl_id, func.count()).group_by(page.c.crawl_id)
    of_sites = select(site.c.crawl_id, func.count()).group_by(site.c.crawl_id)
    of_addresses = select(host.c.crawl_id, func.count()).select_from(ADDRESSES_WITH_HOSTS).group_by(host.c.crawl_id)
    page_counts, site_counts, recorded_counts = (
        Counter[int](dict(connection.execute(query).all()))
        for query in (of_pages, of_sites, of_addresses.where(IS_RECORDED))
    )
    totals = outcome_totals(connection)
    files = connection.execute(select(output).order_by(output.c.number)).all()

    for summary in all_summaries(connection, now):
        seconds_until_due = None
        due_at = due_times(connection, [summary.id]).get(summary.id)
        if due_at is not None:
            seconds_until_due = max(0.0, due_at - now)
        first_sites: tuple[SiteRow, ...] = ()
        if summary.name == detailed:
            first_sites = sites(connection, summary.id, SiteQuery(most=MOST_SITES, most_waiting=NO_LIMIT)).rows
        yield CrawlState(
            **vars(summary),
            failed_seeds=failed_seeds(connection, summary.id, MOST_FAILED),
            texts=page_counts[summary.id],
            recorded=recorded_counts[summary.id],
            totals=totals[summary.id],
            files=tuple(row for row in files if row.crawl_id == summary.id),
            site_count=site_counts[summary.id],
            due=due_pages(connection, summary.id, now),
            next_due=seconds_until_due,
            sites=first_sites,
        )


def outcome_totals(connection: Connection, crawl_id: int | None = None) -> defaultdict[int, OutcomeTotals]:
    """The outcomes of completed addresses, of one crawl or of all, by the crawl's id. This reads all their rows."""
    # Whether an address without an outcome became an image rather than a page; null for addresses with an outcome.
    is_image = case((address.c.outcome.is_(None), address.c.kind == AddressKind.IMAGE))
    columns = (host.c.crawl_id, address.c.outcome, address.c.outcome_detail, is_image)
    counts = select(*columns, func.count()).select_from(ADDRESSES_WITH_HOSTS).where(IS_DONE).group_by(*columns)
    if crawl_id is not None:
        counts = counts.where(host.c.crawl_id == crawl_id)
    totals_of_crawl: defaultdict[int, OutcomeTotals] = defaultdict(
        lambda: OutcomeTotals(images=0, pages=0, outcomes=Outcomes())
    )
    for number, code, detail, became_image, count in connection.execute(counts):
        totals = totals_of_crawl[number]
        if code is not None:
            totals.outcomes[Outcome(Code(code), detail or "")] = count
        elif became_image:
            totals_of_crawl[number] = replace(totals, images=count)
        else:
            totals_of_crawl[number] = replace(totals, pages=count)
    return totals_of_crawl
