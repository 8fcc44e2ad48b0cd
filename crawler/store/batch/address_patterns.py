"""The counts of address patterns: a batch adds the counts of its requests, and its reply brings the sums.

Addresses of a pattern that brings nothing are put off, that is, not requested (see crawler/frontier/put_off_rule.py).
They are queued again when their pattern turns out useful, or when new links change the patterns of their site. For each
batch, `counts_of_requests`, `save_counts`, `release_useful` and `counts_of_sites` are called in this order.

A trial is a page that is rendered in a browser: does it gain text or links there?

The sites of a batch are locked before its counts are written, so two workers cannot deadlock here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, func, select, update

from crawler.frontier.page_result import Completion
from crawler.frontier.put_off_rule import PatternCounts, PatternUse, Usefulness
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.store.batch.hosts import raise_best
from crawler.store.crawl_tables import IS_PUT_OFF, NO_OUTCOME, AddressState, address, address_pattern, host
from crawler.store.database import dialect_insert, in_chunks
from crawler.urls.patterns import shorter_addresses

Counts = dict[tuple[int, str], PatternCounts]
"""The counts of patterns, by the id of the site and the pattern."""

HOSTS_OF_SITE = select(host.c.id).where(host.c.site_id == bindparam("site"))
RELEASE = (
    update(address)
    .where(IS_PUT_OFF, address.c.host_id.in_(HOSTS_OF_SITE))
    .values(state=AddressState.WAITING, worker=None, **NO_OUTCOME)
    .returning(address.c.host_id, address.c.priority)
)
"""Queues all addresses of a site again that were put off."""
RELEASE_PATTERN = RELEASE.where(address.c.outcome_detail == bindparam("pattern"))
COUNTS_OF_SITES = select(address_pattern).where(address_pattern.c.site_id.in_(bindparam("sites", expanding=True)))
COUNT_COLUMNS = tuple(field.name for field in fields(PatternCounts))


def counts_of_requests(ended: Iterable[Completion], originals: Mapping[int, str]) -> Counts:
    """The counts of ended requests, by site and pattern.

    `originals` has, for each request that brought a copy, the address of the original, by the id of the lease.
    """
    counts: Counts = defaultdict(PatternCounts)
    for completion in ended:
        site_id = completion.lease.site_id
        original = originals.get(completion.lease.id)
        pattern_use = completion.result.pattern_use
        if pattern_use is not None:
            is_copy = original is not None
            use = pattern_use.use
            if use is Usefulness.USEFUL and is_copy:
                use = pattern_use.of_copy
            for pattern in pattern_use.counted_for(use):
                counts[site_id, pattern] = counts[site_id, pattern].after(use, pattern_use.is_list, is_copy)
            for pattern, use_of_parameter in _uses_of_parameters(pattern_use, original):
                counts[site_id, pattern] = counts[site_id, pattern].after(use_of_parameter)

        trial = completion.result.trial
        if trial is not None and trial.pattern:  # a site with too many patterns has none for some addresses
            of_pattern = counts[site_id, trial.pattern]
            gained = of_pattern.gained + trial.has_gained
            counts[site_id, trial.pattern] = replace(of_pattern, rendered=of_pattern.rendered + 1, gained=gained)
    return counts


def _uses_of_parameters(use: PatternUse, original: str | None) -> Iterator[tuple[str, Usefulness]]:
    """The use of each parameter of an address; `original` is the address of the original if its page is a copy.

    A parameter is useless if the original is the same address without the parameter, or with another value of it. It
    is useful if the page is no copy. A copy of any other page says nothing about the parameter.
    """
    for pattern, shorter in use.parameters:
        if original is None:
            yield pattern, Usefulness.USEFUL
        elif shorter == original or shorter_addresses(original).get(pattern) == shorter:
            yield pattern, Usefulness.USELESS


def save_counts(connection: Connection, crawl_id: int, counts: Counts) -> None:
    """Add the counts of new requests to those in the database."""
    if not counts:
        return
    rows = [
        {
            "crawl_id": crawl_id,
            "site_id": site_id,
            "pattern": pattern,
            **{name: getattr(pattern_counts, name) for name in COUNT_COLUMNS},
        }
        for (site_id, pattern), pattern_counts in sorted(counts.items())
    ]
    connection.execute(_adding_insert(dialect_insert(connection.engine)), rows)


@lru_cache(maxsize=2)  # SQLite and PostgreSQL
def _adding_insert(insert: Callable[..., Any]) -> Any:
    """The INSERT of counts, which adds them to the earlier counts of their patterns."""
    new = insert(address_pattern)
    columns = address_pattern.c
    sums: dict[str, Any] = {name: columns[name] + new.excluded[name] for name in COUNT_COLUMNS if name != "in_a_row"}
    # If a new request is useful, it ends the earlier run of useless requests.
    sums["in_a_row"] = case(
        (new.excluded.useful > 0, new.excluded.in_a_row), else_=columns.in_a_row + new.excluded.in_a_row
    )
    return new.on_conflict_do_update(index_elements=["site_id", "pattern"], set_=sums)


def release_useful(connection: Connection, counts: Counts, sites_with_new_patterns: Collection[int]) -> int:
    """Queue addresses again that were put off, if their pattern is useful by the new counts; returns how many.

    On sites with new patterns, all addresses that were put off are queued again: they may have other patterns now.
    """
    columns = address_pattern.c
    rows: list[Row[Any]] = []

    for (site_id, pattern), pattern_counts in sorted(counts.items()):
        if not pattern_counts.useful or site_id in sites_with_new_patterns:
            continue
        is_put_off = columns.site_id == site_id, columns.pattern == pattern, columns.put_off > 0
        if connection.execute(update(address_pattern).where(*is_put_off).values(put_off=0)).rowcount:
            rows += connection.execute(RELEASE_PATTERN, {"site": site_id, "pattern": pattern}).all()

    for site_id in sorted(sites_with_new_patterns):
        connection.execute(update(address_pattern).where(columns.site_id == site_id).values(put_off=0))
        rows += connection.execute(RELEASE, {"site": site_id}).all()
    raise_best(connection, ((row.host_id, row.priority) for row in rows))
    return len(rows)


def put_off_counts(connection: Connection, crawl_id: int) -> Outcomes:
    """How many addresses of a crawl are put off, by pattern: the detail of each outcome."""
    columns = address_pattern.c
    sums = select(columns.pattern, func.sum(columns.put_off)).where(columns.crawl_id == crawl_id, columns.put_off > 0)
    rows = connection.execute(sums.group_by(columns.pattern))
    return Outcomes({Outcome(Code.UNPRODUCTIVE, pattern): int(count) for pattern, count in rows})


def counts_of_sites(connection: Connection, sites: Iterable[int]) -> Mapping[int, Mapping[str, PatternCounts]]:
    """The counts of all patterns of each site; a site without any has an empty mapping."""
    site_ids = sorted(set(sites))
    counts_of_site: dict[int, dict[str, PatternCounts]] = {site_id: {} for site_id in site_ids}
    for part in in_chunks(site_ids):
        for row in connection.execute(COUNTS_OF_SITES, {"sites": part}):
            counts = {name: getattr(row, name) for name in COUNT_COLUMNS}
            counts_of_site[row.site_id][row.pattern] = PatternCounts(**counts)
    return counts_of_site
