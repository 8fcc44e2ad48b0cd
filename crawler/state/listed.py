"""Pages whose sitemap or feed says that they were changed since they were last asked for: they wait again."""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, func, or_, select, update

from crawler.state.addresses import in_parts, raise_best
from crawler.state.entries import Ended, Keys
from crawler.state.rounds import Round
from crawler.state.schema import IS_DONE, NO_OUTCOME, WAITING, address, crawl, page

LISTED = (
    update(address)
    .where(
        address.c.key == bindparam("its"),
        or_(address.c.lastmod.is_(None), address.c.lastmod < bindparam("to_lastmod")),
    )
    .values(lastmod=bindparam("to_lastmod"))
)

NOT_YET = func.coalesce(page.c.checked_at < crawl.c.round_started, True)
"""That a page was not looked at in this round."""


def wake_listed(connection: Connection, keys: Keys, ended: Iterable[Ended], which: Round, now: float) -> int:
    """Let pages wait again that lists say are changed, once a round; how many did not wait yet."""
    told: dict[int, float] = {}
    for one in ended:
        for link in one.result.links:
            if link.lastmod is not None and link.lastmod <= now:  # else a clock is wrong
                key = keys(link.url, link.kind)
                told[key] = max(link.lastmod, told.get(key, link.lastmod))
    if not told or not which.comes_again:
        return 0
    rows = [{"its": key, "to_lastmod": told[key]} for key in sorted(told)]
    connection.execute(LISTED, rows)
    stale: list[int] = []
    for part in in_parts(sorted(told)):
        known = select(page.c.key, page.c.checked_at).join(crawl, crawl.c.id == page.c.crawl_id)
        known = known.where(page.c.key.in_(part), page.c.round < which.number, NOT_YET)  # also if it was not there
        stale += [row.key for row in connection.execute(known) if told[row.key] > (row.checked_at or 0.0)]
    return sum(_wait(connection, part) for part in in_parts(stale))


def _wait(connection: Connection, keys: Iterable[int]) -> int:
    again = update(address).where(address.c.key.in_(list(keys)), IS_DONE)
    again = again.values(state=WAITING, worker=None, **NO_OUTCOME)
    rows = connection.execute(again.returning(address.c.host_id, address.c.priority)).all()
    best: dict[int, int] = {}
    for host_id, priority in rows:
        best[host_id] = max(best.get(host_id, priority), priority)
    raise_best(connection, best)
    return len(rows)
