"""What a claim brings: the best addresses of the hosts that may be asked, within all budgets."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from sqlalchemy import select
from store_workers import EVERYTHING, Crew, Worker, candidates, check_budgets, contents, failed, stored, urls

from crawler.frontier.batch import Batch, Redirect
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy, Lease
from crawler.outcomes import Code, Outcome
from crawler.reports.crawls import CrawlSummary, all_summaries
from crawler.store.batch import claims
from crawler.store.batch.crawl_end import WaitingLinkCounts
from crawler.store.batch.host_tries import FIRST_TRIES, TRIED_HOSTS
from crawler.store.batch.hosts import REQUESTS_A_PAGE
from crawler.store.crawl_tables import AddressState, address, host, site
from crawler.store.database import database_time
from crawler.topic.priorities import BEHIND_IMAGE, UNLIKELY
from crawler.urls.address import address_of
from crawler.urls.canonical import Canonical

A, B, C = (f"http://{letter}.example/" for letter in "abc")
ONE_SITE = ("http://example.com/", "http://www.example.com/", "http://m.example.com/")
CLOSED, BUDGET_SPENT = Outcome(Code.HOST_CLOSED), Outcome(Code.SITE_BUDGET_SPENT)


def many(start: str, count: int, **known: object) -> list[Candidate]:
    return candidates(*(f"{start}{n}" for n in range(count)), **known)


def test_the_best_comes_first_then_the_oldest(crew: Crew) -> None:
    found = [Candidate(A + "1", 5), Candidate(B + "2", 9), Candidate(A + "3", -1), Candidate(B + "4", 5)]
    worker = crew.join(*found, Candidate(A + "5", 9))
    assert urls(worker.claim()) == [B + "2", A + "5", A + "1", B + "4", A + "3"]
    assert worker.claim() == []


def test_the_oldest_comes_first_whichever_page_it_was_found_on(crew: Crew) -> None:
    worker = crew.join(*candidates(A, B))
    first, second = worker.claim()
    worker.end(stored(second, *candidates(A + "2", B + "1")))
    worker.end(stored(first, *candidates(A + "1", B + "2")))
    assert urls(worker.claim()) == [A + "2", B + "1", A + "1", B + "2"]


def test_a_candidate_keeps_all_that_is_known_of_it(crew: Crew) -> None:
    worker = crew.join(Candidate(A, 7, kind=AddressKind.SEED))
    (one,) = worker.claim()
    found = [Candidate(A + "1", 5, 3, A, AddressKind.LIST), Candidate(B + "2", -5, 4, A, AddressKind.IMAGE)]
    worker.end(stored(one, *found))
    assert one.candidate == Candidate(A, 7, kind=AddressKind.SEED)
    assert [lease.candidate for lease in worker.claim()] == found


@pytest.mark.parametrize("ending", ["return", "die"])
def test_how_an_address_was_found_is_known_wherever_it_goes(crew: Crew, ending: str) -> None:
    worker = crew.join(Candidate(A, 9, kind=AddressKind.SEED, via=FoundBy.SEED))
    (one,) = worker.claim()
    worker.end(
        stored(
            one,
            Candidate(B, 5, via=FoundBy.FEED),
            Candidate(C, 4, kind=AddressKind.IMAGE, sight="s", via=FoundBy.IMAGE),
        )
    )
    feed, image = worker.claim()
    moved = worker.move(feed, B + "new")
    assert moved is not None
    if ending == "return":
        worker.commit(returned=[moved, image])
    else:
        worker.die()
        worker = crew.join()
    assert one.candidate.via == "seed"
    assert {held.candidate.url: held.candidate.via for held in worker.claim()} == {B + "new": "feed", C: "image"}


def test_a_link_with_words_is_how_it_was_found(crew: Crew) -> None:
    worker = crew.join(*candidates(A))
    (one,) = worker.claim()
    worker.end(stored(one, Candidate(B, sight="s", via=FoundBy.IMAGE), Candidate(B, via=FoundBy.LINK)))
    assert [held.candidate.via for held in worker.claim()] == ["link"]


def test_a_claim_brings_what_is_demanded_at_most(crew: Crew) -> None:
    worker = crew.join(*many(A, 5), *many(B, 5), *many(C, 5))
    for limits, expected in (
        ({"hosts": 0}, 0),
        ({"hosts": 1}, 5),
        ({"hosts": 2}, 10),
        ({"hosts": 3}, 15),
        ({"each_host": 1}, 3),
        ({"each_host": 2}, 6),
        ({"addresses": 0}, 0),
        ({"addresses": 1}, 1),
        ({"addresses": 7}, 7),
        ({"each_host": 3, "addresses": 7}, 7),
        ({"each_host": 2, "addresses": 7}, 6),
        ({"each_host": 2, "hosts": 2}, 4),
    ):
        leases = worker.claim(**limits)
        assert len(leases) == expected, limits
        worker.commit(returned=leases, rests_of_dropped_hosts={lease.host_id: 0.0 for lease in leases})


def test_an_endless_host_keeps_no_other_out(crew: Crew) -> None:
    worker = crew.join(*many(A, 100, priority=900), *candidates(B, C))
    assert sorted(urls(worker.claim(hosts=3, each_host=4, addresses=6))) == [f"{A}{n}" for n in range(4)] + [B, C]


def test_hosts_at_hand_bring_more_when_they_run_low(crew: Crew) -> None:
    worker = crew.join(*many(A, 3), *many(B, 3))
    first = worker.commit(demand=replace(EVERYTHING, each_host=1))
    assert urls(first.leases) == [A + "0", B + "0"]
    hosts = tuple(one.host_id for one in first.leases)
    assert first.hosts_with_more == set(hosts)
    assert urls(worker.claim(each_host=1, hosts_in_memory=hosts)) == []
    assert urls(worker.claim(each_host=1, hosts_in_memory=hosts, low_hosts=hosts[:1])) == [A + "1"]
    last = worker.commit(demand=replace(EVERYTHING, hosts_in_memory=hosts, low_hosts=hosts))
    assert urls(last.leases) == [A + "2", B + "1", B + "2"]
    assert last.hosts_with_more == set()


# How long hosts rest, who may ask them, and who may not.


def test_a_host_rests_until_its_time(crew: Crew) -> None:
    one, two = crew.pair(*many(A, 2), *many(B, 2))
    held = one.claim(each_host=1)
    one.commit(returned=held, rests_of_dropped_hosts={held[0].host_id: 100.0, held[1].host_id: 0.0})
    assert urls(two.claim()) == [B + "0", B + "1"]
    assert one.claim() == []
    crew.change(host.update().values(next_at=host.c.next_at - 90.0))
    assert one.claim() == []
    crew.change(host.update().values(next_at=host.c.next_at - 10.0))
    assert urls(one.claim()) == [A + "0", A + "1"]


@pytest.mark.parametrize(("rest", "found", "said"), [(0.0, 1, None), (1.0, 1, 1.0), (1.1, 0, None)])
def test_a_host_whose_rest_ends_soon_is_claimed_before(crew: Crew, rest: float, found: int, said: float | None) -> None:
    worker = crew.join(*many(A, 2))
    (one,) = worker.claim(each_host=1)
    worker.rest(one, seconds=100.0)
    now = crew.value(select(host.c.next_at)) - rest
    with crew.engine.connect() as connection:
        answer = claims.claim(connection, worker.session.committer.claimant, EVERYTHING, now)
    assert (len(answer.leases), answer.rests.get(one.host_id)) == (found, pytest.approx(said, abs=1e-3))


@pytest.mark.parametrize(("seconds", "rests"), [(100.0, True), (0.0, False), (86_400.0, False)])
def test_of_a_host_at_hand_that_rests_comes_more_and_it_is_said_for_how_long(
    crew: Crew, seconds: float, rests: bool
) -> None:
    """Else nothing would be there but what it refused when it has rested; no rest is as long as a day."""
    worker = crew.join(*many(A, 2))
    (one,) = worker.claim(each_host=1)
    worker.commit(rests={one.host_id: seconds})
    answer = worker.commit(demand=replace(EVERYTHING, low_hosts=(one.host_id,), hosts_in_memory=(one.host_id,)))
    assert urls(answer.leases) == [A + "1"]
    said = {one.host_id: pytest.approx(seconds, abs=5.0)} if rests else {}
    assert answer.rests == said


def test_a_rest_longer_than_any_is_of_a_clock_that_was_wrong(crew: Crew) -> None:
    rests = {f"http://{rest}.example/": rest for rest in (0, 60, 590, 610, 86_400)}
    worker = crew.join(*(link for url in rests for link in many(url, 2)))
    leases = worker.claim(each_host=1)
    worker.commit(rests_of_dropped_hosts={lease.host_id: float(rests[lease.candidate.url[:-1]]) for lease in leases})
    assert {int(address_of(url).host.split(".")[0]) for url in urls(worker.claim())} == {0, 610, 86_400}


def test_a_host_at_hand_rests_when_its_worker_ends(crew: Crew) -> None:
    one = crew.join(*many(A, 2))
    (held,) = one.claim(each_host=1)
    one.commit(rests={held.host_id: 50.0})
    one.leave()
    assert crew.join().claim() == []


@pytest.mark.parametrize("end", ["die", "leave"])
@pytest.mark.parametrize(
    ("usual", "told"), [(5.0, {"delay": 20.0}), (5.0, {"crawl_delay": 20.0}), (20.0, {}), (20.0, {"crawl_delay": 5.0})]
)
def test_a_host_of_a_worker_that_ended_rests_for_its_pause(
    usual: float, told: dict[str, float], end: str, crew: Crew
) -> None:
    one = crew.join(*many(A, 2), first_interval=usual)
    one.claim(each_host=1)
    if told:
        crew.change(host.update().values(told))
    getattr(one, end)()
    two = crew.join(first_interval=usual)
    assert two.claim() == []
    crew.change(host.update().values(next_at=host.c.next_at - 20.0))
    assert urls(two.claim()) == [A + "0", A + "1"]


def test_a_host_is_one_worker_s_alone_until_it_lets_it_go(crew: Crew) -> None:
    one, two = crew.pair(*many(A, 9))
    (held,) = one.claim(each_host=1)
    assert two.claim(each_host=1) == []
    one.end(stored(held))
    assert two.claim(each_host=1) == []
    two.rest(held)  # it is not two's to let go
    assert two.claim(each_host=1) == []
    one.rest(held)
    assert urls(two.claim(each_host=1)) == [A + "1"]
    assert one.claim(each_host=1) == []


def test_a_host_is_shared_when_all_say_so(crew: Crew) -> None:
    one, two = crew.pair(*many(A, 9))
    assert urls(one.claim(each_host=2, keeps_hosts=False)) == [A + "0", A + "1"]
    assert urls(two.claim(each_host=2, keeps_hosts=False)) == [A + "2", A + "3"]
    assert urls(one.claim(each_host=1, keeps_hosts=False)) == [A + "4"]


def test_a_host_with_a_pace_is_not_shared(crew: Crew) -> None:
    one, two = crew.pair(*many(A, 9))
    (held,) = one.claim(each_host=1, keeps_hosts=False)
    one.commit(crawl_delays={held.host_id: 2.0}, rests_of_dropped_hosts={held.host_id: 0.0})
    assert urls(one.claim(each_host=1, keeps_hosts=False)) == [A + "1"]
    assert two.claim(each_host=1, keeps_hosts=False) == []
    one.rest(held)
    assert urls(two.claim(each_host=1, keeps_hosts=False)) == [A + "2"]
    assert one.claim(each_host=1, keeps_hosts=False) == []


@pytest.mark.parametrize(("kind", "moves"), [("link", False), ("seed", True)])
def test_a_redirect_to_another_worker_s_host_waits_for_that_worker(crew: Crew, kind: str, moves: bool) -> None:
    one, two = crew.pair(*many(A, 2))
    (first,) = one.claim(each_host=1)
    two.seed(Candidate(B, kind=kind))
    (held,) = two.claim(each_host=1)
    moved = two.move(held, A + "new")
    assert (moved is not None) == moves
    assert two.claim(each_host=1, low_hosts=(first.host_id,), hosts_in_memory=(first.host_id,)) == []
    theirs = urls(one.claim(low_hosts=(first.host_id,), hosts_in_memory=(first.host_id,)))
    assert sorted(theirs) == [A + "1", *([] if moves else [A + "new"])]


@pytest.mark.parametrize("told", [None, 20.0])
def test_a_free_host_that_a_redirect_leads_to_rests_for_its_pause(crew: Crew, told: float | None) -> None:
    """None of two workers requests it a moment after the other."""
    one, two = crew.pair(*candidates(A, B, C + "1", C + "2"), first_interval=5.0 if told else 20.0)
    first, second, third = one.claim(each_host=1)
    one.rest(third)
    crew.change(host.update().values(delay=told))
    assert one.move(first, C + "new") is not None
    assert one.move(second, C + "other") is None
    assert two.claim() == []
    crew.change(host.update().values(next_at=host.c.next_at - 20.0))
    assert urls(two.claim()) == [C + "2", C + "other"]


def test_a_redirect_to_a_closed_host_asks_nothing_of_it(crew: Crew) -> None:
    one, two = crew.pair(*candidates(A, B))
    (closed,), (held,) = one.claim(hosts=1), two.claim(hosts=1)
    url = closed.candidate.url
    one.commit(
        ended=[failed(closed, CLOSED)],
        closed={address_of(url).host: Code.HOST_CLOSED},
        rests_of_dropped_hosts={closed.host_id: 0.0},
    )
    assert two.move(held, url + "new") is None
    two.end(failed(held, Outcome(Code.REDIRECT_TO_KNOWN)))
    answer = two.commit(demand=EVERYTHING, idle=True)
    assert (answer.leases, answer.refused, answer.over) == ([], {CLOSED: 1}, True)


# Closed hosts.


@pytest.mark.parametrize("known", [True, False])
def test_a_closed_host_is_refused_and_counted(crew: Crew, known: bool) -> None:
    one, two = crew.pair(*candidates(B))
    if known:
        one.seed(*many(A, 3), Candidate(A + "i.png", kind=AddressKind.IMAGE))
    one.commit(closed={"a.example": Code.HOST_CLOSED})
    if not known:
        two.seed(*many(A, 3), Candidate(A + "i.png", kind=AddressKind.IMAGE))
    answer = two.commit(demand=EVERYTHING)
    assert (urls(answer.leases), answer.refused) == ([B], {CLOSED: 4})
    states = crew.addresses()
    assert states[A + "1"] == states["image " + A + "i.png"] == (AddressState.DONE, CLOSED)
    assert two.claim() == one.claim() == []


def test_the_addresses_of_a_walled_host_name_the_service(crew: Crew) -> None:
    worker = crew.join(*many(A, 3))
    worker.commit(closed={"a.example": "host_walled/Anubis"})
    assert worker.commit(demand=EVERYTHING).refused == {Outcome(Code.HOST_WALLED, "Anubis"): 3}
    assert crew.value(select(address.c.outcome_detail).distinct()) == "Anubis"


def test_a_closed_host_is_refused_what_comes_later_too(crew: Crew) -> None:
    worker = crew.join(*candidates(A, B))
    first, second = worker.claim()
    worker.end(failed(first), closed={"a.example": Code.HOST_CLOSED})
    worker.end(stored(second, *many(A, 3)))
    assert worker.commit(demand=EVERYTHING).refused == {CLOSED: 3}


@pytest.mark.parametrize("at_once", [1, 4, 8, 9])
def test_of_very_many_some_are_given_up_by_each_claim(
    crew: Crew, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(claims, "REFUSED_AT_ONCE", at_once)
    worker = crew.join(*many(A, 8), *candidates(B))
    worker.commit(closed={"a.example": Code.HOST_CLOSED})
    given_up, leases = Counter(), []
    for _ in range(8 // at_once + 2):
        answer = worker.commit(demand=EVERYTHING)
        leases += urls(answer.leases)
        given_up += answer.refused
        assert answer.refused.total() <= at_once
    assert (leases, given_up) == ([B], {CLOSED: 8})
    assert list(crew.addresses().values()).count((AddressState.DONE, CLOSED)) == 8


def test_a_closed_host_that_another_worker_had_alone_is_refused(crew: Crew) -> None:
    one, two = crew.pair(*many(A, 3), *candidates(B))
    held = one.claim(each_host=1, hosts=1)
    one.commit(returned=held, closed={"a.example": Code.HOST_CLOSED})
    assert two.commit(demand=EVERYTHING).refused == {CLOSED: 3}


# The budget of a site.


@pytest.mark.parametrize("limit", [1, 3])
def test_a_site_has_a_budget_of_pages_over_all_its_hosts(crew: Crew, limit: int) -> None:
    """Those on their way count, and those that bring nothing do not."""
    one, two = crew.pair(*(link for start in ONE_SITE for link in many(start, 4)), *many(B, limit), site_limit=limit)
    asked = 0
    bring = True
    refused = 0
    for turn in range(12):
        worker = (one, two)[turn % 2]
        answer = worker.commit(demand=replace(EVERYTHING, each_host=2))
        refused += answer.refused.total()
        held = list(worker.hand.values())
        worker.commit(
            ended=[stored(lease) if (bring := not bring) else failed(lease) for lease in held],
            rests_of_dropped_hosts={lease.host_id: 0.0 for lease in held},
        )
        asked += len(held)
        check_budgets(crew.engine, limit)
    outcomes = crew.addresses()
    brought = [url for url, state in outcomes.items() if state == (AddressState.DONE, None)]
    assert sum(url.startswith(ONE_SITE) for url in brought) == limit
    assert list(outcomes.values()).count((AddressState.DONE, BUDGET_SPENT)) == refused > 0
    assert asked + refused == 12 + limit


def test_a_site_has_a_budget_of_requests_over_all_its_hosts(crew: Crew) -> None:
    limit = 2
    one, two = crew.pair(*(link for start in ONE_SITE for link in many(start, 15)), site_limit=limit)
    asked = 0
    for _ in range(limit * REQUESTS_A_PAGE):
        for worker in (one, two):
            leases = worker.claim(each_host=1)
            asked += len(leases)
            worker.end(*map(failed, leases), rests_of_dropped_hosts={held.host_id: 0.0 for held in leases})
            check_budgets(crew.engine, limit)
    assert asked == limit * REQUESTS_A_PAGE
    assert sum(state[1] == BUDGET_SPENT for state in crew.addresses().values()) == 45 - asked


def test_what_was_given_back_was_not_asked_for(crew: Crew) -> None:
    worker = crew.join(*many(A, 3), site_limit=1)
    for _ in range(REQUESTS_A_PAGE + 1):
        held = worker.claim()
        assert urls(held) == [A + "0"]
        worker.commit(returned=held)
    assert crew.value(select(site.c.requests)) == 0


@pytest.mark.parametrize(("ending", "requests"), [("leave", 0), ("die", 12)])
def test_what_a_worker_held_that_ended_is_within_the_budget(crew: Crew, ending: str, requests: int) -> None:
    """Whoever is killed may have sent all its requests."""
    for _ in range(4):
        worker = crew.join(*many(A, 9), site_limit=3)
        assert len(worker.claim()) == 3
        getattr(worker, ending)()
    worker = crew.join(site_limit=3)
    assert crew.value(select(site.c.requests)) == requests
    worker.end(*map(stored, worker.claim()))
    assert worker.commit(demand=EVERYTHING).refused == {BUDGET_SPENT: 6}


def test_images_are_no_pages_to_a_site(crew: Crew) -> None:
    worker = crew.join(*many(A, 3), *many(A, 40, kind=AddressKind.IMAGE, priority=-9), site_limit=1)
    assert [one.is_page for one in worker.claim()] == [True] + [False] * 40
    worker.end(*map(stored, worker.hand.values()))
    worker.seed(Candidate(A + "late.png", kind=AddressKind.IMAGE, priority=-9))
    answer = worker.commit(demand=EVERYTHING)
    assert (urls(answer.leases), answer.refused) == ([A + "late.png"], {BUDGET_SPENT: 2})
    assert crew.value(select(site.c.requests)) == 1


@pytest.mark.parametrize("room", [0, 1])
def test_a_redirect_stays_within_the_budget_of_the_site_it_leads_to(crew: Crew, room: int) -> None:
    worker = crew.join(*many(A, 1 + room), Candidate(B, -1), site_limit=1 + room)
    held = worker.claim()
    worker.end(stored(held[0]), *map(failed, held[1:-1]))
    moved = worker.move(held[-1], A + "new")
    check_budgets(crew.engine, 1 + room)
    assert (moved is not None) == bool(room)


def test_a_redirect_costs_the_site_it_leaves_nothing_but_the_request(crew: Crew) -> None:
    worker = crew.join(*candidates(A), site_limit=1)
    (one,) = worker.claim()
    moved = worker.move(one, B)
    assert moved is not None
    worker.end(stored(moved, *candidates(A + "late", B + "late")))
    answer = worker.commit(demand=EVERYTHING)
    assert (urls(answer.leases), answer.refused) == ([A + "late"], {BUDGET_SPENT: 1})


# The pages of the whole crawl.


@pytest.mark.parametrize(("wanted", "bring"), [(1, 1), (1, 3), (2, 2), (5, 1), (5, 3)])
def test_max_pages_is_exact_over_two_workers(crew: Crew, wanted: int, bring: int) -> None:
    """Every `bring`th request brings a page; a worker holds some while it ends others and claims."""
    found = [Candidate(f"http://{n}.example/{m}") for n in range(15) for m in range(2)]
    workers = crew.pair(*found, max_pages=wanted)
    asked = 0
    while True:
        for worker in workers:
            ended = []
            for one in list(worker.hand.values())[:1]:
                asked += 1
                ended.append(failed(one) if asked % bring else stored(one))
            worker.commit(ended=ended, demand=replace(EVERYTHING, hosts=3, each_host=1, addresses=3))
        if not workers[0].hand and not workers[1].hand:
            break
    assert sum(len(worker.records()) for worker in workers) == wanted
    assert list(crew.addresses().values()).count((AddressState.WAITING, None)) > 0


def test_a_page_and_the_next_claim_in_one_batch_are_counted(crew: Crew) -> None:
    worker = crew.join(*candidates(A, B, C), max_pages=2)
    first, second = worker.claim()
    assert worker.end(stored(first), demand=EVERYTHING).leases == []
    assert urls(worker.end(failed(second), demand=EVERYTHING).leases) == [C]


def test_a_lease_given_back_makes_room(crew: Crew) -> None:
    one, two = crew.pair(*candidates(A, B), max_pages=1)
    held = one.claim()
    assert (urls(held), two.claim()) == ([A], [])
    one.commit(returned=held, rests_of_dropped_hosts={held[0].host_id: 100.0})
    assert urls(two.claim()) == [B]


def test_images_still_come_when_the_crawl_is_full(crew: Crew) -> None:
    found = [
        *many(A, 9),
        *many(A, 3, kind=AddressKind.IMAGE, priority=-9),
        *many(B, 1, kind=AddressKind.IMAGE, priority=-9),
    ]
    worker = crew.join(*found, max_pages=1)
    worker.end(*map(stored, worker.claim(each_host=1)))
    while not (answer := worker.commit(demand=replace(EVERYTHING, each_host=2), idle=True)).over:
        worker.end(*map(stored, answer.leases))
    states = crew.addresses()
    assert sorted(url for url, state in states.items() if state == (AddressState.DONE, None)) == sorted(
        [A + "0", *(f"image {A}{n}" for n in range(3)), f"image {B}0"]
    )
    assert [states[f"{A}{n}"][0] for n in range(1, 9)] == [AddressState.WAITING] * 8
    assert answer.waiting == 8


@pytest.mark.parametrize("wanted", [1, 2, 4])
def test_what_was_left_waits_again_when_max_pages_is_raised(crew: Crew, wanted: int) -> None:
    worker = crew.join(*many(A, 4), max_pages=1)
    finish(worker)
    worker.leave()
    assert list(crew.addresses().values()).count((AddressState.DONE, None)) == 1
    worker = crew.join(max_pages=wanted)
    assert worker.session.begin([A + "0"]) == (wanted > 1)
    assert list(crew.addresses().values()).count((AddressState.WAITING, None)) == 3
    finish(worker)
    assert len(worker.records()) == wanted


@pytest.mark.parametrize(("max_pages", "of_a", "of_b"), [(None, 8, 2), (20, 8, 2), (8, 4, 2), (2, 1, 1)])
def test_the_last_pages_are_spread_over_the_hosts(crew: Crew, max_pages: int | None, of_a: int, of_b: int) -> None:
    worker = crew.join(*many(A, 8), *many(B, 2), max_pages=max_pages)
    hosts = Counter(address_of(url).host for url in urls(worker.claim()))
    assert hosts == {"a.example": of_a, "b.example": of_b}


def test_an_image_is_left_by_nobody_when_pages_are(crew: Crew) -> None:
    worker = crew.join(*candidates(A), Candidate(A + "1.png", kind=AddressKind.IMAGE, priority=-9), max_pages=1)
    (page, image) = worker.claim()
    answer = worker.end(stored(page), idle=True)
    assert (answer.over, answer.held_by_others) == (False, 1)
    assert worker.end(stored(image), idle=True).over


def finish(worker: Worker) -> None:
    """Bring every page there is."""
    while not (answer := worker.commit(demand=EVERYTHING, idle=True)).over:
        worker.end(*map(stored, answer.leases))


# Redirects.


@pytest.mark.parametrize(
    ("to", "moves"),
    [
        (A + "new", True),
        (C, True),
        (A + "new?utm_source=feed", True),
        (B, False),
        (B + "?utm_source=feed", False),
        (A + "done", False),
    ],
)
def test_a_redirect_leads_to_what_nobody_knows(crew: Crew, to: str, moves: bool) -> None:
    worker = crew.join(*candidates(A + "done", B), Candidate(A, 9, 3), canonical=Canonical(["utm_.*"]))
    one, done, _ = worker.claim()
    worker.end(stored(done))
    moved = worker.move(one, to)
    assert (moved is not None) == moves
    if moved is None:
        worker.end(failed(one, Outcome(Code.REDIRECT_TO_KNOWN)))
        assert crew.addresses()[A] == (AddressState.DONE, Outcome(Code.REDIRECT_TO_KNOWN))
    else:
        assert moved.candidate == Candidate(to, 9, 3, requested=A)
        assert crew.addresses()[A] == (AddressState.DONE, Outcome(Code.REDIRECTED))
        worker.end(stored(moved))
        assert worker.records()[-1]["requested_url"] == A


def test_two_redirects_to_one_address_are_one_page(crew: Crew) -> None:
    worker = crew.join(*candidates(A, B))
    one, two = worker.claim()
    moved = worker.commit(redirects=[Redirect(each, replace(each.candidate, url=C)) for each in (one, two)]).redirected
    assert contents(moved) == [C, None]


def test_a_redirect_keeps_the_page_that_named_it_and_what_was_asked_at_first(crew: Crew) -> None:
    worker = crew.join(*candidates(A))
    (one,) = worker.claim()
    worker.end(stored(one, Candidate(B, 0, 1, A)))
    (two,) = worker.claim()
    moved = worker.move(two, C)
    assert moved is not None
    again = worker.move(moved, C + "again")
    assert again is not None
    worker.die()
    (back,) = crew.join().claim()
    assert back.candidate == Candidate(C + "again", 0, 1, A, requested=B)


MANY_HOSTS = [f"http://{letter}.example/" for letter in "abcdefghijkl"]


def unlikely_links() -> list[Candidate]:
    """Six links of each of twelve hosts."""
    return [link for url in MANY_HOSTS for link in many(url, 6, priority=UNLIKELY + 60)]


def leases_by_host(leases: Iterable[Lease]) -> Counter[str]:
    return Counter(address_of(lease.candidate.url).host for lease in leases)


def test_unlikely_links_come_last(crew: Crew) -> None:
    seeds = (
        Candidate(A + "1", UNLIKELY + 900),
        Candidate(A + "2", -10_000, kind=AddressKind.IMAGE),
        Candidate(A + "3", 1),
    )
    assert urls(crew.join(*seeds).claim()) == [A + "3", A + "2", A + "1"]


def test_each_host_has_a_few_tries(crew: Crew) -> None:
    worker = crew.join(*unlikely_links(), Candidate(A + "likely", 5), limits_tries=True)
    first = worker.claim()
    assert leases_by_host(first) == {address_of(url).host: FIRST_TRIES + (url == A) for url in MANY_HOSTS}
    assert [lease.is_try for lease in first if lease.candidate.url == A + "likely"] == [False]
    assert worker.claim() == []


def test_a_lease_given_back_is_no_try(crew: Crew) -> None:
    worker = crew.join(*unlikely_links(), limits_tries=True)
    leases = worker.claim()
    worker.commit(returned=leases[:3])
    assert len(worker.claim()) == 3


@pytest.mark.parametrize(("relevance", "more"), [(0.5, 2), (0.4, 0)])
def test_a_page_on_the_topic_gives_its_host_more_tries(crew: Crew, relevance: float, more: int) -> None:
    worker = crew.join(*unlikely_links(), limits_tries=True)
    first = worker.claim()[0]
    worker.end(stored(first, relevance=relevance))
    assert leases_by_host(worker.claim()) == ({address_of(first.candidate.url).host: more} if more else {})


def test_a_site_has_no_more_tries_by_more_hosts(crew: Crew) -> None:
    names = [f"http://{number}.example.com/" for number in range(TRIED_HOSTS + 9)]
    worker = crew.join(*(link for url in names[:9] for link in many(url, 6, priority=UNLIKELY)), limits_tries=True)
    first, *others = worker.claim()
    worker.end(stored(first, *(link for url in names for link in many(url, 8, priority=UNLIKELY + 60))))
    worker.end(*map(failed, others))
    later = leases_by_host(worker.claim())
    assert set(later.values()) == {FIRST_TRIES}
    assert len(later) == TRIED_HOSTS - 9


def test_a_further_host_of_a_site_has_tries_once_it_brought_a_page_on_the_topic(crew: Crew) -> None:
    names = [f"http://{number}.example.com/" for number in range(TRIED_HOSTS + 1)]
    worker = crew.join(*candidates(*names), limits_tries=True)
    further = sorted(names)[-1]
    lease = next(lease for lease in worker.claim() if lease.candidate.url == further)
    likely = Candidate(f"{further}likely", 1)
    worker.end(stored(lease, *many(further, 6, priority=UNLIKELY), likely, relevance=0.4))
    (lease,) = worker.claim()
    assert lease.candidate.url == likely.url
    worker.end(stored(lease, relevance=0.9))
    assert leases_by_host(worker.claim()) == {address_of(further).host: FIRST_TRIES}


def summary_of_crawl(crew: Crew) -> CrawlSummary:
    with crew.engine.connect() as connection:
        return all_summaries(connection, database_time(connection))[0]


@pytest.mark.parametrize(("limits_tries", "images"), [(True, True), (True, False), (False, False)])
def test_a_crawl_ends_when_only_unlikely_links_wait(crew: Crew, limits_tries: bool, images: bool) -> None:
    worker = crew.join(*unlikely_links(), limits_tries=limits_tries, images=images)
    while leases := worker.claim():
        worker.end(*map(failed, leases))
    assert worker.commit(Batch(idle=True, demand=EVERYTHING)).over
    waiting = 12 * (6 - FIRST_TRIES) if limits_tries else 0
    assert worker.session.count_waiting_links().unlikely == waiting
    summary = summary_of_crawl(crew)
    assert (summary.status, summary.waiting, summary.unlikely) == ("finished", 0, waiting)
    worker.leave()
    again = crew.join(images=images)
    assert len(again.claim()) == waiting


def test_waiting_links_are_counted_by_why_they_wait(crew: Crew) -> None:
    others = Candidate(A + "image", -10_000, kind=AddressKind.IMAGE), Candidate(A + "likely", 5)
    behind_images = [Candidate(f"{A}{number}", BEHIND_IMAGE, via=FoundBy.IMAGE) for number in range(100, 102)]
    worker = crew.join(*unlikely_links(), *others, *behind_images, limits_tries=True)
    assert worker.session.count_waiting_links() == WaitingLinkCounts(72, 2)
    assert worker.commit().unlikely == 72
    summary = summary_of_crawl(crew)
    assert (summary.waiting, summary.unlikely) == (4, 72)
    worker.leave()
    crew.join()
    summary = summary_of_crawl(crew)
    assert (summary.waiting, summary.unlikely) == (76, 0)


def test_a_page_on_the_topic_counts_beside_others_of_its_host(crew: Crew) -> None:
    worker = crew.join(*unlikely_links(), limits_tries=True)
    of_host = [lease for lease in worker.claim() if address_of(lease.candidate.url).host == address_of(A).host]
    worker.end(stored(of_host[0], relevance=0.9), stored(of_host[1], relevance=0.0))
    assert leases_by_host(worker.claim()) == {address_of(A).host: 2}
