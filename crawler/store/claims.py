"""Claims: the best waiting addresses of the hosts that may be asked, taken by one worker at a time.

A claim first locks the hosts with the best heads, passing over those that another worker is at, then takes their heads.
Each statement sees what was committed before it, so an address is never taken twice.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    case,
    func,
    lateral,
    literal,
    or_,
    select,
    true,
    update,
)

from crawler.frontier.messages import Candidate, ClaimRequest, Lease
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.recrawl.page_history import PageHistory
from crawler.store.pages import page_histories
from crawler.store.schema import DONE, HELD, IS_HELD, IS_WAITING, WAITING, address, crawl, host, site, worker

# A site may answer this many requests with something else for every page of its budget.
REQUESTS_A_PAGE = 10
LAPSES = 20  # an address whose holder died so often may be what kills them
REFUSED_AT_ONCE = 10_000  # addresses that are given up in one claim: a statement must end within its time
LONGEST_REST = 3_600.0  # seconds until a host is asked again, if the settings allow no longer pause
IS_IMAGE = literal("image", literal_execute=True)

has_some = host.c.best.is_not(None) & (
    (site.c.pages >= bindparam("limit"))
    | (site.c.requests >= bindparam("limit") * REQUESTS_A_PAGE)
    | (site.c.pages + site.c.held < bindparam("limit"))
)
# A rest longer than any is of a clock that was wrong.
ready = (host.c.next_at <= bindparam("now")) | (host.c.next_at > bindparam("now") + bindparam("longest"))
columns = (
    *(host.c.id, host.c.site_id, host.c.closed, host.c.crawl_delay, host.c.next_at),
    *(site.c.pages, site.c.held, site.c.requests),
)
both = select(*columns).join(site, host.c.site_id == site.c.id)
locked: Mapping[str, Any] = {"of": (host, site), "skip_locked": True}

mine = or_(host.c.worker.is_(None), host.c.worker == bindparam("me"))
# Of a host at hand that rests more is claimed: when it has rested it is not to be asked for what it refused alone.
low_hosts = both.where(host.c.id.in_(bindparam("low", expanding=True)), mine, has_some)
new_hosts = both.where(
    host.c.crawl_id == bindparam("crawl"),
    host.c.worker.is_(None),
    host.c.id.not_in(bindparam("at_hand", expanding=True)),
    has_some,
    ready,
)
# A crawl that has its pages still takes its pictures, and one that wants no pictures takes its pages alone.
is_picture = IS_WAITING & (address.c.kind == IS_IMAGE)
page_waits = select(address.c.id).where(address.c.host_id == host.c.id, IS_WAITING, address.c.kind != IS_IMAGE)
wanted = {
    "all": true(),
    "pages": page_waits.correlate(host).exists(),
    "pictures": host.c.id.in_(select(address.c.host_id).where(is_picture)),
}
LOW_HOSTS = {kinds: low_hosts.where(wanted[kinds]).with_for_update(**locked) for kinds in wanted}
NEW_HOSTS = {
    kinds: new_hosts.where(wanted[kinds])
    .order_by(host.c.best.desc(), host.c.next_at)
    .limit(bindparam("hosts"))
    .with_for_update(**locked)
    for kinds in wanted
}
parent = address.alias("parent")
head = address.alias("head")
head_waits = head.c.state == literal(WAITING, literal_execute=True)
heads = select(head.c.id).where(head.c.host_id == host.c.id, head_waits)
found = (
    address.c.id,
    address.c.key,
    address.c.host_id,
    address.c.url,
    address.c.priority,
    address.c.depth,
    address.c.kind,
    address.c.requested,
    address.c.sight,
    address.c.via,
    address.c.lastmod,
    address.c.shown_on,
    parent.c.url.label("parent"),
)


of_kinds = {"all": true(), "pages": head.c.kind != IS_IMAGE, "pictures": head.c.kind == IS_IMAGE}


def _heads(dialect: str, kinds: str) -> Select[Any]:
    """The first addresses of some hosts; PostgreSQL reads the whole table in SQLite's form, and SQLite has no other."""
    first = heads.where(of_kinds[kinds]).order_by(head.c.priority.desc(), head.c.id).limit(bindparam("each"))
    chosen = host.c.id.in_(bindparam("chosen", expanding=True))
    if dialect == "sqlite":
        source = host.join(address, address.c.id.in_(first.correlate(host).scalar_subquery()))
    else:
        firsts = lateral(first.correlate(host), "firsts")
        source = host.join(firsts, true()).join(address, address.c.id == firsts.c.id)
    source = source.outerjoin(parent, parent.c.id == address.c.parent)
    return select(*found).select_from(source).where(chosen).order_by(address.c.priority.desc(), address.c.id)


