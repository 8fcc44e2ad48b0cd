"""The versions of pages: earlier texts of pages that have changed, of which the newest are kept."""

from collections.abc import Sequence

from sqlalchemy import Connection, Delete, bindparam, delete, insert, select

from crawler.store.database import in_chunks
from crawler.store.page_tables import page, page_version

VERSION_COLUMNS = ("key", "crawl_id", "fetched_at", "title", "text", "text_fingerprint")


def _delete_old_versions() -> Delete:
    """The DELETE of all but the newest versions of a page."""
    newest = page_version.alias("newest")
    newest_ids = select(newest.c.id).where(newest.c.key == bindparam("page_key")).order_by(newest.c.id.desc())
    is_old = page_version.c.id.not_in(newest_ids.limit(bindparam("most")))
    return delete(page_version).where(page_version.c.key == bindparam("page_key"), is_old)


DELETE_OLD_VERSIONS = _delete_old_versions()


def save_versions(connection: Connection, keys: Sequence[int], most: int) -> None:
    """Save the texts of pages that are about to change; keep the newest `most` versions of each page."""
    if not most or not keys:
        return
    for part in in_chunks(keys):
        earlier = select(*(page.c[name] for name in VERSION_COLUMNS)).where(page.c.key.in_(part)).order_by(page.c.key)
        connection.execute(insert(page_version).from_select(VERSION_COLUMNS, earlier))
    connection.execute(DELETE_OLD_VERSIONS, [{"page_key": key, "most": most} for key in keys])
