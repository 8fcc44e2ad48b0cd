"""Two workers who cannot see what the other does until it is committed."""

from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.engine import URL
from store_workers import Crew, candidates, failed

from crawler.frontier.batch import Batch, ClaimRequest
from crawler.frontier.page_result import AddressKind, Candidate
from crawler.store.batch.claims import SHARED_CLAIM
from crawler.store.database import open_database
from crawler.store.heartbeats import CrawlLock, lock_crawl
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical

SEED = "http://seed.example/"
ONE, ALL = ClaimRequest(5, 1, 1, keeps_hosts=False), ClaimRequest(5, 5, 5, keeps_hosts=False)


def test_an_address_found_while_another_takes_the_last_of_its_host_is_not_lost(
    postgresql_url: URL, tmp_path: Path
) -> None:
    plans = [CrawlPlan("crawl", (SEED,), tmp_path / name, Canonical(()), 1000) for name in "ab"]
    sessions = [WorkerSession(open_database(postgresql_url), plan) for plan in plans]
    one, two = (session.committer for session in sessions)
    sessions[0].seed([Candidate(SEED, 5, kind=AddressKind.SEED), Candidate(SEED + "1", 5)])
    (first,) = one.commit(Batch(demand=ONE)).leases
    with one.engine.begin() as connection:
        one.addresses.add(connection, {one.keys(SEED + "2"): (Candidate(SEED + "2", 5), first.id)})
        one.addresses.raise_hosts(connection)
        (second,) = two.commit(Batch(demand=ALL)).leases
    two.commit(Batch(ended=[failed(second)]))
    answer = one.commit(Batch(ended=[failed(first)], demand=ALL, idle=True))
    assert not answer.over
    (third,) = answer.leases or one.commit(Batch(demand=ALL, idle=True)).leases
    assert third.candidate.url == SEED + "2"
    for session in sessions:
        session.leave()


def test_workers_claim_one_after_another_only_when_few_pages_are_left(
    postgresql_engine: Engine, tmp_path: Path
) -> None:
    crew = Crew(postgresql_engine, tmp_path)
    first, second = crew.pair(*candidates("http://a.example/", "http://b.example/"), max_pages=2 * SHARED_CLAIM + 1)
    with ThreadPoolExecutor(1) as threads, postgresql_engine.begin() as connection:
        lock_crawl(connection, first.session.crawl_id, CrawlLock.CHANGE)
        first_claim = threads.submit(second.claim, each_host=1, addresses=1)
        wait([first_claim], 10)
        assert first_claim.done()
        # Now as many pages are left as the two may claim at once.
        last_claim = threads.submit(second.claim)
        assert not wait([last_claim], 0.2).done
        connection.rollback()
        assert len(last_claim.result()) == 1
    crew.close()