HEADS = {(dialect, kinds): _heads(dialect, kinds) for dialect in ("sqlite", "postgresql") for kinds in wanted}
next_best = (
    select(address.c.priority)
    .where(address.c.host_id == host.c.id, IS_WAITING)
    .order_by(address.c.priority.desc())
    .limit(1)
    .correlate(host)
    .scalar_subquery()
)
HOLD = (
    update(address).where(address.c.id.in_(bindparam("ids", expanding=True))).values(state=HELD, worker=bindparam("me"))
)
COUNT_SITE = (
    update(site)
    .where(site.c.id == bindparam("site"))
    .values(
        pages=site.c.pages + bindparam("pages"),
        held=site.c.held + bindparam("held"),
        requests=site.c.requests + bindparam("requests"),
    )
)
UPDATE_CLAIMED = (
    update(host)
    .where(host.c.id.in_(bindparam("ids", expanding=True)))
    .values(best=next_best, worker=case((bindparam("alone") | (host.c.crawl_delay > 0), bindparam("me")), else_=None))
)
UPDATE_BEST = update(host).where(host.c.id.in_(bindparam("ids", expanding=True))).values(best=next_best)
more = select(host.c.id).where(host.c.id.in_(bindparam("ids", expanding=True)), host.c.best.is_not(None))
MORE = {pictures: more.where(wanted["all" if pictures else "pages"]) for pictures in (True, False)}
of_host = select(head.c.id).where(head.c.host_id == bindparam("host"), head_waits)
REFUSE = {
    kinds: update(address).where(address.c.id.in_(of_host.where(of_kinds[kinds]).limit(bindparam("most"))))
    for kinds in ("all", "pages")
}


class Claimant(NamedTuple):
    """Who claims, and within which limits."""

    crawl_id: int
    worker_id: int
    site_limit: int
    max_pages: int | None = None
    longest_rest: float = LONGEST_REST
    pictures: bool = True
    known_since: int | None = None
    """The round from which on pages are known that come again; None in the first, where none does."""


class ClaimResult(NamedTuple):
    """What a claim brought."""

    leases: list[Lease]
    more: set[int]
    refused: Outcomes
    rests: dict[int, float]


def claim(connection: Connection, claimant: Claimant, demand: ClaimRequest, now: float) -> ClaimResult:
    """Take the best addresses that the worker may ask for now."""
    left = pages_left(connection, claimant)
    kinds = ("pictures" if left <= 0 else "all") if claimant.pictures else "pages"
    rows = _hosts(connection, claimant, demand, now, kinds) if left > 0 or claimant.pictures else []
    if not rows:
        return ClaimResult([], set(), Outcomes(), {})
    refused = _refuse(connection, claimant, rows)
    hosts = {row.id: row for row in rows}
    asked = sorted(row.id for row in rows if not row.closed)
    firsts = HEADS[connection.dialect.name, kinds], {"chosen": asked, "each": demand.each}
    kept = _within_budgets(claimant, demand, hosts, connection.execute(*firsts), left)
    known = histories_of(connection, claimant, kept)
    leases = [_lease(row, hosts[row.host_id].site_id, known.get(row.key)) for row in kept]
    if leases:
        connection.execute(HOLD, {"ids": [one.id for one in leases], "me": claimant.worker_id})
        count_sites(connection, Counter(one.site_id for one in leases if one.counts), held=1, requests=1)
    taken = sorted({one.host_id for one in leases})
    if taken:
        connection.execute(UPDATE_CLAIMED, {"ids": taken, "alone": demand.alone, "me": claimant.worker_id})
    if others := sorted(hosts.keys() - set(taken)):
        connection.execute(UPDATE_BEST, {"ids": others})
    more = set(connection.execute(MORE[claimant.pictures], {"ids": sorted(hosts)}).scalars())
    return ClaimResult(
        leases, more, refused, host_rests(claimant, {number: hosts[number].next_at for number in taken}, now)
    )


