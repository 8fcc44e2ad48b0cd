"""The address patterns of a crawl's sites: how many requests were useful, and how many addresses were put off."""

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
    """Requests that led to a page that is no copy, or to new links to such pages."""
    put_off: int
    """Addresses that are not requested, because earlier ones of the pattern brought nothing."""


def address_patterns(connection: Connection, crawl_id: int, most: int) -> tuple[PatternRow, ...]:
    """The patterns of a crawl, up to `most`; those with the most addresses put off come first."""
    columns = address_pattern.c
    requests = columns.useful + columns.useless + columns.open  # open: whether they were useful is not known yet
    rows = (
        select(site.c.name, columns.pattern, requests, columns.useful, columns.put_off)
        .join(site, site.c.id == columns.site_id)
        # Patterns with neither requests nor addresses put off only count rendered pages.
        .where(columns.crawl_id == crawl_id, requests + columns.put_off > 0)
        .order_by(columns.put_off.desc())  # the index has this order; the rows of many sites would be too many to sort
        .limit(most)
    )
    pattern_rows = (PatternRow(*row) for row in connection.execute(rows))
    return tuple(sorted(pattern_rows, key=lambda row: (-row.put_off, -row.requests, row.pattern)))
