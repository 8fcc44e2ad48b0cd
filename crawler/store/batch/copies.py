"""Reads and writes what near-duplicates are found by: crawler/recrawl/near_duplicates.py decides on them.

Two pages that two workers store at the same moment are not compared. If a page replaces an earlier original, that one
becomes its copy; copies of that one that were stored before still name it.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, select

from crawler.metadata.text_owner import TextOwner, owner_rank
from crawler.recrawl.near_duplicates import ComparedText, place_texts
from crawler.store import page_tables
from crawler.store.database import dialect_insert, in_chunks
from crawler.store.page_tables import near_duplicate_band
from crawler.urls.address import address_of

DELETE_BANDS = delete(near_duplicate_band).where(
    near_duplicate_band.c.crawl_id == bindparam("crawl"),
    near_duplicate_band.c.band == bindparam("of"),
    near_duplicate_band.c.key == bindparam("page"),
)
ENTRIES = select(near_duplicate_band.c.band, near_duplicate_band.c.key).where(
    near_duplicate_band.c.crawl_id == bindparam("crawl"),
    near_duplicate_band.c.band.in_(bindparam("bands", expanding=True)),
)
_stored = page_tables.page.c
ENTERED_PAGES = select(
    _stored.id, _stored.key, _stored.url, _stored.signature, _stored.text_fingerprint, _stored.text_owner
).where(_stored.gone_at.is_(None), _stored.key.in_(bindparam("keys", expanding=True)))


@dataclass(frozen=True, kw_only=True)
class ComparedPage(ComparedText[int]):
    """A page with what its text is compared by."""

    url: str


def compared_page(
    key: int, url: str, signature: bytes | None, fingerprint: str | None, owner: int = TextOwner.UNKNOWN
) -> ComparedPage:
    """What a page is compared by."""
    return ComparedPage(
        key=key,
        signature=signature,
        fingerprint=fingerprint,
        site=address_of(url).site,
        rank=owner_rank(owner, url),
        url=url,
    )


def enter_pages(connection: Connection, crawl_id: int, pages: Sequence[ComparedPage]) -> dict[int, str]:
    """The addresses of the originals of near-duplicates, by the near-duplicates' keys; the other pages are entered.

    The keys are those of pages, and of earlier pages that were originals until now.
    """
    entries = _entries(connection, crawl_id, {band for page in pages for band in page.bands})
    entered_pages = _pages(connection, {key for _, key in entries} - {page.key for page in pages})
    placement = place_texts(pages, entered_pages, entries)
    delete_bands(connection, crawl_id, [page for page in entered_pages if page.key in placement.originals])
    if placement.entries:
        rows = [{"crawl_id": crawl_id, "band": band, "key": key} for band, key in sorted(placement.entries)]
        connection.execute(dialect_insert(connection.engine)(near_duplicate_band).on_conflict_do_nothing(), rows)
    urls = {page.key: page.url for page in (*entered_pages, *pages)}
    return {copy: urls[original] for copy, original in placement.originals.items()}


def delete_bands(connection: Connection, crawl_id: int, pages: Iterable[ComparedPage]) -> None:
    """Delete pages from the bands of their earlier signatures."""
    rows = [{"crawl": crawl_id, "of": band, "page": page.key} for page in pages for band in page.bands]
    if rows:
        connection.execute(DELETE_BANDS, sorted(rows, key=lambda row: (row["of"], row["page"])))


def _entries(connection: Connection, crawl_id: int, bands: Collection[int]) -> list[tuple[int, int]]:
    """Bands, each with the key of a page that is entered under it."""
    parts = (connection.execute(ENTRIES, {"crawl": crawl_id, "bands": part}) for part in in_chunks(sorted(bands)))
    return [(band, key) for part in parts for band, key in part]


def _pages(connection: Connection, keys: Collection[int]) -> list[ComparedPage]:
    """Pages in the order in which they were stored, without those that are gone: their addresses have no text now."""
    parts = (connection.execute(ENTERED_PAGES, {"keys": part}) for part in in_chunks(sorted(keys)))
    stored = sorted((row for part in parts for row in part), key=lambda row: row.id)
    return [compared_page(row.key, row.url, row.signature, row.text_fingerprint, row.text_owner) for row in stored]
