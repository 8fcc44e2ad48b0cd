"""The tries of hosts: how many unlikely links of a host are requested.

A link that is unlikely to lead to the topic is requested as a try, and each host has a limited number of tries, which
grows with the pages of the crawl. A page on the topic gives its host further tries. The column `tries` of a host counts
the tries that it has used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log2

from sqlalchemy import Connection, bindparam, case, update

from crawler.frontier.page_result import Completion, Lease, PageResult
from crawler.store.crawl_tables import host
from crawler.topic.priorities import LEAST_LIKELY

FIRST_TRIES = 4
"""How many tries a new host has at least, and how many more it gets when it has brought a page on the topic."""
TRIED_HOSTS = 40
"""How many hosts of a site have first tries: a site may have any number of hosts."""
ALL_TRIES_USED = 1_000_000
"""The column `tries` of each further host of a site, until the host has brought a page on the topic: more tries than
any host has.
"""
NO_LIMIT = 1_000_000_000
"""The tries of a host where they are not limited: more than ALL_TRIES_USED, so that further hosts have some, too."""
SHARED_TRIES = 40
"""Tries that a crawl of few hosts divides among them, if each then has more than the first tries."""
PAGES_A_TRY = 10
"""Each host has a fifth try once the crawl has this many pages, a sixth at 30 pages and a seventh at 70."""

MAY_CLAIM = (host.c.best >= LEAST_LIKELY) | (host.c.best.is_not(None) & (host.c.tries < bindparam("tries")))
"""The condition for hosts that may be claimed: with queued addresses that are likely to lead to the topic, or with
other queued addresses and tries left.
"""
ADD_TRIES = update(host).where(host.c.id == bindparam("host")).values(tries=host.c.tries + bindparam("more"))
RENEW_TRIES = (
    update(host)
    .where(host.c.id.in_(bindparam("ids", expanding=True)), host.c.tries > 0)
    # A host that has used fewer tries than it gets, or had none because of ALL_TRIES_USED, begins again at 0.
    .values(tries=case((host.c.tries.between(FIRST_TRIES, ALL_TRIES_USED - 1), host.c.tries - FIRST_TRIES), else_=0))
)
"""Gives hosts FIRST_TRIES further tries, but at most as many as if they had used none."""


def tries_of_host(hosts: int, pages: int) -> int:
    """How many tries each host has in a crawl with this many hosts and pages.

    >>> [tries_of_host(hosts, 0) for hosts in (1, 2, 10, 1_000)], [tries_of_host(10, pages) for pages in (9, 10, 70)]
    ([40, 20, 4, 4], [4, 5, 7])
    """
    return max(FIRST_TRIES, SHARED_TRIES // max(1, hosts)) + int(log2(1 + pages / PAGES_A_TRY))


def count_tries(connection: Connection, leases: Iterable[Lease], more: int = 1) -> None:
    """Add the unlikely links among leases to the tries of their hosts; with `more=-1`, subtract them again."""
    tries = Counter(lease.host_id for lease in leases if lease.is_try)
    if tries:
        connection.execute(ADD_TRIES, [{"host": host_id, "more": more * tries[host_id]} for host_id in sorted(tries)])


def renew_tries(connection: Connection, ended: Iterable[Completion], on_topic: float) -> None:
    """Give further tries to hosts that brought a page with at least this relevance."""
    on_topic_pages = (
        completion for completion in ended if completion.brought_page and _relevance(completion.result) >= on_topic
    )
    hosts = {completion.lease.host_id for completion in on_topic_pages}
    if hosts:
        connection.execute(RENEW_TRIES, {"ids": sorted(hosts)})


def _relevance(result: PageResult) -> float:
    """The relevance of the page in a result; 0 if no page is stored."""
    return float((result.record or {}).get("relevance") or 0.0)
