"""Reads and writes the bands of pages, by which crawler/recrawl/near_duplicates.py finds near-duplicates.

A band is a number computed from a part of the signature of a text: near-duplicates have a band in common. Each original
is entered under the bands of its signature. Two pages that two workers store at the same moment are not compared.

Of near-duplicates on one site, the page that owns the text is the original. If a new page owns the text of an earlier
original, the earlier original becomes a copy of the new page, but its own copies keep naming it as their original.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, select

from crawler.metadata.text_owner import TextOwner, owner_rank
from crawler.recrawl.near_duplicates import ComparedText, place_texts
from crawler.store.database import dialect_insert, in_chunks
from crawler.store.page_tables import near_duplicate_band, page
from crawler.urls.address import address_of

DELETE_BAND = delete(near_duplicate_band).where(
    near_duplicate_band.c.crawl_id == bindparam("crawl"),
    near_duplicate_band.c.band == bindparam("its_band"),
    near_duplicate_band.c.key == bindparam("page_key"),
)
ENTRIES = select(near_duplicate_band.c.band, near_duplicate_band.c.key).where(
    near_duplicate_band.c.crawl_id == bindparam("crawl"),
    near_duplicate_band.c.band.in_(bindparam("bands", expanding=True)),
)
COMPARED_COLUMNS = (page.c.id, page.c.key, page.c.url, page.c.signature, page.c.text_fingerprint, page.c.text_owner)
PAGES_OF_KEYS = select(*COMPARED_COLUMNS).where(
    page.c.gone_at.is_(None), page.c.key.in_(bindparam("keys", expanding=True))
)


@dataclass(frozen=True, kw_only=True)
class ComparedPage(ComparedText[int]):
    """A page with the values by which its text is compared."""

    url: str


def compared_page(
    key: int, url: str, signature: bytes | None, fingerprint: str | None, owner: int = TextOwner.UNKNOWN
) -> ComparedPage:
    """A page with the values by which it is compared: its signature, fingerprint, site and rank."""
    return ComparedPage(
        text_id=key,
        signature=signature,
        fingerprint=fingerprint,
        site=address_of(url).site,
        rank=owner_rank(owner, url),
        url=url,
    )


def enter_pages(connection: Connection, crawl_id: int, pages: Sequence[ComparedPage]) -> dict[int, str]:
    """Enter the pages that are originals; returns the address of the original of each copy, by the key of the copy.

    A copy is one of the new `pages`, or an earlier page that was an original until now.
    """
    entries = _entries(connection, crawl_id, {band for each in pages for band in each.band_keys})
    entered_pages = _pages_of_keys(connection, {key for _, key in entries} - {each.text_id for each in pages})
    placement = place_texts(pages, entered_pages, entries)

    former_originals = [entered for entered in entered_pages if entered.text_id in placement.originals]
    delete_bands(connection, crawl_id, former_originals)
    if placement.entries:
        rows = [{"crawl_id": crawl_id, "band": band, "key": key} for band, key in sorted(placement.entries)]
        connection.execute(dialect_insert(connection.engine)(near_duplicate_band).on_conflict_do_nothing(), rows)

    urls = {each.text_id: each.url for each in (*entered_pages, *pages)}
    return {copy: urls[original] for copy, original in placement.originals.items()}


def delete_bands(connection: Connection, crawl_id: int, pages: Iterable[ComparedPage]) -> None:
    """Delete the entries of pages under the bands of their signatures."""
    rows = [
        {"crawl": crawl_id, "its_band": band, "page_key": each.text_id} for each in pages for band in each.band_keys
    ]
    if rows:
        connection.execute(DELETE_BAND, sorted(rows, key=lambda row: (row["its_band"], row["page_key"])))


def _entries(connection: Connection, crawl_id: int, bands: Collection[int]) -> list[tuple[int, int]]:
    """The entries under bands, as pairs of a band and the key of a page."""
    parts = (connection.execute(ENTRIES, {"crawl": crawl_id, "bands": part}) for part in in_chunks(sorted(bands)))
    return [(band, key) for part in parts for band, key in part]


def _pages_of_keys(connection: Connection, keys: Collection[int]) -> list[ComparedPage]:
    """The pages with these keys in the order in which they were stored; pages that are gone are left out."""
    parts = (connection.execute(PAGES_OF_KEYS, {"keys": part}) for part in in_chunks(sorted(keys)))
    stored = sorted((row for part in parts for row in part), key=lambda row: row.id)
    return [compared_page(row.key, row.url, row.signature, row.text_fingerprint, row.text_owner) for row in stored]
