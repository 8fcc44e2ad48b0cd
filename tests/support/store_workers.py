"""Workers that do by hand what a crawl does, and whose books are checked at every step."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, event, select
from sqlalchemy.engine.base import OptionEngine
from sqlalchemy.exc import OperationalError

from crawler.frontier.batch import Batch, BatchReply, ClaimRequest, Redirect
from crawler.frontier.page_result import Candidate, Completion, Lease, PageResult
from crawler.items import ImageItem, PageItem
from crawler.outcomes import Code, Outcome
from crawler.store.batch.hosts import REQUESTS_A_PAGE
from crawler.store.crawl_tables import AddressState, address, crawl, host, output, site, worker
from crawler.store.database import open_database
from crawler.store.output_files import file_offsets, files_of
from crawler.store.page_tables import page
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical

SEEDS = ("http://seed.example/",)
EVERYTHING = ClaimRequest(hosts=1_000, addresses=1_000, each_host=1_000)
FETCHED_AT = "2024-05-06T07:08:09+00:00"


def candidates(*urls: str, **known: Any) -> list[Candidate]:
    """These addresses, about which the same is known."""
    return [Candidate(url, **known) for url in urls]


def record(one: Lease, **fields: Any) -> dict[str, Any]:
    """What is stored of a page or image."""
    url = one.candidate.url
    if one.candidate.kind == "image":
        return asdict(ImageItem(url, one.candidate.parent or "", "image/png")) | fields
    page = PageItem(url, one.candidate.requested or url, FETCHED_AT, 200, 0, one.candidate.parent, text="Words.")
    return asdict(page) | fields


def stored(one: Lease, *links: Candidate, **fields: Any) -> Completion:
    """A candidate that brought a page or image, and these links."""
    return Completion(one, PageResult(record=record(one, **fields), links=links))


LOST = Outcome(Code.HTTP_STATUS, "404")


def failed(one: Lease, outcome: Outcome = LOST, **result: Any) -> Completion:
    """A candidate that brought nothing to be stored."""
    return Completion(one, PageResult(outcome, **result))


def also(ended: Completion, **result: Any) -> Completion:
    """The same end with more in its result."""
    return replace(ended, result=replace(ended.result, **result))


def urls(leases: Iterable[Lease]) -> list[str]:
    """The addresses of what is held."""
    return [one.candidate.url for one in leases]


class Worker:
    """One worker; `hand` is what it believes to hold."""

    def __init__(self, engine: Engine, session: WorkerSession) -> None:
        self.engine, self.session = engine, session
        self.hand: dict[int, Lease] = {}
        self.hosts: set[int] = set()
        """Those it has not let go; unless it says otherwise it wants more of them."""
        self.lessons: list[tuple[str, str]] = []

    def commit(self, batch: Batch | None = None, **happened: Any) -> BatchReply:
        """What the ledger says to what happened; the books are right afterwards."""
        batch = batch or Batch(**happened)
        self.hosts -= batch.rests_of_dropped_hosts.keys()
        if batch.demand is not None and not batch.demand.hosts_in_memory:
            hosts = tuple(sorted(self.hosts))
            batch.demand = replace(batch.demand, low_hosts=hosts, hosts_in_memory=hosts)
        answer = self.session.committer.commit(batch)
        if answer.lost:
            self.hand.clear()
            self.hosts.clear()
        for one in [
            *(ended.lease for ended in batch.ended),
            *batch.returned,
            *(move.lease for move in batch.redirects),
        ]:
            if answer.redirected.get(one.id, one) is not None:  # else it is still to be ended
                self.hand.pop(one.id, None)
        self.hand |= {one.id: one for one in [*answer.leases, *filter(None, answer.redirected.values())]}
        self.hosts |= {one.host_id for one in [*answer.leases, *filter(None, answer.redirected.values())]}
        self.lessons += answer.lessons
        check(self.engine)
        with self.engine.connect() as connection:
            pages, _ = file_offsets(connection, *files_of(self.session.crawl_id, self.session.number))
        assert self.session.pages.path.stat().st_size == pages.size
        self.check_limits(answer)
        return answer

    def check_limits(self, answer: BatchReply) -> None:
        """See that the crawl holds no more than it may bring, and that it counts as the books do."""
        if answer.lost:
            return
        with self.engine.connect() as connection:
            pages, waiting, held = connection.exec_driver_sql(f"{COUNTS}{self.session.crawl_id}").one()
        assert (answer.pages, answer.waiting) == (pages, waiting)
        if self.session.plan.max_pages is not None:
            assert pages + held <= self.session.plan.max_pages

    def claim(self, demand: ClaimRequest = EVERYTHING, **changes: Any) -> list[Lease]:
        """What a demand brings."""
        return self.commit(demand=replace(demand, **changes)).leases

    def end(self, *ended: Completion, **happened: Any) -> BatchReply:
        """What the ledger says to these ends."""
        return self.commit(ended=list(ended), **happened)

    def move(self, one: Lease, url: str) -> Lease | None:
        """What is held in place of an address that is redirected."""
        to = replace(one.candidate, url=url, requested=one.candidate.requested or one.candidate.url)
        return self.commit(redirects=[Redirect(one, to)]).redirected[one.id]

    def rest(self, *leases: Lease, seconds: float = 0.0) -> BatchReply:
        """Let go of the hosts of these addresses."""
        return self.commit(rests_of_dropped_hosts=dict.fromkeys((one.host_id for one in leases), seconds))

    def seed(self, *seeds: Candidate) -> None:
        """Let candidates wait."""
        self.session.seed(seeds)
        check(self.engine)

    def rejoin(self) -> None:
        """Go on after a reply that was lost."""
        self.session.rejoin(expired=False)
        self.hand.clear()
        self.hosts.clear()
        check(self.engine)

    def die(self) -> None:
        """End as a process does that is killed: its files are closed, its lock is free, and nothing else is done."""
        self.session.close()

    def leave(self) -> None:
        """End as a process does that is told to."""
        self.session.leave()
        check(self.engine)

    def records(self) -> list[dict[str, Any]]:
        """The JSON lines of its pages."""
        return lines(self.session.pages.path)


class KeptEngine(OptionEngine):
    """An engine that leaves its connections open to others."""

    def dispose(self, close: bool = True) -> None:
        """Nothing: they are another engine's."""


