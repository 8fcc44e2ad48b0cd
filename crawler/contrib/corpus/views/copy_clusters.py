"""The near-duplicates of a crawl, as clusters: a page, and the other pages with nearly the same text."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from crawler.contrib.corpus.views.corpus_pages import in_corpus
from crawler.contrib.dashboard.views.page import PageRef, page_refs
from crawler.store.batch.addresses import AddressKeys
from crawler.store.page_tables import page

MOST_CLUSTERS = 20
MOST_MEMBERS = 5
"""Copies of a cluster that are listed."""
READ_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class CopyCluster:
    """A page and its near-duplicates."""

    original: PageRef
    copies: int
    """Near-duplicates of the page."""
    sites: int
    """Sites that have a near-duplicate."""
    members: tuple[PageRef, ...]
    """Some of the near-duplicates."""


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
    """The near-duplicates of a crawl. All rows are read, which takes a minute for a million pages."""
    # The size of the corpus; unlike `gone_at`, `gone_round` is in an index.
    are_in_corpus = page.c.crawl_id == crawl_id, page.c.gone_round.is_(None)
    pages = connection.execute(select(func.count()).select_from(page).where(*are_in_corpus)).scalar_one()

    # The clusters with the most copies; each row also has the totals of all clusters.
    conditions = in_corpus(connection, crawl_id)
    count = func.count().label("copies")
    copies = select(page.c.duplicate_of, count, func.count(page.c.site_id.distinct()).label("sites"))
    grouped = copies.where(*conditions, page.c.duplicate_of.is_not(None)).group_by(page.c.duplicate_of).subquery()
    totals = func.count().over().label("clusters"), func.sum(grouped.c.copies).over().label("total")
    largest = select(grouped, *totals).order_by(grouped.c.copies.desc(), grouped.c.duplicate_of).limit(MOST_CLUSTERS)
    rows = connection.execute(largest).all()
    if not rows:
        return CorpusCopies(pages=pages, copies=0, cluster_count=0, clusters=())

    originals = page_refs(connection, [keys(row.duplicate_of) for row in rows])
    members = _members(connection, conditions, [row.duplicate_of for row in rows])
    clusters = tuple(
        CopyCluster(
            original=originals.get(keys(row.duplicate_of), PageRef(row.duplicate_of, None, "")),
            copies=row.copies,
            sites=row.sites,
            members=tuple(members.get(row.duplicate_of, ())),
        )
        for row in rows
    )
    return CorpusCopies(pages=pages, copies=int(rows[0].total), cluster_count=rows[0].clusters, clusters=clusters)


def _members(
    connection: Connection, conditions: Sequence[ColumnElement[bool]], originals: Sequence[str]
) -> dict[str, list[PageRef]]:
    """Some copies of these pages, by the address of the original."""
    members: dict[str, list[PageRef]] = {url: [] for url in originals}
    columns = select(page.c.duplicate_of, page.c.url, page.c.id, page.c.title)
    copies = columns.where(*conditions, page.c.duplicate_of.in_(originals))
    with connection.execute(copies, execution_options={"yield_per": READ_AT_ONCE}) as rows:
        for original, *ref in rows:
            if len(members[original]) < MOST_MEMBERS:
                members[original].append(PageRef(*ref))
    return members
