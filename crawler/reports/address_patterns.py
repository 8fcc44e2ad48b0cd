"""The address patterns of a crawl's sites: what requests brought, and how many addresses were not requested."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from crawler.store.crawl_tables import address_pattern, site


@dataclass(frozen=True, slots=True)
class PatternRow:
    """A pattern of a site."""

    site: str
    pattern: str
    requests: int
    useful: int
    """Requests that brought a page that is no copy, or new links to such pages."""
    put_off: int
    """Addresses that were not requested."""


def address_patterns(connection: Connection, crawl_id: int, most: int) -> tuple[PatternRow, ...]:
    """The patterns of a crawl; those of which the most addresses were not requested come first."""
    its = address_pattern.c
    requests = its.useful + its.useless + its.open
    rows = (
        select(site.c.name, its.pattern, requests, its.useful, its.put_off)
        .join(site, site.c.id == its.site_id)
        .where(its.crawl_id == crawl_id, requests + its.put_off > 0)  # others have been rendered only
        .order_by(its.put_off.desc())  # as in the index: a crawl of many sites has too many rows to sort them all
        .limit(most)
    )
    pattern_rows = (PatternRow(*row) for row in connection.execute(rows))
    return tuple(sorted(pattern_rows, key=lambda row: (-row.put_off, -row.requests, row.pattern)))