class Crew:
    """Workers at the crawls in one database, each with connections of its own."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder = engine, folder
        self.workers: list[Worker] = []

    def join(self, *seeds: Candidate, folder: str = "one", **plan: Any) -> Worker:
        """One worker more, in a folder of its own or in another's, who brings these candidates."""
        common: dict[str, Any] = {"name": "crawl", "seeds": SEEDS, "site_limit": 1_000, "canonical": Canonical(())}
        whole = CrawlPlan(folder=self.folder / folder, **common | plan)
        engine = self._open()
        try:
            one = Worker(self.engine, WorkerSession(engine, whole))
        except BaseException:
            engine.dispose()
            raise
        self.workers.append(one)
        if seeds:
            one.seed(*seeds)
        return one

    def _open(self) -> Engine:
        """The database for one worker: a new connection to PostgreSQL costs its server more than most tests do."""
        if self.engine.dialect.name == "postgresql":
            return KeptEngine(self.engine, {})
        return open_database(self.engine.url)

    def pair(self, *seeds: Candidate, **plan: Any) -> tuple[Worker, Worker]:
        """Two workers at one crawl; SQLite allows that in two folders."""
        return self.join(*seeds, folder="one", **plan), self.join(folder="two", **plan)

    def close(self) -> None:
        for one in self.workers:
            one.session.close()

    def addresses(self, name: str = "crawl") -> dict[str, tuple[int, Outcome | None]]:
        """State and outcome of each address of a crawl; images have `image ` before theirs."""
        columns = [address.c[name] for name in ("url", "kind", "state", "outcome", "outcome_detail")]
        found = address.join(host, host.c.id == address.c.host_id).join(crawl, crawl.c.id == host.c.crawl_id)
        query = select(*columns).select_from(found).where(crawl.c.name == name)
        with self.engine.connect() as connection:
            return {
                ("image " if row.kind == "image" else "") + row.url: (
                    row.state,
                    Outcome(Code(row.outcome), row.outcome_detail or "") if row.outcome else None,
                )
                for row in connection.execute(query)
            }

    def value(self, query: Any) -> Any:
        """The one value that a query brings."""
        with self.engine.connect() as connection:
            return connection.execute(query).scalar_one()

    def change(self, statement: Any) -> None:
        """Change what no worker would."""
        with self.engine.begin() as connection:
            connection.execute(statement)

    def dump(self) -> dict[str, list[Any]]:
        """All that is in the database but signs of life."""
        with self.engine.connect() as connection:
            return {
                table.name: [
                    tuple(
                        value for name, value in row._mapping.items() if name not in ("heartbeat", "batch", "ended_at")
                    )
                    for row in connection.execute(select(table).order_by(*table.primary_key))
                ]
                for table in (crawl, worker, output, site, host, address, page)
            }