def host_rests(claimant: Claimant, hosts: Mapping[int, float], now: float) -> dict[int, float]:
    """For how many seconds those hosts rest that do, by when each may be asked again."""
    return {number: until - now for number, until in hosts.items() if now < until <= now + claimant.longest_rest}


def count_sites(
    connection: Connection, sites: Mapping[int, int], pages: int = 0, held: int = 0, requests: int = 0
) -> None:
    """Count so many times each number of each site."""
    changes = [
        {"site": name, "pages": n * pages, "held": n * held, "requests": n * requests}
        for name, n in sorted(sites.items())
    ]
    if changes:
        connection.execute(COUNT_SITE, changes)


def _hosts(connection: Connection, claimant: Claimant, demand: ClaimRequest, now: float, kinds: str) -> list[Row[Any]]:
    rows: list[Row[Any]] = []
    if demand.low:
        low = {"low": demand.low, "me": claimant.worker_id, "limit": claimant.site_limit}
        rows += connection.execute(LOW_HOSTS[kinds], low)
    if demand.hosts > 0:
        new = {
            "crawl": claimant.crawl_id,
            "hosts": demand.hosts,
            "at_hand": demand.at_hand,
            "limit": claimant.site_limit,
        }
        rows += connection.execute(NEW_HOSTS[kinds], {**new, "now": now, "longest": claimant.longest_rest})
    return rows


def _refuse(connection: Connection, claimant: Claimant, rows: Iterable[Row[Any]]) -> Outcomes:
    """Give up what waits on hosts that are closed, and the pages on those of sites that had their budget.

    Of very many, some are left to the next claims.
    """
    refused = Outcomes()
    for row in rows:
        spent = row.pages >= claimant.site_limit or row.requests >= claimant.site_limit * REQUESTS_A_PAGE
        if row.closed or spent:
            code = Code(row.closed) if row.closed else Code.SITE_BUDGET_SPENT
            given_up = REFUSE["all" if row.closed else "pages"].values(state=DONE, outcome=code)
            refused[Outcome(code)] += connection.execute(given_up, {"host": row.id, "most": REFUSED_AT_ONCE}).rowcount
    return Outcomes(+refused)


def _within_budgets(
    claimant: Claimant, demand: ClaimRequest, hosts: Mapping[int, Row[Any]], rows: Iterable[Row[Any]], left: float
) -> list[Row[Any]]:
    """Those heads that the budgets of sites, of the crawl and of the worker have room for."""
    room = {row.site_id: claimant.site_limit - row.pages - row.held for row in hosts.values()}
    requests = {row.site_id: claimant.site_limit * REQUESTS_A_PAGE - row.requests for row in hosts.values()}
    kept: list[Row[Any]] = []
    for row in rows:
        place = hosts[row.host_id].site_id
        if len(kept) >= demand.pages:
            break
        if row.kind != "image":
            if min(room[place], requests[place], left) <= 0:
                continue
            room[place] -= 1
            requests[place] -= 1
            left -= 1
        kept.append(row)
    return kept


def site_has_budget(connection: Connection, claimant: Claimant, site_id: int) -> bool:
    """Whether the budget of a site has room for one page more, which nobody else takes until the commit."""
    row = connection.execute(select(site).where(site.c.id == site_id).with_for_update()).one()
    spent = row.requests >= claimant.site_limit * REQUESTS_A_PAGE
    return bool(row.pages + row.held < claimant.site_limit and not spent)


