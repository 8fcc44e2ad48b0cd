"""Queries for the seeds that failed. An index of the seeds without a page keeps them quick."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from crawler.outcomes import READ, SEED_FAILURES, Code, Outcome
from crawler.store.crawl_tables import ADDRESSES_WITH_HOSTS, SEED_WITHOUT_PAGE, address, host


@dataclass(frozen=True, slots=True)
class FailedSeed:
    """A seed that failed."""

    url: str
    """The address before any redirect."""
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class FailedSeeds:
    """The first failed seeds of a crawl."""

    seeds: tuple[FailedSeed, ...]
    number: int
    """How many seeds failed."""


def failed_seeds(connection: Connection, crawl_id: int, most: int) -> FailedSeeds:
    """The failed seeds of a crawl, in the order in which they were given."""
    has_failed = host.c.crawl_id == crawl_id, SEED_WITHOUT_PAGE, address.c.outcome.in_(SEED_FAILURES)
    url = func.coalesce(address.c.requested, address.c.url)
    columns = url, address.c.outcome, address.c.outcome_detail
    query = select(*columns).select_from(ADDRESSES_WITH_HOSTS).where(*has_failed)
    rows = connection.execute(query.order_by(address.c.id).limit(most)).all()
    number = len(rows)
    if number == most:  # there may be more
        count = select(func.count()).select_from(ADDRESSES_WITH_HOSTS).where(*has_failed)
        number = connection.execute(count).scalar_one()
    return FailedSeeds(
        seeds=tuple(FailedSeed(url=url, outcome=Outcome(Code(code), detail or "")) for url, code, detail in rows),
        number=number,
    )


def all_failed(connection: Connection, crawls: Collection[int]) -> set[int]:
    """Which of these crawls failed with all their seeds: at least one seed failed, and none was read. The crawls must
    have no page in their current rounds.
    """
    if not crawls:
        return set()
    query = select(host.c.crawl_id, address.c.outcome).select_from(ADDRESSES_WITH_HOSTS)
    query = query.where(host.c.crawl_id.in_(crawls), SEED_WITHOUT_PAGE).distinct()
    codes_of_crawl: defaultdict[int, set[str]] = defaultdict(set)
    for crawl_id, code in connection.execute(query):
        codes_of_crawl[crawl_id].add(code)
    return {crawl_id for crawl_id, codes in codes_of_crawl.items() if codes & SEED_FAILURES and not codes & READ}
