"""What becomes of addresses that are given new priorities while they wait."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, select
from store_workers import EVERYTHING, Crew, Trouble, candidates, stored, urls

from crawler.frontier.page_result import AddressKind, Candidate
from crawler.store.batch import priority_updates as prices_module
from crawler.store.crawl_tables import address, host
from crawler.store.heartbeats import expire_worker
from crawler.urls.canonical import Canonical

A, B, C = (f"http://{letter}.example/" for letter in "abc")


def best(crew: Crew) -> dict[str, int | None]:
    """What each host is known to have."""
    with crew.engine.connect() as connection:
        return {row.name: row.best for row in connection.execute(select(host.c.name, host.c.best))}


def priority(crew: Crew, url: str) -> int:
    return int(crew.value(select(address.c.priority).where(address.c.url == url)))


def locked(engine: Engine, name: str) -> Connection:
    """A transaction of somebody else that is at a host."""
    connection = engine.connect()
    connection.execute(select(host.c.id).where(host.c.name == name).with_for_update()).one()
    return connection


def test_what_rose_comes_first_and_what_fell_last(crew: Crew) -> None:
    worker = crew.join(Candidate(A + "1", 5), Candidate(A + "2", 4), Candidate(B, 3), Candidate(C, 2))
    worker.commit(priorities={A + "1": 1, C: 900})
    assert best(crew) == {"a.example": 4, "b.example": 3, "c.example": 900}
    assert urls(worker.claim()) == [C, A + "2", B, A + "1"]
    worker.end(*map(stored, worker.hand.values()))


def test_a_host_is_claimed_by_its_new_best(crew: Crew) -> None:
    worker = crew.join(Candidate(A, 5), Candidate(B, 4), Candidate(C, 3))
    worker.commit(priorities={C: 6, A: 1})
    assert [urls(worker.claim(hosts=1)) for _ in range(3)] == [[C], [B], [A]]


def test_prices_and_the_claim_of_one_batch(crew: Crew) -> None:
    worker = crew.join(Candidate(A, 5), Candidate(B, 4))
    assert urls(worker.commit(priorities={B: 9}, demand=replace(EVERYTHING, addresses=1)).leases) == [B]


def test_what_a_page_leads_to_can_be_priced_with_it(crew: Crew) -> None:
    worker = crew.join(*candidates(A))
    (one,) = worker.claim()
    worker.end(stored(one, Candidate(B, 100)), priorities={B: 700})
    assert (priority(crew, B), best(crew)["b.example"]) == (700, 700)


def test_any_spelling_will_do(crew: Crew) -> None:
    worker = crew.join(*candidates(A), canonical=Canonical(["utm_.*"]))
    worker.commit(priorities={A + "?utm_source=feed": 7})
    assert priority(crew, A) == 7


def test_links_alone_are_priced(crew: Crew) -> None:
    links = [
        Candidate(A, 5),
        Candidate(A + "seed", 5, kind=AddressKind.SEED),
        Candidate(A + "list", 5, kind=AddressKind.LIST),
        Candidate(A + "image", 5, kind=AddressKind.IMAGE),
        Candidate(A + "seen", 5, sight="as an image"),
    ]
    worker = crew.join(*candidates(B))
    (lease,) = worker.claim()
    worker.end(stored(lease, *links))
    worker.commit(priorities={link.url: 9 for link in links})
    assert [priority(crew, link.url) for link in links] == [9, 5, 5, 5, 5]


@pytest.mark.parametrize("ends", [False, True])
def test_what_waits_no_more_is_not_priced(crew: Crew, ends: bool) -> None:
    worker = crew.join(Candidate(A, 5), Candidate(B, 4))
    (one,) = worker.claim(addresses=1)
    worker.commit(ended=[stored(one)] if ends else [], priorities={A: 9, "http://unknown.example/": 9})
    assert (priority(crew, A), best(crew)) == (5, {"a.example": None, "b.example": 4})


def test_what_is_given_back_can_be_priced_with_it(crew: Crew) -> None:
    worker = crew.join(Candidate(A, 5))
    worker.commit(returned=worker.claim(), priorities={A: 1})
    assert (priority(crew, A), best(crew)) == (1, {"a.example": 1})


def test_of_very_many_the_newest_are_priced_and_the_others_with_the_next_batch(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prices_module, "PRIORITIES_AT_ONCE", 3)
    worker = crew.join(*candidates(*(f"{A}{n}" for n in range(8))))
    worker.commit(priorities={f"{A}{n}": 10 + n for n in range(8)})
    committer = worker.session.committer
    assert [priority(crew, f"{A}{n}") for n in range(8)] == [0] * 5 + [15, 16, 17]
    assert (len(committer.priority_updates.late), committer.priority_updates.dropped) == (3, 2)
    worker.commit()
    assert [priority(crew, f"{A}{n}") for n in range(8)] == [0, 0, 12, 13, 14, 15, 16, 17]
    assert committer.priority_updates.late == {}


@pytest.mark.parametrize("count", [1, 6_000])
def test_more_than_a_statement_can_name(crew: Crew, count: int) -> None:
    found = [f"{A}{n}" for n in range(count)]
    worker = crew.join(*candidates(*found))
    worker.commit(priorities={url: 1 + number % 900 for number, url in enumerate(found)})
    waiting = select(address.c.id).where(address.c.priority == 0)
    with crew.engine.connect() as connection:
        assert connection.execute(waiting).all() == []
    assert best(crew) == {"a.example": min(count, 900)}


# A host that another worker's transaction is at.


@pytest.fixture
def server_crew(postgresql_engine: Engine, tmp_path: Path) -> Iterator[Crew]:
    """Workers in PostgreSQL, where more than one may write at a time."""
    crew = Crew(postgresql_engine, tmp_path)
    yield crew
    crew.close()


def test_nobody_waits_for_a_host_to_price_what_it_has(server_crew: Crew) -> None:
    crew = server_crew
    worker = crew.join(*candidates(A, B))
    with locked(crew.engine, "a.example"):
        worker.commit(priorities={A: 5, B: 6})
        assert (priority(crew, A), priority(crew, B)) == (0, 6)
        worker.commit(priorities={A: 7})  # the newest counts
    worker.commit()
    assert (priority(crew, A), best(crew)) == (7, {"a.example": 7, "b.example": 6})
    worker.commit()
    assert worker.session.committer.priority_updates.late == {}


def test_what_ended_meanwhile_is_not_priced_late(server_crew: Crew) -> None:
    crew = server_crew
    one, two = crew.pair(Candidate(A, 5))
    with locked(crew.engine, "a.example"):
        one.commit(priorities={A: 9})
    (held,) = two.claim()
    two.end(stored(held))
    one.commit()
    assert (priority(crew, A), one.session.committer.priority_updates.late) == (5, {})


# Trouble.


@pytest.mark.parametrize("what", ["fail_commit", "fail_everywhere", "lose_reply"])
def test_prices_survive_a_transaction_that_fails(crew: Crew, what: str) -> None:
    worker = crew.join(Candidate(A, 5), Candidate(B, 4))
    setattr(Trouble(worker.session.engine), what, True)
    reply = worker.commit(priorities={A: 1}, demand=EVERYTHING, learned=("{}", "[]"), asked_after=(C,))
    if reply.lost:
        worker.rejoin()
    leases = worker.claim() if reply.lost else reply.leases
    assert {one.candidate.url: one.candidate.priority for one in leases} == {A: 1, B: 4}


def test_a_worker_taken_for_dead_forgets_what_is_late(crew: Crew) -> None:
    worker = crew.join(*candidates(A))
    worker.session.committer.priority_updates.late = {1: 1}
    with crew.engine.begin() as connection:
        expire_worker(connection, worker.session.worker_id)
    assert worker.commit().lost
    assert worker.session.committer.priority_updates.late == {}
