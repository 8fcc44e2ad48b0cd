"""Pages of a crawl that are chosen at random."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from crawler.store.page_tables import page


def sampled_ids(connection: Connection, crawl_id: int, most: int) -> Sequence[int]:
    """The ids of so many pages at most that are not gone, chosen at random; an index alone is read."""
    found = select(page.c.id).where(page.c.crawl_id == crawl_id, page.c.gone_round.is_(None))
    return connection.execute(found.order_by(func.random()).limit(most)).scalars().all()
