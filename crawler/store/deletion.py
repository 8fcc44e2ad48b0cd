"""Deletes whole crawls, their frontiers and old pages, and frees their disk space."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, Table, delete, func, select, text
from sqlalchemy.engine import URL

from crawler.errors import BusyError, StateError
from crawler.store.crawl_tables import address, address_pattern, crawl, host, output, sample, site, worker
from crawler.store.database import database_errors, database_time, open_database, open_sqlite
from crawler.store.heartbeats import workers_of
from crawler.store.page_changes import delete_unused_offsets
from crawler.store.page_tables import (
    erasure,
    evidence,
    focus,
    near_duplicate_band,
    page,
    page_change,
    page_version,
    robots_file,
    shared_example,
    stored_response,
    template,
    verdict,
)
from crawler.store.read_only import reading

ROWS_AT_ONCE = 1_000  # the most rows that are deleted in one transaction; running crawls wait until it ends


def delete_crawl(url: URL, name: str) -> None:
    """Delete a crawl in one transaction; raises a BusyError if a worker runs it."""
    with _writing(url) as engine, engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))  # deleting millions of rows takes long
        # While this row is locked no worker can join; once it is deleted there is nothing to join.
        crawl_row = select(crawl.c.id).where(crawl.c.name == name).with_for_update()
        crawl_id = connection.execute(crawl_row).scalar_one_or_none()
        if crawl_id is None:
            raise StateError("the crawl {name} does not exist any more", name=repr(name))
        if any(worker_state.alive for worker_state in workers_of(connection, database_time(connection))[crawl_id]):
            raise BusyError("the crawl {name} has just been started; stop it first", name=repr(name))

        delete_frontier(connection, crawl_id)
        connection.execute(delete(address).where(address.c.host_id == -crawl_id))  # erased addresses have no host
        for table in (page, page_change, erasure, page_version, robots_file, output, worker, template, sample):
            connection.execute(delete(table).where(table.c.crawl_id == crawl_id))
        connection.execute(delete(crawl).where(crawl.c.id == crawl_id))


def delete_old_pages(url: URL, before: str) -> int:
    """Delete pages that were last requested before a time in ISO 8601; returns how many.

    Verdicts, versions of pages and stored responses from before that time are deleted, too, but not the responses of
    pages that stay.
    """
    seconds = datetime.fromisoformat(before).timestamp()
    is_unchecked = func.coalesce(page.c.checked_at, 0) < seconds  # a page that stays unchanged keeps its fetch time
    is_without_page = (
        ~select(page.c.id)
        .where(page.c.key == stored_response.c.key, page.c.fetched_at == stored_response.c.fetched_at)
        .exists()
    )
    count = 0
    with _writing(url) as engine:
        with engine.connect().execution_options(reading=True) as connection:
            crawl_ids = connection.execute(select(crawl.c.id)).scalars().all()
        for crawl_id in crawl_ids:
            deleted = _delete_old(engine, page, crawl_id, page.c.fetched_at < before, is_unchecked)
            if deleted:
                _delete_unused_bands(engine, crawl_id)
                with engine.begin() as connection:
                    delete_unused_offsets(connection, crawl_id)
            count += deleted
            _delete_old(engine, verdict, crawl_id, verdict.c.decided_at < before)
            _delete_old(engine, page_version, crawl_id, page_version.c.fetched_at < before)
            _delete_old(engine, stored_response, crawl_id, stored_response.c.fetched_at < before, is_without_page)
    return count


def _delete_unused_bands(engine: Engine, crawl_id: int) -> None:
    """Delete the bands of deleted pages, by which near-duplicates are found."""
    has_page = select(page.c.id).where(page.c.key == near_duplicate_band.c.key).exists()
    with engine.begin() as connection:
        connection.execute(delete(near_duplicate_band).where(near_duplicate_band.c.crawl_id == crawl_id, ~has_page))


def _delete_old(engine: Engine, table: Table, crawl_id: int, *is_old: ColumnElement[bool]) -> int:
    """Delete the rows of a crawl that meet the conditions, in parts; returns how many."""
    (key_column,) = table.primary_key
    old_rows = select(key_column).where(table.c.crawl_id == crawl_id, *is_old).limit(ROWS_AT_ONCE)
    count = 0
    while True:
        with engine.begin() as connection:
            deleted = connection.execute(delete(table).where(key_column.in_(old_rows))).rowcount
        if not deleted:
            return count
        count += deleted


def vacuum(url: URL) -> bool:
    """Return the free space of SQLite's file to the disk; returns whether that was possible."""
    if url.drivername != "sqlite":
        return False  # PostgreSQL vacuums by itself
    with reading(url) as connection:
        workers_of_crawls = workers_of(connection, database_time(connection)).values()
        if any(worker_state.alive for states in workers_of_crawls for worker_state in states):
            return False
    file = open_sqlite(url)
    try:
        file.execute("VACUUM")
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError:  # another program is writing, or the disk has no room for a copy
        return False
    finally:
        file.close()
    return True


@contextmanager
def _writing(url: URL) -> Iterator[Engine]:
    """The database, opened for writing and closed afterwards; its errors become StateErrors."""
    engine = open_database(url)
    try:
        with database_errors(url):
            yield engine
    finally:
        engine.dispose()


def delete_frontier(connection: Connection, crawl_id: int) -> None:
    """Delete the frontier of a crawl, and what it has learned and judged; pages, their versions and templates stay.

    Addresses that were erased stay, too, so that they are not added again: they have no host.
    """
    hosts = select(host.c.id).where(host.c.crawl_id == crawl_id)
    connection.execute(delete(address).where(address.c.host_id.in_(hosts)))
    tables_of_learning = (shared_example, evidence, verdict, focus, address_pattern)
    for table in (host, site, *tables_of_learning, near_duplicate_band, stored_response):
        connection.execute(delete(table).where(table.c.crawl_id == crawl_id))
