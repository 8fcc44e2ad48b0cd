"""Clearing the database of the state of what is not wanted any more: a whole crawl, or pages that are too old."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import ColumnElement, Engine, Table, delete, func, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from crawler.store.dashboard_tables import sample
from crawler.store.database import StateError, database_time, display_url, error_message, open_database
from crawler.store.read_only import open_sqlite, reading
from crawler.store.schema import (
    crawl,
    near_duplicate_band,
    output,
    page,
    page_version,
    stored_response,
    template,
    verdict,
)
from crawler.store.schema import worker as worker_table
from crawler.store.worker_session import delete_frontier
from crawler.store.workers import workers_of

PAGES_AT_ONCE = 1_000  # dropped in one transaction: crawls wait no longer than that takes


class BusyError(StateError):
    """A crawl that is not deleted because a worker is at it."""


def delete_crawl(url: URL, name: str) -> None:
    """Delete all that belongs to a crawl, in one transaction; a BusyError while a worker is at it."""
    with _writing(url) as engine, engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))  # millions of rows take their time
        # With this row locked no worker can enter, and when it is gone there is nothing to enter.
        known = select(crawl.c.id).where(crawl.c.name == name).with_for_update()
        number = connection.execute(known).scalar_one_or_none()
        if number is None:
            raise StateError(f"the crawl {name!r} is no longer there")
        if any(one.alive for one in workers_of(connection, database_time(connection))[number]):
            raise BusyError(f"the crawl {name!r} has just been started; stop it first")
        delete_frontier(connection, number)
        for table in (page, page_version, output, worker_table, template, sample):
            connection.execute(delete(table).where(table.c.crawl_id == number))
        connection.execute(delete(crawl).where(crawl.c.id == number))


def delete_old_pages(url: URL, before: str) -> int:
    """Drop the pages last looked at before a time, as ISO 8601, a few at once for running crawls' sake; how many.

    What was said of pictures before that time goes with them.
    """
    count, seconds = 0, datetime.fromisoformat(before).timestamp()
    unseen = func.coalesce(page.c.checked_at, 0) < seconds  # a page that stays the same is not fetched anew
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
            count += dropped
            _drop(engine, verdict, number, verdict.c.decided_at < before)
            _drop(engine, page_version, number, page_version.c.fetched_at < before)
            _drop(engine, stored_response, number, stored_response.c.fetched_at < before, dropped_since)
    return count


def _delete_unused_bands(engine: Engine, crawl_id: int) -> None:
    """Look up no page any more that was dropped."""
    there = select(page.c.id).where(page.c.key == near_duplicate_band.c.key).exists()
    with engine.begin() as connection:
        connection.execute(delete(near_duplicate_band).where(near_duplicate_band.c.crawl_id == crawl_id, ~there))


def _drop(engine: Engine, table: Table, crawl_id: int, *is_old: ColumnElement[bool]) -> int:
    """Drop the rows of a crawl that are too old; how many."""
    (known_by,) = table.primary_key
    old = select(known_by).where(table.c.crawl_id == crawl_id, *is_old).limit(PAGES_AT_ONCE)
    count, dropped = 0, PAGES_AT_ONCE
    while dropped:
        with engine.begin() as connection:
            dropped = connection.execute(delete(table).where(known_by.in_(old))).rowcount
        count += dropped
    return count


def vacuum(url: URL) -> bool:
    """Give the room that SQLite keeps for new rows back to the disk; whether that could be done now."""
    if url.drivername != "sqlite":
        return False  # PostgreSQL sees to it by itself
    with reading(url) as connection:
        if any(one.alive for workers in workers_of(connection, database_time(connection)).values() for one in workers):
            return False
    file = open_sqlite(url)
    try:
        file.execute("VACUUM")
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError:  # another program writes, or the disk has no room for a copy
        return False
    finally:
        file.close()
    return True


@contextmanager
def _writing(url: URL) -> Iterator[Engine]:
    engine = open_database(url)
    try:
        yield engine
    except SQLAlchemyError as error:
        raise StateError(
            "the database {path} cannot be changed: {why}", path=display_url(url), why=error_message(error)
        ) from None
    finally:
        engine.dispose()
