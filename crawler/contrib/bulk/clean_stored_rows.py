"""Reads and saves pages whose texts are extracted again from stored responses, and groups near-duplicates again.

The fields that come from a page itself are replaced, and with them the values that the next visit compares. How the
page was found and fetched, its relevance, its earlier texts and its due time stay the same.

Near-duplicates are found by comparing the signatures of texts. Until all pages are saved, some texts are still those
of the earlier method, so near-duplicates of the whole crawl are computed afterwards. The signature of a page is entered
under several keys, its bands: two pages are compared only if they share a band.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, and_, bindparam, delete, func, select, update

from crawler.errors import StateError
from crawler.recrawl.page_history import PageChange
from crawler.store.batch.near_duplicate_bands import compared_page, enter_pages
from crawler.store.batch.page_writer import save_copies
from crawler.store.crawl_tables import crawl
from crawler.store.database import database_time
from crawler.store.heartbeats import lock_crawl, workers_of
from crawler.store.page_changes import save_changes
from crawler.store.page_tables import near_duplicate_band, page, stored_response

ROWS_AT_ONCE = 500
BYTES_AT_ONCE = 16 * 1024 * 1024
"""A batch of pages ends when its responses have this many bytes."""
FETCHED_AT_ONCE = 20
"""Rows that PostgreSQL sends at a time."""
BANDS_AT_ONCE = 20_000
RESPONSE_COLUMNS = ("status_line", "headers", "body")
PAGE_COLUMNS = (
    "id",
    "key",
    "url",
    "fetched_at",
    "extractor",
    "extractor_version",
    "text_fingerprint",
    "made_from",
    "quality",
)
RESPONSE_OF_PAGE = and_(stored_response.c.key == page.c.key, stored_response.c.fetched_at == page.c.fetched_at)
"""The join condition of a page and the response from which it was made."""
MADE_ANEW = (
    "language",
    "title",
    "text",
    "comments",
    "author",
    "published",
    "published_source",
    "page_type",
    "content_type",
    "page_count",
    "quality",
    "text_fingerprint",
    "images",
    "markdown",
    "extractor",
    "certainty",
    "text_owner",
    "signature",
    "source_fingerprint",
    "extractor_version",
)
"""The fields that are replaced."""
# Sets the fields of the page `page_key` to the values `to_NAME`. `fetched` is the time of its stored response: a page
# that was fetched again meanwhile keeps its newer fields.
SAVE = (
    update(page)
    .where(page.c.key == bindparam("page_key"), page.c.fetched_at == bindparam("fetched"))
    .values(
        {name: bindparam(f"to_{name}") for name in MADE_ANEW}
        | {"change": PageChange.RENEWED.value, "round": bindparam("to_round")}
    )
)


class CleanedCrawl(NamedTuple):
    """The crawl whose texts are extracted again."""

    id: int
    name: str
    started_at: float
    round: int
    """The number of its current round, which saved pages get."""
    first_round: int
    """The round in which it was begun, or last begun fresh."""


def all_crawls(connection: Connection) -> list[CleanedCrawl]:
    """All crawls of a database."""
    columns = (crawl.c[name] for name in CleanedCrawl._fields)
    return [CleanedCrawl(*row) for row in connection.execute(select(*columns).order_by(crawl.c.id))]


def check_idle(connection: Connection, cleaned_crawl: CleanedCrawl) -> None:
    """Raise a StateError if a worker runs the crawl; no worker can join until the transaction ends."""
    lock_crawl(connection, cleaned_crawl.id)
    if any(state.alive for state in workers_of(connection, database_time(connection))[cleaned_crawl.id]):
        raise StateError("the crawl {name} is running; stop it first", name=repr(cleaned_crawl.name))


def pages_after(
    connection: Connection, cleaned_crawl: CleanedCrawl, last_page_id: int, *, markdown: bool
) -> Iterator[RowMapping]:
    """The pages of a crawl with ids above `last_page_id`, with their responses if stored, and with their Markdown if
    `markdown` is true.
    """
    names = (*PAGE_COLUMNS, "markdown") if markdown else PAGE_COLUMNS
    columns = (*(page.c[name] for name in names), *(stored_response.c[name] for name in RESPONSE_COLUMNS))
    # Adding 0 keeps databases from using the indexes by crawl: they would sort all pages for each batch.
    query = (
        select(*columns)
        .outerjoin_from(page, stored_response, RESPONSE_OF_PAGE)
        .where(page.c.crawl_id + 0 == cleaned_crawl.id)
    )
    query = query.order_by(page.c.id).limit(ROWS_AT_ONCE)
    while rows := _next_rows(connection, query.where(page.c.id > last_page_id)):
        last_page_id = rows[-1]["id"]
        yield from rows


def _next_rows(connection: Connection, query: Any) -> list[RowMapping]:
    """The next rows, until their responses have BYTES_AT_ONCE; ends the transaction in which they are read."""
    rows_read: list[RowMapping] = []
    size = 0
    with connection.execute(query, execution_options={"yield_per": FETCHED_AT_ONCE}) as rows:
        for row in rows.mappings():
            rows_read.append(row)
            size += len(row["body"] or b"")
            if size >= BYTES_AT_ONCE:
                break
    connection.rollback()
    return rows_read


def save_pages(engine: Engine, cleaned_crawl: CleanedCrawl, rows: Sequence[Mapping[str, Any]]) -> None:
    """Save pages, as parameters of SAVE, in one transaction; raises a StateError if a worker has joined the crawl."""
    with engine.begin() as connection:
        check_idle(connection, cleaned_crawl)
        if rows:
            renewed_rows = [{**row, "to_round": cleaned_crawl.round} for row in rows]
            connection.execute(SAVE, sorted(renewed_rows, key=lambda row: int(row["page_key"])))
            save_changes(connection, [int(row["page_key"]) for row in rows])


def group_again(engine: Engine, cleaned_crawl: CleanedCrawl) -> Iterator[int]:
    """Compute again which pages are near-duplicates of others; yields the number of pages done after each transaction.

    The original among similar pages is the page that owns the text, or else the first, as in a crawl. Pages that are
    gone, and pages from before a fresh start of the crawl, are never originals.
    """
    while _delete_bands(engine, cleaned_crawl):
        yield 0

    names = ("id", "key", "url", "signature", "text_fingerprint", "text_owner", "duplicate_of")
    query = select(*(page.c[name] for name in names)).where(
        page.c.crawl_id + 0 == cleaned_crawl.id, *_may_be_original(cleaned_crawl)
    )
    query = query.order_by(page.c.id).limit(ROWS_AT_ONCE)
    last_page_id = 0
    done = 0
    while True:
        with engine.begin() as connection:
            check_idle(connection, cleaned_crawl)
            rows = connection.execute(query.where(page.c.id > last_page_id)).all()
            pages = [
                compared_page(row.key, row.url, row.signature, row.text_fingerprint, row.text_owner) for row in rows
            ]
            # The original of each page, None if the page is no near-duplicate: as stored, and as found now. Pages of
            # earlier batches whose original has changed are only in `new_originals`.
            old_originals = {row.key: row.duplicate_of for row in rows}
            new_originals = dict.fromkeys(old_originals) | enter_pages(connection, cleaned_crawl.id, pages)
            changed_originals = {
                key: original
                for key, original in new_originals.items()
                if key not in old_originals or original != old_originals[key]
            }
            save_copies(connection, changed_originals)
        if not rows:
            return
        last_page_id = rows[-1].id
        done += len(rows)
        yield done


def _may_be_original(cleaned_crawl: CleanedCrawl) -> tuple[ColumnElement[bool], ...]:
    """The conditions under which a page may be an original: it is not gone, and was seen since the last fresh start."""
    return page.c.gone_at.is_(None), page.c.last_round >= cleaned_crawl.first_round


def _delete_bands(engine: Engine, cleaned_crawl: CleanedCrawl) -> bool:
    """Delete the next bands of a crawl, about BANDS_AT_ONCE; returns whether there are more."""
    of_crawl = near_duplicate_band.c.crawl_id == cleaned_crawl.id
    band = near_duplicate_band.c.band
    some_bands = delete(near_duplicate_band).where(of_crawl)
    with engine.begin() as connection:
        check_idle(connection, cleaned_crawl)
        end = connection.execute(select(band).where(of_crawl).order_by(band).offset(BANDS_AT_ONCE).limit(1)).scalar()
        if end is not None:
            some_bands = some_bands.where(band <= end)
        connection.execute(some_bands)
    return end is not None


def count_pages(connection: Connection, cleaned_crawl: CleanedCrawl) -> int:
    """How many pages a crawl has in the database."""
    return int(connection.execute(select(func.count()).where(page.c.crawl_id == cleaned_crawl.id)).scalar_one())
