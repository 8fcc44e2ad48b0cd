"""Deletes whole crawls, their frontiers and old pages, and frees their disk space."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, Table, delete, func, select, text
from sqlalchemy.engine import URL

from crawler.errors import BusyError, StateError
from crawler.store.crawl_tables import address, address_pattern, crawl, host, output, sample, site, worker
from crawler.store.database import database_errors, database_time, open_database
from crawler.store.heartbeats import workers_of
from crawler.store.page_changes import delete_unused
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
from crawler.store.read_only import open_sqlite, reading

PAGES_AT_ONCE = 1_000  # rows deleted in one transaction, for which running crawls wait


def delete_crawl(url: URL, name: str) -> None:
    """Delete a crawl in one transaction; raises a BusyError if a worker runs it."""
    with _writing(url) as engine, engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))  # millions of rows take their time
        # While this row is locked no worker can join; once it is deleted there is nothing to join.
        known = select(crawl.c.id).where(crawl.c.name == name).with_for_update()
        number = connection.execute(known).scalar_one_or_none()
        if number is None:
            raise StateError("the crawl {name} does not exist any more", name=repr(name))
        if any(one.alive for one in workers_of(connection, database_time(connection))[number]):
            raise BusyError("the crawl {name} has just been started; stop it first", name=repr(name))
        delete_frontier(connection, number)
        connection.execute(delete(address).where(address.c.host_id == -number))  # those that were erased
        for table in (page, page_change, erasure, page_version, robots_file, output, worker, template, sample):
            connection.execute(delete(table).where(table.c.crawl_id == number))
        connection.execute(delete(crawl).where(crawl.c.id == number))


def delete_old_pages(url: URL, before: str) -> int:
    """Delete the pages last requested before a time in ISO 8601, and earlier verdicts; returns how many pages."""
    count, seconds = 0, datetime.fromisoformat(before).timestamp()
    unseen = func.coalesce(page.c.checked_at, 0) < seconds  # an unchanged page keeps its old fetch time
    dropped_since = (
        ~select(page.c.id)
        .where(page.c.key == stored_response.c.key, page.c.fetched_at == stored_response.c.fetched_at)
        .exists()
    )
    with _writing(url) as engine:
        with engine.connect().execution_options(reading=True) as connection:
            crawls = connection.execute(select(crawl.c.id)).scalars().all()
        for number in crawls:
            dropped = _drop(engine, page, number, page.c.fetched_at < before, unseen)
            if dropped:
                _delete_unused_bands(engine, number)
                with engine.begin() as connection:
                    delete_unused(connection, number)
            count += dropped
            _drop(engine, verdict, number, verdict.c.decided_at < before)
            _drop(engine, page_version, number, page_version.c.fetched_at < before)
            _drop(engine, stored_response, number, stored_response.c.fetched_at < before, dropped_since)
    return count


def _delete_unused_bands(engine: Engine, crawl_id: int) -> None:
    """Delete the bands of deleted pages."""
    there = select(page.c.id).where(page.c.key == near_duplicate_band.c.key).exists()
    with engine.begin() as connection:
        connection.execute(delete(near_duplicate_band).where(near_duplicate_band.c.crawl_id == crawl_id, ~there))


def _drop(engine: Engine, table: Table, crawl_id: int, *is_old: ColumnElement[bool]) -> int:
    """Delete the old rows of a crawl; returns how many."""
    (known_by,) = table.primary_key
    old = select(known_by).where(table.c.crawl_id == crawl_id, *is_old).limit(PAGES_AT_ONCE)
    count, dropped = 0, PAGES_AT_ONCE
    while dropped:
        with engine.begin() as connection:
            dropped = connection.execute(delete(table).where(known_by.in_(old))).rowcount
        count += dropped
    return count


def vacuum(url: URL) -> bool:
    """Return the free space of SQLite's file to the disk; returns whether that was possible."""
    if url.drivername != "sqlite":
        return False  # PostgreSQL vacuums by itself
    with reading(url) as connection:
        if any(one.alive for workers in workers_of(connection, database_time(connection)).values() for one in workers):
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
    engine = open_database(url)
    try:
        with database_errors(url):
            yield engine
    finally:
        engine.dispose()


def delete_frontier(connection: Connection, crawl_id: int) -> None:
    """Delete the frontier of a crawl and everything else except its pages, their versions, and templates.

    Addresses that were erased stay, so that they are not added again.
    """
    hosts = select(host.c.id).where(host.c.crawl_id == crawl_id)
    connection.execute(delete(address).where(address.c.host_id.in_(hosts)))
    learned = (shared_example, evidence, verdict, focus, address_pattern)
    for table in (host, site, *learned, near_duplicate_band, stored_response):
        connection.execute(delete(table).where(table.c.crawl_id == crawl_id))