def pages_left(connection: Connection, claimant: Claimant) -> float:
    """How many pages more the crawl may ask for, with those that are on their way."""
    if claimant.max_pages is None:
        return float("inf")
    # This worker has its turn: to the commit no other reads these numbers.
    pages = connection.execute(select(crawl.c.pages).where(crawl.c.id == claimant.crawl_id)).scalar_one()
    mine = worker.c.crawl_id == claimant.crawl_id
    pages += connection.execute(select(func.coalesce(func.sum(worker.c.pages), 0)).where(mine)).scalar_one()
    held = select(func.count()).where(
        IS_HELD, address.c.worker.in_(select(worker.c.id).where(mine)), address.c.kind != "image"
    )
    return int(claimant.max_pages - pages - connection.execute(held).scalar_one())


def histories_of(connection: Connection, claimant: Claimant, rows: Iterable[Row[Any]]) -> dict[int, PageHistory]:
    """What is known of those addresses that are pages of an earlier round, by their keys."""
    if claimant.known_since is None:
        return {}
    return page_histories(connection, {row.key for row in rows if row.kind != "image"}, claimant.known_since)


def _lease(row: Row[Any], site_id: int, known: PageHistory | None) -> Lease:
    candidate = candidate_of(row, row.parent)
    return Lease(row.id, candidate, row.host_id, site_id, shown_on=row.shown_on, known=known)


def candidate_of(row: Row[Any], parent: str | None) -> Candidate:
    """What is known of an address, by its row and the address of its parent."""
    known = row.url, row.priority, row.depth, parent, row.kind, row.requested, row.sight, row.via, row.lastmod
    return Candidate(*known)


def return_leases(connection: Connection, claimant: Claimant, leases: Iterable[Lease]) -> int:
    """Let addresses wait again that were held but not asked for; how many."""
    by_id = {one.id: one for one in leases}
    if not by_id:
        return 0
    mine = (address.c.id.in_(sorted(by_id)), address.c.worker == claimant.worker_id, IS_HELD)
    back = connection.execute(select(address.c.id).where(*mine)).scalars().all()
    connection.execute(update(address).where(*mine).values(state=WAITING, worker=None))
    count_sites(connection, Counter(by_id[n].site_id for n in back if by_id[n].counts), held=-1, requests=-1)
    connection.execute(UPDATE_BEST, {"ids": sorted({by_id[number].host_id for number in back})})
    return len(back)


def expire_worker(connection: Connection, dead: int, crash: int = 1) -> None:
    """Take a worker's row away, and let wait again what it held; a worker that ends well has no lapse."""
    gone = connection.execute(select(worker).where(worker.c.id == dead).with_for_update()).one_or_none()
    held = (address.c.worker == dead, IS_HELD)
    pages = (
        select(host.c.site_id, func.count().label("pages"))
        .join(address, address.c.host_id == host.c.id)
        .where(*held, address.c.kind != "image")
        .group_by(host.c.site_id)
    )
    count_sites(
        connection, {row.site_id: row.pages for row in connection.execute(pages)}, held=-1, requests=min(crash, 1) - 1
    )
    hosts = connection.execute(select(address.c.host_id).where(*held).distinct()).scalars().all()
    deadly = update(address).where(*held, address.c.crashes + crash >= LAPSES)
    connection.execute(deadly.values(state=DONE, worker=None, outcome=Code.WORKERS_CRASHED))
    back = update(address).where(*held).values(state=WAITING, worker=None, crashes=address.c.crashes + crash)
    returned = connection.execute(back).rowcount
    connection.execute(UPDATE_BEST, {"ids": sorted(hosts)})
    connection.execute(update(host).where(host.c.worker == dead).values(worker=None))
    if gone is not None:
        sums = {"waiting": crawl.c.waiting + gone.waiting + returned, "pages": crawl.c.pages + gone.pages}
        connection.execute(update(crawl).where(crawl.c.id == gone.crawl_id).values(**sums))
        connection.execute(worker.delete().where(worker.c.id == dead))
