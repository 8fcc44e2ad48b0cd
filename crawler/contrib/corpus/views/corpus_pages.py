"""The pages of a corpus, which are the pages of a crawl that are not gone: all of them, and a random sample."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, func, select

from crawler.store.page_tables import page


def in_corpus(connection: Connection, crawl_id: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions of the pages of a corpus, under which rows are read in the order of the table."""
    of_crawl = page.c.crawl_id == crawl_id
    first, last = connection.execute(select(func.min(page.c.id), func.max(page.c.id)).where(of_crawl)).one()
    # The sum keeps databases from using the indexes by crawl, which would read the rows in another order.
    return page.c.crawl_id + 0 == crawl_id, page.c.id.between(first or 0, last or 0), page.c.gone_at.is_(None)


def sampled_ids(connection: Connection, crawl_id: int, most: int) -> Sequence[int]:
    """The ids of at most this many pages of a corpus, chosen at random; only an index is read."""
    ids = select(page.c.id).where(page.c.crawl_id == crawl_id, page.c.gone_round.is_(None))
    return connection.execute(ids.order_by(func.random()).limit(most)).scalars().all()