IS_HELD = f"state = {AddressState.HELD}"
PAGE = f"address.state = {AddressState.DONE} AND address.outcome IS NULL AND address.kind <> 'image'"
OF_ROUND = "(SELECT key FROM page JOIN crawl AS its ON its.id = page.crawl_id WHERE page.last_round = its.round)"
COUNTED = f"{PAGE} AND address.key IN {OF_ROUND}"
HOLDS = f"address.state = {AddressState.HELD} AND address.kind <> 'image'"
OF_CRAWL = "address JOIN host ON host.id = address.host_id WHERE host.crawl_id = crawl.id"
OF_SITE = "address JOIN host ON host.id = address.host_id WHERE host.site_id = site.id"
# What is never so, and where it would be.
NEVER = {
    "the number of those that wait is wrong": f"""
        crawl WHERE waiting + (SELECT coalesce(sum(waiting), 0) FROM worker WHERE crawl_id = crawl.id)
        <> (SELECT count(*) FROM {OF_CRAWL} AND address.state = {AddressState.WAITING})""",
    "the number of pages is wrong": f"""
        crawl WHERE pages + (SELECT coalesce(sum(pages), 0) FROM worker WHERE crawl_id = crawl.id)
        <> (SELECT count(*) FROM {OF_CRAWL} AND {COUNTED})""",
    "the number of pages of a site is wrong": f"site WHERE pages <> (SELECT count(*) FROM {OF_SITE} AND {COUNTED})",
    "the number held of a site is wrong": f"site WHERE held <> (SELECT count(*) FROM {OF_SITE} AND {HOLDS})",
    "a page is not kept": f"address WHERE {PAGE} AND key NOT IN (SELECT key FROM page)",
    "an address is held by nobody": f"address WHERE {IS_HELD} AND worker NOT IN (SELECT id FROM worker)",
    "an address has a worker that does not hold it": f"address WHERE (worker IS NOT NULL) <> ({IS_HELD})",
    "a host is better than it says": f"""
        host WHERE coalesce(best, -1000000) < (SELECT max(priority) FROM address
        WHERE host_id = host.id AND state = {AddressState.WAITING})""",
    "what is recorded cannot be judged": f"""
        address WHERE state = {AddressState.RECORDED} AND (shown_on IS NULL OR (sight IS NULL AND kind <> 'image'))""",
    "a host belongs to nobody": "host WHERE worker IS NOT NULL AND worker NOT IN (SELECT id FROM worker)",
}
BROKEN = " UNION ALL ".join(f"SELECT '{what}' FROM {where}" for what, where in NEVER.items())
COUNTS = f"""
    SELECT pages + (SELECT coalesce(sum(pages), 0) FROM worker WHERE crawl_id = crawl.id),
    waiting + (SELECT coalesce(sum(waiting), 0) FROM worker WHERE crawl_id = crawl.id),
    (SELECT count(*) FROM {OF_CRAWL} AND {HOLDS}) FROM crawl WHERE id = """


def check(engine: Engine) -> None:
    """See that the counters of all crawls say what the addresses do, and that who holds something is there."""
    with engine.connect() as connection:
        assert connection.exec_driver_sql(BROKEN).scalars().all() == []


def check_budgets(engine: Engine, limit: int) -> None:
    """See that no site was asked for more than it may be."""
    with engine.connect() as connection:
        for row in connection.execute(select(site)).all():
            assert row.pages + row.held <= limit
            assert row.requests <= limit * REQUESTS_A_PAGE


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects in a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def written(folder: Path) -> Counter[Any]:
    """How often each page stands in the files of all workers below a folder."""
    files = [path for path in sorted(folder.glob("*/*.jsonl")) if not path.name.endswith(".images.jsonl")]
    return Counter(one["url"] for path in files for one in lines(path))


def away() -> OperationalError:
    """What the database says when it is not there."""
    return OperationalError("COMMIT", {}, Exception("the server closed the connection"))


class Trouble:
    """Makes the next commit of an engine fail, or each next transaction at a statement further on."""

    def __init__(self, engine: Engine) -> None:
        self.lose_reply = self.fail_commit = self.fail_everywhere = False
        self.failures = self._statements = 0
        event.listen(engine, "before_cursor_execute", self._statement)
        event.listen(engine, "commit", self._commit)

    def _statement(self, *args: Any) -> None:
        self._statements += self.fail_everywhere
        if self._statements > self.failures:
            self._statements = 0
            self.failures += 1
            raise away()

    def _commit(self, connection: Connection) -> None:
        self.fail_everywhere = False
        if self.lose_reply:
            self.lose_reply = False
            connection.connection.commit()
            raise away()
        if self.fail_commit:
            self.fail_commit = False
            raise away()


def contents(moved: Mapping[int, Lease | None]) -> list[str | None]:
    """Where each of some redirects led."""
    return [one and one.candidate.url for one in moved.values()]
