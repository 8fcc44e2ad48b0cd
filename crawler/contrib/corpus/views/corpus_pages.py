"""The pages of a corpus: all of them, and some that are chosen at random."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, func, select

from crawler.store.page_tables import page


def in_corpus(connection: Connection, crawl_id: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions of all pages of a corpus, whose rows are then read in the order in which they lie."""
    mine = page.c.crawl_id == crawl_id
    first, last = connection.execute(select(func.min(page.c.id), func.max(page.c.id)).where(mine)).one()
    # The sum keeps databases from using the indexes by crawl, which lead to the rows in another order.
    return page.c.crawl_id + 0 == crawl_id, page.c.id.between(first or 0, last or 0), page.c.gone_at.is_(None)


def sampled_ids(connection: Connection, crawl_id: int, most: int) -> Sequence[int]:
    """The ids of so many pages of a corpus at most, chosen at random; an index alone is read."""
    found = select(page.c.id).where(page.c.crawl_id == crawl_id, page.c.gone_round.is_(None))
    return connection.execute(found.order_by(func.random()).limit(most)).scalars().all()
