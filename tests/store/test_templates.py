"""What the pages of a host have in common is kept with the page that completed it, and reaches who asks that host."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select, update
from store_workers import EVERYTHING, Crew, Trouble, Worker, also, candidates, failed, stored

from crawler.frontier.batch import Batch, BatchReply, ClaimRequest, Redirect
from crawler.frontier.page_result import Lease, Template
from crawler.outcomes import Code, Outcome
from crawler.store.crawl_tables import worker
from crawler.store.deletion import delete_crawl
from crawler.store.page_tables import template

A, B = "http://a.example/", "http://b.example/"
MENU, FOOT, OTHER = (
    Template("a.example", "a", "Menu"),
    Template("a.example", "p", "Foot"),
    Template("b.example", "p", "x"),
)


def reader(crew: Crew, *urls: str, folder: str = "one", **plan: object) -> Worker:
    one = crew.join(*candidates(*urls), folder=folder, **plan)
    one.session.committer.reads_templates = True
    return one


def at_hand(one: Worker, *leases: Lease) -> BatchReply:
    """What a worker is told that has these hosts at hand, and does not want more."""
    hosts = tuple({held.host_id for held in leases})
    return one.commit(demand=ClaimRequest(0, 0, 0, hosts_in_memory=hosts))


def count(crew: Crew) -> int:
    return crew.value(select(func.count()).select_from(template))


@pytest.mark.parametrize("outcome", ["stored", "dropped"])
def test_templates_are_kept_with_their_page(crew: Crew, outcome: str) -> None:
    one = reader(crew, A)
    (held,) = one.claim()
    ended = stored(held) if outcome == "stored" else failed(held, Outcome(Code.DROPPED))
    one.end(also(ended, templates=(MENU, FOOT, MENU)))
    assert count(crew) == 2


def test_templates_of_a_worker_taken_for_dead_are_not_kept(crew: Crew) -> None:
    one, two = crew.pair(*candidates(A))
    (held,) = one.claim()
    crew.change(update(worker).where(worker.c.id == one.session.worker_id).values(heartbeat=0.0))
    two.commit()
    assert two.session.committer.expire_silent_workers() == 1
    assert one.end(also(stored(held), templates=(MENU,))).lost
    assert count(crew) == 0


def test_templates_stored_twice_are_one(crew: Crew) -> None:
    one = reader(crew, A, A + "1")
    for held in one.claim():
        one.end(also(stored(held), templates=(MENU,)))
    assert count(crew) == 1


@pytest.mark.parametrize("ending", ["leave", "die"])
def test_a_host_that_comes_to_hand_brings_its_templates(crew: Crew, ending: str) -> None:
    one = reader(crew, A, A + "1", B)
    first, _, third = one.claim()
    one.end(also(stored(first), templates=(MENU, FOOT)), also(stored(third), templates=(OTHER,)))
    getattr(one, ending)()
    again = reader(crew)
    answer = again.commit(demand=EVERYTHING)
    assert [lease.candidate.url for lease in answer.leases] == [A + "1"]
    assert sorted(answer.templates, key=str) == sorted([MENU, FOOT], key=str)


def test_templates_of_hosts_that_are_not_at_hand_are_not_read(crew: Crew) -> None:
    one, two = reader(crew, A, B), reader(crew, folder="two")
    first, second = one.claim()
    one.end(also(stored(first), templates=(MENU,)))
    assert two.commit(demand=EVERYTHING).templates == []
    assert at_hand(one, second).templates == []
    assert at_hand(one, first, second).templates == [MENU]


def test_new_templates_of_a_host_at_hand_are_read_once(crew: Crew) -> None:
    one, two = reader(crew, A, A + "1", A + "2"), reader(crew, folder="two")
    first, second, third = one.claim()
    one.end(also(stored(first), templates=(MENU,)))
    assert at_hand(two, third).templates == [MENU]
    one.end(also(stored(second), templates=(FOOT,)))
    assert two.commit().templates == []
    assert [at_hand(two, third).templates for _ in range(2)] == [[FOOT], []]


def test_templates_of_a_host_at_hand_wait_while_nothing_is_said_of_what_is_at_hand(crew: Crew) -> None:
    """Those of a host that comes to hand meanwhile have higher numbers."""
    one, two = reader(crew, A, A + "1", B, B + "1"), reader(crew, folder="two")
    first, second, third, fourth = one.claim()
    one.end(also(stored(first), templates=(MENU,)), also(stored(third), templates=(OTHER,)))
    move = Redirect(second, replace(second.candidate, url=B + "2", requested=A + "1"))
    assert one.commit(Batch(redirects=[move])).templates == [OTHER]
    assert sorted(at_hand(one, first, fourth).templates, key=str) == sorted([MENU, OTHER], key=str)
    two.leave()


def test_who_does_not_learn_reads_none(crew: Crew) -> None:
    one = crew.join(*candidates(A, A + "1"))
    first, second = one.claim()
    one.end(also(stored(first), templates=(MENU,)))
    assert at_hand(one, second).templates == []


def test_templates_are_read_where_a_redirect_leads(crew: Crew) -> None:
    one = reader(crew, A, B)
    first, second = one.claim()
    one.end(also(stored(first), templates=(MENU,)))
    answer = one.commit(Batch(redirects=[Redirect(second, replace(second.candidate, url=A + "1", requested=B))]))
    assert answer.templates == [MENU]


def test_what_was_read_by_a_transaction_that_failed_is_read_again(crew: Crew) -> None:
    one = reader(crew, A, A + "1")
    first, second = one.claim()
    one.end(also(stored(first), templates=(MENU,)))
    Trouble(one.session.engine).fail_commit = True
    assert at_hand(one, second).templates == [MENU]


def test_two_crawls_do_not_share_templates(crew: Crew) -> None:
    one, two = reader(crew, A, name="one"), reader(crew, A, name="two")
    (held,) = one.claim()
    one.end(also(stored(held), templates=(MENU,)))
    assert two.commit(demand=EVERYTHING).templates == []
    two.end(also(stored(two.hand.popitem()[1]), templates=(MENU,)))
    assert count(crew) == 2


def test_templates_outlast_a_fresh_start_and_go_with_a_reset(crew: Crew) -> None:
    one = reader(crew, A)
    (held,) = one.claim()
    one.end(also(stored(held), templates=(MENU,)))
    one.leave()
    again = reader(crew, A, fresh=True)
    assert again.commit(demand=EVERYTHING).templates == [MENU]
    again.leave()
    delete_crawl(crew.engine.url, "crawl")
    assert count(crew) == 0


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\U0001f600", "x" * 500])
def test_odd_characters_are_stored(crew: Crew, text: str) -> None:
    one = reader(crew, A)
    (held,) = one.claim()
    one.end(also(stored(held), templates=(replace(MENU, text=text),)))
    assert count(crew) == 1
