"""Workers that write at the same time wait for each other in one order, so none is broken off for a deadlock."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.engine import URL
from store_workers import Crew, candidates, check, failed, stored

from crawler.frontier.batch import Batch, ClaimRequest
from crawler.frontier.page_result import AddressKind, Candidate, Lease
from crawler.store.database import open_database
from crawler.store.heartbeats import lock_crawl
from crawler.store.page_tables import page
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical

PAGES, HOSTS, SITES, LINKS = 1_200, 12, 4, 20
WORKERS = 3


def address_of(number: int) -> str:
    host = number % HOSTS
    return f"http://{host}.{host % SITES}.example/{number}"


def work(url: URL, plan: CrawlPlan, seed: int) -> int:
    """How many pages a worker stored, of hosts that all workers ask; each leads anywhere, and some come to nothing."""
    chance = random.Random(seed)
    session = WorkerSession(open_database(url), plan)
    session.seed([Candidate(address_of(0), kind=AddressKind.SEED)])
    hand: list[Lease] = []
    hosts: tuple[int, ...] = ()
    count = 0
    for _ in range(2_000):
        back = [one for one in hand if chance.random() < 0.1]
        hand = [one for one in hand if one not in back]
        priorities = {address_of(n): chance.randrange(900) for n in chance.sample(range(PAGES), LINKS)}
        ended = [stored(one, *links(chance)) if chance.random() < 0.8 else failed(one) for one in hand]
        count += sum(one.result.outcome is None for one in ended)
        resting = {} if hand or back else dict.fromkeys(hosts, 0.0)
        demand = ClaimRequest(6, 12, 3, hosts, hosts, keeps_hosts=False)
        answer = session.committer.commit(
            Batch(
                ended,
                returned=back,
                demand=demand,
                idle=not hosts,
                rests_of_dropped_hosts=resting,
                priorities=priorities,
                learned=("{}", ""),
            )
        )
        hosts = tuple(sorted({*(() if resting else hosts), *(one.host_id for one in answer.leases)}))
        hand = answer.leases
        if answer.over:
            break
    session.leave()
    return count


def links(chance: random.Random) -> list[Candidate]:
    return [Candidate(address_of(n), n % 5) for n in chance.sample(range(PAGES), LINKS)]


@pytest.mark.parametrize("max_pages", [pytest.param(None, marks=pytest.mark.long), 900])
def test_no_worker_is_broken_off(postgresql_engine: Engine, tmp_path: Path, max_pages: int | None) -> None:
    deadlocks = text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    plans = [CrawlPlan("crawl", ("s",), tmp_path / str(n), Canonical(()), 10_000, max_pages) for n in range(WORKERS)]
    with postgresql_engine.connect() as connection:
        before = connection.execute(deadlocks).scalar_one()
    with ThreadPoolExecutor(WORKERS) as threads:
        counts = list(threads.map(work, [postgresql_engine.url] * WORKERS, plans, range(WORKERS)))
    check(postgresql_engine)
    with postgresql_engine.connect() as connection:
        assert connection.execute(deadlocks).scalar_one() == before
        known = connection.execute(select(page.c.id)).all()
    assert sum(counts) == len(known) == (max_pages or len(known))


def test_rows_of_a_crawl_are_added_while_another_has_its_turn(postgresql_engine: Engine, tmp_path: Path) -> None:
    crew = Crew(postgresql_engine, tmp_path)
    worker = crew.join(*candidates("http://a.example/"))
    (one,) = worker.claim()
    with postgresql_engine.begin() as connection:
        lock_crawl(connection, worker.session.crawl_id)
        worker.end(stored(one, *candidates("http://b.example/")))
    crew.close()
