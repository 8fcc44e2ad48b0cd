"""Two workers who cannot see what the other does until it is committed."""

from pathlib import Path

from sqlalchemy.engine import URL
from store_workers import failed

from crawler.frontier.batch import Batch, ClaimRequest
from crawler.frontier.page_result import AddressKind, Candidate
from crawler.store.database import open_database
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical

SEED = "http://seed.example/"
ONE, ALL = ClaimRequest(5, 1, 1, alone=False), ClaimRequest(5, 5, 5, alone=False)


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
