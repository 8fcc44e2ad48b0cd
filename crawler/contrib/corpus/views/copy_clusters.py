"""The near-duplicates of a crawl, as clusters: a page, and the others that have nearly its text."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from crawler.contrib.corpus.views.corpus_pages import in_corpus
from crawler.contrib.dashboard.views.page import PageRef, page_refs
from crawler.store.batch.addresses import AddressKeys
from crawler.store.page_tables import page

MOST_CLUSTERS = 20
MOST_MEMBERS = 5
"""Copies of a cluster that are named."""
READ_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class CopyCluster:
    """A page and its near-duplicates."""

    original: PageRef
    copies: int
    """Near-duplicates of the page."""
    sites: int
    """On which these are."""
    members: tuple[PageRef, ...]
    """Some of them."""


@dataclass(frozen=True, slots=True)
class CorpusCopies:
    """The near-duplicates of a crawl."""

    pages: int
    """How many pages the corpus has."""
    copies: int
    """How many pages are near-duplicates of others."""
    cluster_count: int
    clusters: tuple[CopyCluster, ...]
    """The clusters with the most copies."""


def corpus_copies(connection: Connection, keys: AddressKeys, crawl_id: int) -> CorpusCopies:
    """The near-duplicates of a crawl; all rows are read, a million take a minute."""
    indexed = page.c.crawl_id == crawl_id, page.c.gone_round.is_(None)
    pages = connection.execute(select(func.count()).select_from(page).where(*indexed)).scalar_one()
    every = in_corpus(connection, crawl_id)
    count = func.count().label("copies")
    copies = select(page.c.duplicate_of, count, func.count(page.c.site_id.distinct()).label("sites"))
    grouped = copies.where(*every, page.c.duplicate_of.is_not(None)).group_by(page.c.duplicate_of).subquery()
    totals = func.count().over().label("clusters"), func.sum(grouped.c.copies).over().label("total")
    largest = select(grouped, *totals).order_by(grouped.c.copies.desc(), grouped.c.duplicate_of).limit(MOST_CLUSTERS)
    found = connection.execute(largest).all()
    originals = page_refs(connection, [keys(row.duplicate_of) for row in found])
    members = _members(connection, every, [row.duplicate_of for row in found])
    return CorpusCopies(
        pages,
        int(found[0].total) if found else 0,
        found[0].clusters if found else 0,
        tuple(
            CopyCluster(
                originals.get(keys(row.duplicate_of), PageRef(row.duplicate_of, None, "")),
                row.copies,
                row.sites,
                tuple(members.get(row.duplicate_of, ())),
            )
            for row in found
        ),
    )


def _members(
    connection: Connection, every: Sequence[ColumnElement[bool]], originals: Sequence[str]
) -> dict[str, list[PageRef]]:
    """Some copies of these pages, by the addresses of the originals."""
    found: dict[str, list[PageRef]] = {url: [] for url in originals}
    rows = select(page.c.duplicate_of, page.c.url, page.c.id, page.c.title)
    wanted = rows.where(*every, page.c.duplicate_of.in_(originals))
    with connection.execute(wanted, execution_options={"yield_per": READ_AT_ONCE}) as read:
        for original, *ref in read:
            if len(found[original]) < MOST_MEMBERS:
                found[original].append(PageRef(*ref))
    return found
