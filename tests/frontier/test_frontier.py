"""What a worker has at hand: what comes next, what is given back, and what it tells and asks the ledger."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from store_workers import LOST

from crawler.frontier import frontier as frontier_module
from crawler.frontier.batch import Batch, BatchReply, ClaimRequest, LinkUpdates
from crawler.frontier.frontier import JOINING_SECONDS, Frontier
from crawler.frontier.host_control import AWAY_SECONDS, HANDOVER_SECONDS, MOST_OF_A_HOST, UNUSED_SECONDS
from crawler.frontier.host_limits import LimitSettings
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy, Lease, LessonKind, PageResult, Template
from crawler.frontier.put_off_rule import PatternCounts, PatternUse, Usefulness
from crawler.noise.image_evidence import Evidence
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.store.batch.addresses import AddressKeys
from crawler.topic.priorities import UNLIKELY
from crawler.urls.address import address_of
from crawler.urls.canonical import Canonical

A, B, C = (f"http://{letter}.example/" for letter in "abc")
CLOSED, NOISE = Outcome(Code.HOST_CLOSED), Outcome(Code.NOISE, "size")
KEYS = AddressKeys(1, Canonical(["utm_.*"]))


def a_lease(lease_id: int, url: str, priority: int = 0, kind: AddressKind = AddressKind.LINK) -> Lease:
    """What the ledger lends; the number of a host is that of its first letter."""
    number = ord(address_of(url).host[0])
    return Lease(lease_id, Candidate(url, priority, kind=kind), number, number)


def filled(*urls: str, pace: LimitSettings | None = None, **answer: Any) -> Frontier:
    """A frontier with these addresses at hand, whose leases are 1, 2, ..."""
    frontier = Frontier(KEYS, pace or LimitSettings())
    frontier.apply_reply(BatchReply([a_lease(number, url) for number, url in enumerate(urls, 1)], **answer), 0.0)
    return frontier


def several(at_once: int, **pace: Any) -> LimitSettings:
    """A pace of so many requests to each host at once."""
    return LimitSettings(at_once, **pace)


def taken(frontier: Frontier, now: float = 0.0) -> str | None:
    """The next address."""
    found = frontier.take(now)
    return found.candidate.url if found else None


def finish(frontier: Frontier, lease_id: int = 1, **result: Any) -> bool:
    """End a lease with this result; whether it was open."""
    return frontier.finish(
        lease_id, PageResult(**{name: tuple(v) if name == "links" else v for name, v in result.items()})
    )


def all_taken(frontier: Frontier, now: float = 0.0) -> list[str]:
    """The next addresses, until none is ready."""
    return list(iter(lambda: taken(frontier, now), None))


# What comes next.


def test_the_best_comes_first_then_the_oldest() -> None:
    frontier = filled(pace=several(9))
    found = [(A + "1", 5), (B + "2", 9), (A + "3", -1), (B + "4", 5), (A + "5", 9)]
    frontier.apply_reply(BatchReply([a_lease(number, *each) for number, each in enumerate(found, 1)]), 0.0)
    assert all_taken(frontier) == [B + "2", A + "5", A + "1", B + "4", A + "3"]


def test_a_list_is_returned_with_a_lower_priority() -> None:
    frontier = filled()
    tag, post = Candidate(A + "tag/b", 800), Candidate(A + "post/b", 700)
    lists = {"/tag/*": PatternCounts(useful=1, lists=1)}
    leases = [Lease(number, one, 97, 97) for number, one in enumerate((tag, post), 1)]
    frontier.apply_reply(BatchReply(leases, patterns={97: lists}), 0.0)
    assert all_taken(frontier) == [post.url]
    batch = frontier.batch(0.0)
    assert [(one.candidate.url, one.candidate.priority) for one in batch.returned] == [(tag.url, 80)]
    assert batch.priorities == {tag.url: 80}
    frontier.apply_reply(BatchReply([Lease(3, replace(tag, priority=80), 97, 97)], patterns={97: lists}), 0.0)
    finish(frontier, 2)
    assert all_taken(frontier, 9.0) == [tag.url]


def test_a_better_one_that_comes_later_comes_first() -> None:
    frontier = filled(A + "1", A + "2")
    assert taken(frontier) == A + "1"
    frontier.apply_reply(BatchReply([a_lease(3, A + "3", 2)]), 0.0)
    assert taken(frontier) is None
    finish(frontier)
    assert taken(frontier) == A + "3"


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_a_host_has_only_so_many_out(at_once: int) -> None:
    frontier = filled(*(f"{A}{n}" for n in range(5)), B, pace=several(at_once))
    assert all_taken(frontier) == [f"{A}{n}" for n in range(at_once)] + [B]
    finish(frontier)
    assert all_taken(frontier) == [f"{A}{at_once}"]


def test_workers_share_a_host() -> None:
    rows = [(4, 1, True, 4), (4, 2, True, 2), (4, 3, True, 1), (4, 9, True, 1), (4, 2, False, 4), (1, 2, True, 1)]
    for at_once, workers, shared, expected in rows:
        pace = several(at_once, shared=shared)
        frontier = filled(*(f"{A}{n}" for n in range(9)), pace=pace, workers=workers)
        assert len(all_taken(frontier)) == expected


def test_a_host_may_have_a_number_of_its_own_on_all_ports() -> None:
    pace = LimitSettings(of_hosts={"b.example": 2})
    other = "http://b.example:81/"
    frontier = filled(A + "1", A + "2", other + "1", other + "2", other + "3", pace=pace)
    assert len(all_taken(frontier)) == 3


def test_a_host_rests_until_its_time() -> None:
    frontier = filled(A, B)
    frontier.hosts.rest("a.example", 10)
    frontier.hosts.rest("a.example", 5)
    assert all_taken(frontier) == [B]
    assert (frontier.queues.ready_in(4), frontier.queues.ready_in(11)) == (6, 0)
    assert (frontier.hosts.is_resting("a.example", 9.9), frontier.hosts.is_resting("a.example", 10)) == (True, False)
    assert (taken(frontier, 9.99), taken(frontier, 10), frontier.queues.ready_in(10)) == (None, A, None)


def test_a_rest_that_begins_while_another_is_waited_for_counts() -> None:
    frontier = filled(A)
    frontier.hosts.rest("a.example", 5)
    assert taken(frontier) is None
    frontier.hosts.rest("a.example", 8)
    assert [taken(frontier, 5), taken(frontier, 7.9), taken(frontier, 8)] == [None, None, A]


def test_a_slow_host_is_asked_once_in_an_interval() -> None:
    frontier = filled(A + "1", A + "2", A + "3", B + "1", B + "2", pace=several(9))
    frontier.hosts.set_crawl_delay("a.example", 2)
    frontier.hosts.set_crawl_delay("unknown.example", 2)
    assert all_taken(frontier) == [A + "1", B + "1", B + "2"]
    assert [taken(frontier, now) for now in (1.9, 2, 2, 3.9, 4)] == [None, A + "2", None, None, A + "3"]
    assert frontier.batch(4).crawl_delays == {ord("a"): 2}


@pytest.mark.parametrize(("interval", "pause", "wait"), [(0, 3, 3), (5, 3, 5), (3, 5, 5)])
def test_the_longer_of_pause_and_interval_counts(interval: float, pause: float, wait: float) -> None:
    frontier = filled(A + "1", A + "2", pace=several(9, interval=lambda name: pause))
    frontier.hosts.set_crawl_delay("a.example", interval)
    assert taken(frontier, 1) == A + "1"
    assert [taken(frontier, wait + 0.9), taken(frontier, wait + 1)] == [None, A + "2"]


def test_the_pause_begins_when_the_request_is_sent() -> None:
    """The request for robots.txt, for instance, was sent before it."""
    sent = {"a.example": 0.0}
    frontier = filled(A + "1", A + "2", pace=several(1, interval=lambda name: 1.0, sent_at=lambda name: sent[name]))
    assert [taken(frontier, now) for now in (0.9, 1.0)] == [None, A + "1"]
    sent["a.example"] = 1.8
    finish(frontier)
    assert [taken(frontier, 2.0), frontier.queues.ready_in(2.0)] == [None, pytest.approx(0.8)]
    assert taken(frontier, 2.8) == A + "2"


@pytest.mark.parametrize("max_pages", [None, 10_000, 3])
def test_a_ready_host_waits_for_no_better_page_of_another(max_pages: int | None) -> None:
    frontier = Frontier(KEYS, LimitSettings(interval=lambda name: 1.0), max_pages)
    frontier.apply_reply(BatchReply([a_lease(1, A, priority=999), a_lease(2, B, priority=1)]), 0.0)
    frontier.hosts.rest("a.example", 0.5)
    assert [taken(frontier, now) for now in (0.0, 0.4, 0.5)] == [B, None, A]


def test_the_last_pages_are_given_back_for_much_better_ones() -> None:
    """Or a better page could not be claimed: all that the crawl may have is at hand."""
    rows = [
        (None, AddressKind.LINK, 800, False),
        (64, AddressKind.LINK, 800, True),
        (65, AddressKind.LINK, 800, False),
        (64, AddressKind.LINK, 202, True),
        (64, AddressKind.LINK, 200, False),
        (64, AddressKind.IMAGE, 800, False),
    ]
    for max_pages, kind, found, is_returned in rows:
        frontier = Frontier(KEYS, LimitSettings(), max_pages)
        frontier.apply_reply(BatchReply([a_lease(1, A, priority=900), a_lease(2, B, priority=100, kind=kind)]), 0.0)
        assert taken(frontier) == A
        finish(frontier, links=[Candidate(C, found)])
        assert [one.candidate.url for one in frontier.batch(0.0).returned] == ([B] if is_returned else [])


# What becomes of what was taken.


def test_a_lease_ends_once() -> None:
    frontier = filled(A + "1", A + "2", A + "3")
    assert taken(frontier) == A + "1"
    assert [finish(frontier, lease_id) for lease_id in (1, 1, 12345)] == [True, False, False]
    assert frontier.ended == 1
    assert all_taken(frontier) == [A + "2"]
    assert len(frontier.batch(0).ended) == 1


@pytest.mark.parametrize(
    ("kind", "outcome", "pages"),
    [(AddressKind.LINK, None, 1), (AddressKind.IMAGE, None, 0), (AddressKind.LINK, LOST, 0)],
)
def test_only_pages_that_were_stored_count(kind: AddressKind, outcome: Outcome | None, pages: int) -> None:
    frontier = filled()
    frontier.apply_reply(BatchReply([a_lease(1, A, kind=kind)]), 0.0)
    taken(frontier)
    finish(frontier, outcome=outcome)
    frontier.batch(0)
    assert frontier.pages == 0  # until it is committed
    frontier.apply_reply(BatchReply(), 0.0)
    assert frontier.pages == pages
    frontier.batch(0)
    frontier.apply_reply(BatchReply(), 0.0)
    assert frontier.pages == pages


def test_pages_of_a_batch_that_was_lost_do_not_count() -> None:
    frontier = filled(A)
    taken(frontier)
    finish(frontier)
    frontier.batch(0)
    frontier.forget()
    frontier.apply_reply(BatchReply(), 0.0)
    assert frontier.pages == 0


@pytest.mark.parametrize(("links", "goes_on"), [(9, True), (10, True), (11, False)])
def test_nothing_is_asked_for_while_very_many_links_wait_to_be_committed(
    monkeypatch: pytest.MonkeyPatch, links: int, goes_on: bool
) -> None:
    monkeypatch.setattr(frontier_module, "LINKS_AT_ONCE", 10)
    frontier = filled(A, B)
    taken(frontier)
    finish(frontier, links=[Candidate(f"{C}{n}") for n in range(links)])
    assert (frontier.take(0.0) is not None) == goes_on
    frontier.batch(0)
    if not goes_on:
        assert frontier.take(0.0) is None
        frontier.apply_reply(BatchReply(), 0.0)
        assert frontier.take(0.0) is not None


def test_a_rest_is_told_at_once_though_the_host_is_at_hand() -> None:
    frontier = filled(A, A + "2")
    taken(frontier)
    frontier.hosts.rest("a.example", 30.0)
    frontier.hosts.rest("b.example", 30.0)  # of which nothing is at hand
    assert frontier.batch(10.0).rests == {97: 20.0}
    assert frontier.batch(10.0).rests == {}


def test_a_worker_taken_for_dead_still_knows_what_is_closed() -> None:
    frontier = filled(A, A + "2")
    frontier.hosts.close("a.example")
    frontier.forget()
    assert frontier.batch(0).closed == {"a.example": Code.HOST_CLOSED}
    frontier.apply_reply(BatchReply([a_lease(7, A)]), 0.0)
    batch = frontier.batch(0)
    assert ([one.lease.id for one in batch.ended], batch.rests_of_dropped_hosts) == ([7], {97: 0.0})


def test_an_end_tells_all_that_the_page_caused() -> None:
    frontier = filled(A, B)
    assert all_taken(frontier) == [A, B]
    result = PageResult(
        record={"url": A},
        links=(Candidate(C), Candidate(C + "2")),
        lessons=((LessonKind.HOME, A),),
        templates=(Template("a.example", "a", "Menu"),),
        verdict={"noise": True},
        validators={"etag": "1"},
    )
    assert frontier.finish(1, result)
    assert not frontier.finish(77, result)
    assert frontier.finish(2, PageResult(LOST))
    of_a, of_b = PatternUse("/", Usefulness.USEFUL, Usefulness.USEFUL), PatternUse("/", Usefulness.USELESS)
    ended = [(one.lease.id, one.result) for one in frontier.batch(0).ended]
    assert ended == [(1, replace(result, pattern_use=of_a)), (2, PageResult(LOST, pattern_use=of_b))]
    assert frontier.batch(0).ended == []


def test_images_are_counted_by_the_sites_of_their_pages() -> None:
    frontier = filled(A, A + "2", B, C, pace=several(9))
    assert len(all_taken(frontier)) == 4
    for lease_id, pages in ((1, 1), (2, 2), (3, 4)):
        finish(frontier, lease_id, image_counts=Evidence(pages=pages))
    finish(frontier, 4)
    counted = {site: counts.pages for site, counts in frontier.batch(0).evidence.items()}
    assert counted == {97: 3, 98: 4}
    assert frontier.batch(0).evidence == {}


def test_what_is_given_back_waits_again_with_its_load() -> None:
    frontier = filled(A + "1", A + "2")
    assert taken(frontier) == A + "1"
    assert frontier.requeue(1, "load")
    assert not frontier.requeue(1, "load")
    assert not finish(frontier)
    assert taken(frontier) == A + "2"  # it is the oldest now
    finish(frontier, 2)
    again = frontier.take(0)
    assert again is not None
    assert (again.id, again.request) == (1, "load")
    assert [ended.lease.id for ended in frontier.batch(0).ended] == [2]


def test_what_its_host_refused_waits_until_it_answers_something_else() -> None:
    frontier = filled()
    frontier.hosts.host_recovered("a.example")
    frontier.apply_reply(
        BatchReply([a_lease(n, f"{A}{n}", priority) for n, priority in enumerate([9, 7, 5, 5], 1)]), 0.0
    )
    for lease_id in (1, 2):
        assert taken(frontier) == f"{A}{lease_id}"
        assert frontier.requeue(lease_id, "load", refused=True)
    assert len(frontier) == 4
    for lease_id in (3, 1, 2, 4):
        assert taken(frontier) == f"{A}{lease_id}"
        frontier.hosts.host_recovered("a.example")
        finish(frontier, lease_id)
    assert len(frontier) == 0


@pytest.mark.parametrize(("brought", "next_one"), [([], A + "1"), ([a_lease(2, A + "2")], A + "2")])
def test_what_its_host_refused_waits_until_more_of_the_host_was_asked_for(brought: list[Lease], next_one: str) -> None:
    frontier = filled()
    frontier.apply_reply(BatchReply([a_lease(1, A + "1", 9)]), 0.0)
    taken(frontier)
    frontier.hosts.rest("a.example", 5.0)
    frontier.requeue(1, "load", refused=True)
    demand = frontier.batch(0.0).demand  # too early for more
    assert demand is not None
    assert demand.low_hosts == ()
    frontier.apply_reply(BatchReply(), 0.0)
    assert taken(frontier, 5.0) is None
    demand = frontier.batch(5.0 - AWAY_SECONDS).demand
    assert demand is not None
    assert demand.low_hosts == (97,)
    frontier.apply_reply(BatchReply(brought), 5.0 - AWAY_SECONDS)
    assert taken(frontier, 4.9) is None
    assert taken(frontier, 5.0) == next_one


def test_what_its_host_refused_waits_while_the_database_has_more_of_the_host() -> None:
    frontier = filled(A + "1", hosts_with_more={97})
    taken(frontier)
    frontier.requeue(1, "load", refused=True)
    frontier.batch(0.0)
    frontier.apply_reply(BatchReply(hosts_with_more={97}), 0.0)  # there was no room for it
    assert taken(frontier) is None
    frontier.batch(0.0)
    frontier.apply_reply(BatchReply(), 0.0)
    assert taken(frontier) == A + "1"


@pytest.mark.parametrize(("seconds", "next_one"), [(UNUSED_SECONDS - 1, B + "1"), (UNUSED_SECONDS + 1, A + "1")])
def test_what_its_host_refused_waits_for_nothing_that_others_always_come_before(seconds: float, next_one: str) -> None:
    frontier = filled()
    found = [
        a_lease(1, A + "1", 900),
        a_lease(2, A + "2", -5, AddressKind.IMAGE),
        a_lease(3, B + "1", 100),
        a_lease(4, B + "2", 100),
    ]
    frontier.apply_reply(BatchReply(found), 0.0)
    assert taken(frontier) == A + "1"
    frontier.hosts.rest("a.example", 5.0)
    frontier.requeue(1, "load", refused=True)
    frontier.batch(5.0 + seconds)
    assert taken(frontier, 5.0 + seconds) == next_one


def test_what_its_host_refused_waits_at_its_new_priority() -> None:
    frontier = filled()
    frontier.apply_reply(BatchReply([a_lease(1, A + "1", 9), a_lease(2, A + "2", 5)]), 0.0)
    taken(frontier)
    frontier.requeue(1, "load", refused=True)
    frontier.update_priorities({A + "1": 700})
    assert taken(frontier) == A + "2"  # and does not wait for one that the database would have
    frontier.hosts.host_recovered("a.example")
    finish(frontier, 2)
    found = frontier.take(0.0)
    assert found is not None
    assert (found.candidate.url, found.candidate.priority) == (A + "1", 700)


def test_what_its_host_refused_is_given_up_with_the_host() -> None:
    frontier = filled(A + "1", A + "2")
    taken(frontier)
    frontier.requeue(1, "load", refused=True)
    assert frontier.hosts.close("a.example") == 2
    assert sorted(ended.lease.id for ended in frontier.batch(0).ended) == [1, 2]
    assert len(frontier) == 0


def test_a_host_rests_as_another_worker_says() -> None:
    frontier = filled(A, rests={97: 3.0})
    assert taken(frontier, 2.9) is None
    assert taken(frontier, 3.0) == A


def test_a_closed_host_is_asked_no_more() -> None:
    given_up = Outcomes()
    frontier = Frontier(KEYS, LimitSettings(), count_outcome=lambda outcome, by: given_up.update({outcome: by}))
    frontier.apply_reply(BatchReply([a_lease(n, url) for n, url in enumerate((A + "1", A + "2", A + "3", B), 1)]), 0.0)
    assert taken(frontier) == A + "1"
    assert frontier.hosts.outcome_if_closed(A) is None
    assert [frontier.hosts.close("a.example"), frontier.hosts.close("a.example")] == [2, 0]
    assert (frontier.hosts.outcome_if_closed(A), frontier.hosts.outcome_if_closed(B)) == (CLOSED, None)
    frontier.apply_reply(BatchReply([a_lease(5, A + "5")], refused=Outcomes({CLOSED: 7})), 0.0)
    assert given_up == {CLOSED: 10}
    assert not frontier.hosts.is_resting("a.example", 0)
    assert all_taken(frontier) == [B]
    batch = frontier.batch(0)
    assert batch.closed == {"a.example": Code.HOST_CLOSED}
    assert sorted((one.lease.id, one.result.outcome) for one in batch.ended) == [(n, CLOSED) for n in (2, 3, 5)]


def test_a_host_may_be_closed_before_it_is_known() -> None:
    frontier = filled()
    assert frontier.hosts.close("a.example") == 0
    frontier.apply_reply(BatchReply([a_lease(1, A)]), 0.0)
    assert (taken(frontier), frontier.batch(0).closed) == (None, {"a.example": Code.HOST_CLOSED})


def test_what_is_known_is_not_new() -> None:
    frontier = filled(C)
    taken(frontier)
    page, image = Candidate(A), Candidate(A, kind=AddressKind.IMAGE)
    finish(frontier, links=[page, page, image, page, Candidate(B), image])
    assert frontier.seen([A, B, C]) == {A, B}
    assert frontier.batch(0).ended[0].result.links == (page, image, Candidate(B))


def test_what_a_sitemap_says_of_what_is_known_is_worth_hearing() -> None:
    frontier = filled(C)
    taken(frontier)
    finish(frontier, links=[Candidate(A), Candidate(A, lastmod=1e9)])
    assert [link.lastmod for link in frontier.batch(0).ended[0].result.links] == [None, 1e9]


def test_what_is_found_by_a_page_that_is_no_longer_held_is_found_again() -> None:
    frontier = filled(C)
    taken(frontier)
    frontier.forget()
    assert not finish(frontier, links=[Candidate(A)])
    assert not frontier.seen([A])


# Redirects.


def redirected(frontier: Frontier, to: str, answer: Callable[[Batch], BatchReply]) -> tuple[Lease | None, Batch]:
    """The lease that a redirect of lease 1 brings, and the batch that told of it."""

    frontier.batch(0)

    async def ask() -> tuple[Lease | None, Batch]:
        moving = asyncio.ensure_future(frontier.redirect(1, Candidate(to)))
        await asyncio.sleep(0)
        needs_batch = frontier.needs_batch
        batch = frontier.batch(0)
        assert needs_batch == bool(batch.redirects)
        assert not batch.idle
        frontier.apply_reply(answer(batch), 0.0)
        return await moving, batch

    return asyncio.run(ask())


def test_a_redirect_takes_the_place_of_what_was_asked_for() -> None:
    frontier = filled(A, A + "2")
    taken(frontier)
    moved, batch = redirected(frontier, B, lambda batch: BatchReply(redirected={1: a_lease(9, B)}))
    assert (moved, batch.redirects[0].lease.id, batch.redirects[0].to) == (a_lease(9, B), 1, Candidate(B))
    assert not finish(frontier)
    assert [work.lease.id for work in frontier.active] == [9]
    assert all_taken(frontier) == [A + "2"]
    frontier.apply_reply(BatchReply([a_lease(10, B + "2")]), 0.0)
    assert taken(frontier) is None
    assert finish(frontier, 9)
    assert taken(frontier) == B + "2"


def test_a_redirect_to_what_is_known_leads_nowhere() -> None:
    frontier = filled(A)
    taken(frontier)
    assert redirected(frontier, B, lambda batch: BatchReply(redirected={1: None}))[0] is None
    assert finish(frontier)


def test_a_redirect_to_another_spelling_is_the_same() -> None:
    frontier = filled(A)
    taken(frontier)
    moved, batch = redirected(frontier, A + "?utm_source=1", lambda batch: BatchReply())
    assert (moved, batch.redirects) == (a_lease(1, A + "?utm_source=1"), [])


def test_a_redirect_of_what_is_not_held_leads_nowhere() -> None:
    assert asyncio.run(filled().redirect(1, Candidate(A))) is None


def test_who_waits_for_a_redirect_is_told_when_all_is_forgotten() -> None:
    async def ask() -> Lease | None:
        frontier = filled(A)
        taken(frontier)
        moving = asyncio.ensure_future(frontier.redirect(1, Candidate(B)))
        await asyncio.sleep(0)
        frontier.forget()
        return await asyncio.wait_for(moving, 5)

    assert asyncio.run(ask()) is None


def test_nothing_is_left_of_what_is_forgotten() -> None:
    frontier = filled(A, B, C)
    taken(frontier)
    finish(frontier, links=[Candidate(A)], image_counts=Evidence(pages=1))
    taken(frontier)
    frontier.forget()
    assert (all_taken(frontier), len(frontier), frontier.active, frontier.seen([A]), frontier.needs_batch) == (
        [],
        0,
        [],
        set(),
        True,
    )
    assert not finish(frontier, 2)
    batch = frontier.batch(0)
    assert (batch.ended, batch.evidence, batch.idle) == ([], {}, True)


# What it asks the ledger for.


def test_a_frontier_with_nothing_asks_for_much_at_once() -> None:
    frontier = Frontier(KEYS, several(2, requests=16))
    assert frontier.needs_batch
    batch = frontier.batch(0)
    assert batch.idle
    assert batch.demand is not None
    assert batch.demand == ClaimRequest(hosts=32, addresses=64, each_host=4)
    assert not frontier.needs_batch


@pytest.mark.parametrize(("waiting", "pages"), [(3, 1), (4, None), (5, None)])
def test_a_full_hand_asks_for_nothing(waiting: int, pages: int | None) -> None:
    frontier = filled(*(f"http://{n}.example/" for n in range(waiting)), pace=LimitSettings(requests=1))
    demand = frontier.batch(0).demand
    assert (demand and demand.addresses) == pages


@pytest.mark.parametrize(("waiting", "low"), [(3, ()), (2, (97,)), (1, (97,))])
def test_hosts_that_run_low_want_more(waiting: int, low: tuple[int, ...]) -> None:
    demand = filled(*(f"{A}{n}" for n in range(waiting)), pace=several(2)).batch(0).demand
    assert demand is not None
    assert (demand.low_hosts, demand.hosts_in_memory) == (low, (97,))


def test_a_closed_host_wants_no_more() -> None:
    frontier = filled(A, A + "2")
    taken(frontier)
    frontier.hosts.close("a.example")
    demand = frontier.batch(0).demand
    assert demand is not None
    assert (demand.low_hosts, demand.hosts_in_memory) == ((), (97,))


@pytest.mark.parametrize("kept", ["active", "load"])
def test_a_host_that_rests_wants_no_more(kept: str) -> None:
    frontier = filled(A)
    taken(frontier)
    if kept == "load":
        frontier.requeue(1, "load")
    frontier.hosts.rest("a.example", 100)
    demand = frontier.batch(0).demand
    assert demand is not None
    assert (demand.low_hosts, demand.hosts_in_memory) == ((), (97,))


def test_a_fast_host_is_asked_for_more() -> None:
    for asked, each in [(0, 2), (1, 2), (9, 18), (64, 128), (90, MOST_OF_A_HOST)]:
        frontier = filled(*(f"{A}{n}" for n in range(asked + 1)), pace=LimitSettings(requests=99))
        for number in range(1, asked + 1):
            taken(frontier)
            finish(frontier, number)
        demand = frontier.batch(0).demand
        assert demand is not None
        assert demand.each_host == each


def test_a_host_is_asked_for_alone() -> None:
    rows = [(False, 1, True), (False, 2, True), (True, 1, False), (True, 4, False), (True, 5, True)]
    for shared, workers, alone in rows:
        demand = filled(A, pace=several(4, shared=shared), workers=workers).batch(JOINING_SECONDS).demand
        assert demand is not None
        assert demand.keeps_hosts == alone


def test_hosts_are_kept_if_the_workers_are_more_than_the_limit_of_any_host() -> None:
    for workers, alone in ((2, False), (3, True)):
        pace = several(4, shared=True, of_hosts={"b.example": 2})
        demand = filled(A, pace=pace, workers=workers).batch(JOINING_SECONDS).demand
        assert demand is not None
        assert demand.keeps_hosts == alone


@pytest.mark.parametrize(("now", "asks"), [(0.0, False), (JOINING_SECONDS - 0.1, False), (JOINING_SECONDS, True)])
def test_a_worker_that_joins_others_waits_until_they_know(now: float, asks: bool) -> None:
    frontier = filled(workers=2)
    assert (frontier.batch(now).demand is not None) == asks


def test_a_worker_that_others_join_does_not_wait() -> None:
    frontier = filled(A)
    taken(frontier)
    finish(frontier)
    frontier.apply_reply(BatchReply(workers=2), 0.0)
    assert frontier.batch(0).demand is not None


HOSTS = [f"http://{letter}.example/" for letter in "abcdef"]


def test_a_worker_returns_hosts_for_those_that_join() -> None:
    rows = [
        (1, 2, False, HOSTS[1::2]),
        (1, 3, False, [HOSTS[1], HOSTS[2], HOSTS[4], HOSTS[5]]),
        (2, 3, False, HOSTS[2::3]),
        (2, 2, False, []),
        (2, 1, False, []),
        (1, 2, True, []),
    ]
    for before, workers, shared, returned in rows:
        frontier = filled("http://z.example/", *HOSTS, pace=several(4, shared=shared), workers=before)
        taken(frontier)
        finish(frontier)
        frontier.batch(0)
        frontier.apply_reply(BatchReply(workers=workers), 9.0)
        batch = frontier.batch(9)
        assert sorted(lease.candidate.url for lease in batch.returned) == returned
        assert sorted(batch.rests_of_dropped_hosts) == [ord(address_of(url).host[0]) for url in returned]


@pytest.mark.parametrize(
    ("seconds", "claims"), [(0.0, False), (HANDOVER_SECONDS - 0.1, False), (HANDOVER_SECONDS, True)]
)
def test_a_worker_leaves_the_hosts_it_returns_to_those_that_join(seconds: float, claims: bool) -> None:
    frontier = filled(A, A + "2", B)
    all_taken(frontier)
    finish(frontier)
    frontier.apply_reply(BatchReply(workers=2), 9.0)
    demand = frontier.batch(9.0 + seconds).demand
    assert demand is not None
    assert (demand.hosts > 0) == claims


def test_a_host_to_be_returned_wants_no_more_while_a_request_is_active() -> None:
    frontier = filled(C, A, A + "2", B, B + "2")
    assert all_taken(frontier) == [C, A, B]
    finish(frontier)
    frontier.apply_reply(BatchReply(workers=2), 9.0)
    batch = frontier.batch(9)
    assert [lease.candidate.url for lease in batch.returned] == [B + "2"]
    assert batch.demand is not None
    assert batch.demand.low_hosts == (ord("a"),)
    finish(frontier, 4)
    assert frontier.batch(9).rests_of_dropped_hosts == {ord("b"): 0.0}


def test_hosts_that_a_worker_may_ask_are_counted() -> None:
    frontier = filled(A, A + "2", B, C)
    assert frontier.hosts.ready_hosts(0) == 3
    frontier.hosts.rest("b.example", AWAY_SECONDS)
    assert frontier.hosts.ready_hosts(0) == 3
    frontier.hosts.rest("b.example", AWAY_SECONDS + 0.1)
    assert frontier.hosts.ready_hosts(0) == 2


@pytest.mark.parametrize(("max_pages", "links"), [(None, 12), (13, 7), (100, 12)])
def test_links_left_are_those_that_may_still_be_requested(max_pages: int | None, links: int) -> None:
    frontier = Frontier(KEYS, LimitSettings(), max_pages)
    frontier.apply_reply(BatchReply([a_lease(1, A)], waiting=31, unlikely=20, pages=6), 0.0)
    assert frontier.links_left == links


def test_a_host_with_nothing_at_hand_is_let_go() -> None:
    frontier = filled(A, B)
    assert all_taken(frontier) == [A, B]
    finish(frontier)
    batch = frontier.batch(0)
    assert (batch.rests_of_dropped_hosts, batch.demand and batch.demand.hosts_in_memory, batch.idle) == (
        {97: 0.0},
        (98,),
        False,
    )
    finish(frontier, 2)
    batch = frontier.batch(0)
    assert (batch.rests_of_dropped_hosts, batch.idle) == ({98: 0.0}, True)


@pytest.mark.parametrize(("away", "returned"), [(AWAY_SECONDS, []), (AWAY_SECONDS + 0.1, [1, 2])])
def test_a_host_that_rests_for_long_is_let_go(away: float, returned: list[int]) -> None:
    frontier = filled(A, A + "2", B)
    frontier.hosts.rest("a.example", 7 + away)
    batch = frontier.batch(7)
    assert [one.id for one in batch.returned] == returned
    assert batch.rests_of_dropped_hosts == ({97: pytest.approx(away)} if returned else {})
    assert all_taken(frontier, 7 + away) == ([B] if returned else [A, B])
    assert batch.returned == [a_lease(1, A), a_lease(2, A + "2")][: len(returned)]


def test_what_was_asked_for_before_is_kept_while_its_host_rests() -> None:
    frontier = filled(A, A + "2")
    taken(frontier)
    frontier.requeue(1, "load")
    frontier.hosts.rest("a.example", 100)
    batch = frontier.batch(0)
    assert ([one.id for one in batch.returned], batch.rests_of_dropped_hosts, batch.idle) == ([2], {}, False)
    assert taken(frontier, 99) is None
    assert taken(frontier, 100) == A
    assert len(frontier) == 0


@pytest.mark.parametrize(("more", "needs_batch"), [(True, True), (False, False)])
def test_a_host_of_which_more_waits_makes_hungry(more: bool, needs_batch: bool) -> None:
    frontier = filled(A + "1", A + "2", A + "3", hosts_with_more={97} if more else set())
    frontier.batch(0)
    taken(frontier)
    assert not frontier.needs_batch
    finish(frontier)
    taken(frontier)
    assert frontier.needs_batch == needs_batch


def test_an_empty_hand_makes_hungry_when_something_ended() -> None:
    frontier = filled(A)
    frontier.batch(0)
    assert [taken(frontier), taken(frontier)] == [A, None]
    assert not frontier.needs_batch
    finish(frontier)
    assert taken(frontier) is None
    assert frontier.needs_batch


# What the ledger answers.


def test_the_numbers_of_all_workers() -> None:
    frontier = Frontier(KEYS, LimitSettings(), max_pages=7)
    answer = BatchReply([a_lease(1, A)], waiting=5, pages=6, held_by_others=2, workers=3)
    frontier.apply_reply(answer, 0.0)
    assert (len(frontier), frontier.all_pages, frontier.held_by_others, frontier.limits.workers) == (6, 6, 2, 3)
    assert (frontier.full, frontier.over) == (False, False)
    frontier.apply_reply(BatchReply(pages=7, over=True), 0.0)
    assert (frontier.full, frontier.over) == (True, True)


# Random sequences, beside models of the frontier and of the ledger that are too simple to be wrong.

AT_ONCE = {"a.example": 1, "b.example": 2, "c.example": 3, "d.example": 1}
STEPS = "add add add take take take end requeue rest slow".split()


class Pair:
    """A frontier and its model, lists that are searched from end to end; each step is done to both."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.frontier = Frontier(KEYS, LimitSettings(of_hosts=AT_ONCE))
        self.waiting: list[tuple[int, int, int, Candidate]] = []
        self.active: dict[int, Candidate] = {}
        self.ready_at: dict[str, float] = dict.fromkeys(AT_ONCE, 0.0)
        self.interval: dict[str, float] = dict.fromkeys(AT_ONCE, 0.0)
        self.now = 0.0
        self.serial = self.added = self.ended = 0

    def wait(self, lease_id: int, candidate: Candidate) -> None:
        self.serial += 1
        self.waiting.append((-candidate.priority, self.serial, lease_id, candidate))

    def best(self) -> tuple[int, Candidate] | None:
        busy = Counter(address_of(candidate.url).host for candidate in self.active.values())
        for entry in sorted(self.waiting):
            name = address_of(entry[3].url).host
            if busy[name] < AT_ONCE[name] and self.ready_at[name] <= self.now:
                self.waiting.remove(entry)
                self.ready_at[name] = max(self.ready_at[name], self.now + self.interval[name])
                return entry[2:]
        return None

    def add(self, name: str) -> None:
        self.added += 1
        new = a_lease(self.added, f"http://{name}/{self.added}", self.chance.randrange(4))
        self.frontier.apply_reply(BatchReply([new]), self.now)
        self.wait(new.id, new.candidate)

    def take(self, name: str = "") -> bool:
        found, expected = self.frontier.take(self.now), self.best()
        assert (found and (found.id, found.candidate)) == expected
        if found:
            self.active[found.id] = found.candidate
        return found is not None

    def end(self, name: str = "") -> None:
        if self.active:
            lease_id = self.chance.choice(list(self.active))
            del self.active[lease_id]
            self.ended += 1
            assert finish(self.frontier, lease_id)
            assert not finish(self.frontier, lease_id)

    def requeue(self, name: str) -> None:
        if self.active:
            lease_id = self.chance.choice(list(self.active))
            candidate = self.active.pop(lease_id)
            assert self.frontier.requeue(lease_id, "load")
            self.wait(lease_id, candidate)

    def rest(self, name: str) -> None:
        until = self.now + self.chance.choice([1, 5])
        self.frontier.hosts.rest(name, until)
        self.ready_at[name] = max(self.ready_at[name], until)

    def slow(self, name: str) -> None:
        self.interval[name] = self.chance.choice([0, 1, 3])
        self.frontier.hosts.set_crawl_delay(name, self.interval[name])

    def check(self) -> None:
        assert len(self.frontier) == len(self.waiting)
        assert sorted(work.lease.id for work in self.frontier.active) == sorted(self.active)
        assert self.added == len(self.waiting) + len(self.active) + self.ended

    def drain(self) -> None:
        while len(self.frontier) or self.active:
            while self.take():
                pass
            while self.active:
                self.end()
            if not self.take() and len(self.frontier):
                wait = self.frontier.queues.ready_in(self.now)
                assert wait is not None
                self.now += wait


def test_the_order_is_the_model_s() -> None:
    for seed in range(20):
        pair = Pair(seed)
        for _ in range(400):
            pair.now += pair.chance.choice([0, 0, 0.5, 2])
            getattr(pair, pair.chance.choice(STEPS))(pair.chance.choice(list(AT_ONCE)))
            pair.check()
        pair.drain()
        assert pair.ended == pair.added


class Books:
    """A ledger in lists: the addresses of each host that wait, and those that are held."""

    def __init__(self) -> None:
        self.waiting: dict[int, list[Lease]] = {}
        self.held: dict[int, Lease] = {}
        self.next_at: dict[int, float] = {}
        self.ended: list[int] = []
        self.count = 0

    def add(self, links: Iterable[Candidate]) -> None:
        for link in links:
            self.count += 1
            new = a_lease(self.count, link.url, link.priority)
            self.waiting.setdefault(new.host_id, []).append(new)

    def commit(self, batch: Batch, now: float) -> BatchReply:
        for ended in batch.ended:
            self.ended.append(self.held.pop(ended.lease.id).id)
            self.add(ended.result.links)
        for one in batch.returned:
            del self.held[one.id]
            self.waiting[one.host_id].append(one)
        for number, seconds in batch.rests_of_dropped_hosts.items():
            self.next_at[number] = now + seconds
            assert number not in {one.host_id for one in self.held.values()}
        answer = BatchReply(self.lend(batch, now))
        answer.waiting = sum(map(len, self.waiting.values()))
        answer.hosts_with_more = {number for number, waiting in self.waiting.items() if waiting}
        answer.over = batch.idle and not answer.waiting and not answer.leases
        return answer

    def lend(self, batch: Batch, now: float) -> list[Lease]:
        if batch.demand is None:
            return []
        assert set(batch.demand.hosts_in_memory) >= {one.host_id for one in self.held.values()}
        new = [number for number in self.waiting if number not in batch.demand.hosts_in_memory][: batch.demand.hosts]
        ready = [*batch.demand.low_hosts, *(number for number in new if self.next_at.get(number, 0.0) <= now)]
        found = []
        for number in ready:
            waiting = sorted(self.waiting.get(number, []), key=lambda one: (-one.candidate.priority, one.id))
            self.waiting[number], each = waiting[batch.demand.each_host :], waiting[: batch.demand.each_host]
            found += each
        kept, back = found[: batch.demand.addresses], found[batch.demand.addresses :]
        for one in back:
            self.waiting[one.host_id].append(one)
        self.held |= {one.id: one for one in kept}
        return kept


def test_all_that_the_ledger_lends_is_ended_once() -> None:
    for seed in range(10):
        chance, now = random.Random(seed), 0.0
        frontier, books = Frontier(KEYS, LimitSettings(of_hosts=AT_ONCE, requests=3)), Books()
        books.add(Candidate(f"http://{name}/") for name in AT_ONCE)
        while not frontier.over:
            now += chance.choice([0.1, 0.5, 3])
            answer = books.commit(frontier.batch(now), now)
            frontier.apply_reply(answer, now)
            for _ in range(chance.randrange(6)):
                frontier.take(now)
            assert {work.lease.id for work in frontier.active} <= books.held.keys()
            for work in frontier.active:
                lease_id, what = work.lease.id, chance.random()
                if what < 0.2:
                    frontier.requeue(lease_id, "load", refused=what < 0.1)
                elif what < 0.7:
                    urls = [f"http://{chance.choice(list(AT_ONCE))}/" for _ in range(2 if books.count < 200 else 0)]
                    finish(frontier, lease_id, links=[Candidate(url, chance.randrange(3)) for url in urls])
            if what_rests := chance.choice([*AT_ONCE, *[""] * 9]):
                frontier.hosts.rest(what_rests, now + chance.choice([1, 5]))
            assert now < 5_000
        assert sorted(books.ended) == list(range(1, books.count + 1))
        assert not books.held


# Images, which may come to nothing without being asked for.


@pytest.mark.parametrize(("asked", "expected"), [(True, None), (False, A + "2")])
def test_what_was_not_asked_for_costs_its_host_no_pause(asked: bool, expected: str | None) -> None:
    frontier = filled(A + "1", A + "2", pace=LimitSettings(interval=lambda name: 5.0))
    assert taken(frontier) == A + "1"
    finish(frontier, outcome=LOST if asked else NOISE)
    assert taken(frontier, 1.0) == expected


def test_what_was_not_asked_for_does_not_hasten_others() -> None:
    frontier = filled(A + "1", A + "2", A + "3", pace=several(3, interval=lambda name: 5.0))
    assert [taken(frontier, now) for now in (0.0, 5.0)] == [A + "1", A + "2"]
    finish(frontier, outcome=NOISE)
    assert [taken(frontier, now) for now in (6.0, 10.0)] == [None, A + "3"]


def test_an_address_is_remembered_as_what_it_was_met_as() -> None:
    frontier = filled(A, pace=several(9))
    taken(frontier)
    refused = Candidate(B, sight="s")
    finish(frontier, links=[refused, refused, Candidate(B, kind=AddressKind.IMAGE, sight="s"), Candidate(B)])
    assert [frontier.seen([B], sort) for sort in (AddressKind.LINK, AddressKind.IMAGE_LINK, AddressKind.IMAGE)] == [
        {B}
    ] * 3
    assert [link.kind_as_seen for link in frontier.batch(0).ended[0].result.links] == [
        AddressKind.IMAGE_LINK,
        AddressKind.IMAGE,
        AddressKind.LINK,
    ]


# New prices, and what is learned.


def priced(*found: tuple[str, int], at_once: int = 9) -> Frontier:
    """A frontier with these addresses at hand, at these priorities."""
    frontier = filled(pace=several(at_once))
    frontier.apply_reply(BatchReply([a_lease(number, *one) for number, one in enumerate(found, 1)]), 0.0)
    return frontier


def test_what_is_at_hand_changes_its_place_at_once() -> None:
    frontier = priced((A + "1", 5), (A + "2", 4), (B, 3), (C, 2))
    frontier.update_priorities({A + "1": 1, C: 9, A + "2": 4})
    assert all_taken(frontier) == [C, A + "2", B, A + "1"]


def test_of_equals_the_first_that_came_still_comes_first() -> None:
    frontier = priced((A + "1", 5), (A + "2", 4), (A + "3", 3))
    frontier.update_priorities({A + "3": 7, A + "1": 7, A + "2": 7})
    assert all_taken(frontier) == [A + "1", A + "2", A + "3"]


def test_a_host_that_rests_changes_its_place_too() -> None:
    frontier = priced((A, 5), (B, 4), (C, 3))
    for name in "abc":
        frontier.hosts.rest(f"{name}.example", 2.0)
    assert taken(frontier) is None
    frontier.update_priorities({C: 9, A: 1})
    assert all_taken(frontier, 2.0) == [C, B, A]


def test_seeds_and_images_keep_their_priorities() -> None:
    frontier = filled(pace=several(9))
    refused = a_lease(3, C)
    answer = [
        a_lease(1, A, 5, AddressKind.IMAGE),
        a_lease(2, B, 4, AddressKind.SEED),
        replace(refused, candidate=Candidate(C, 3, sight="s")),
    ]
    frontier.apply_reply(BatchReply(answer), 0.0)
    frontier.update_priorities({A: 1, B: 1, C: 9})
    assert all_taken(frontier) == [A, B, C]


def test_what_is_out_or_done_is_left_alone() -> None:
    frontier = priced((A, 5), (B, 4))
    assert all_taken(frontier) == [A, B]
    finish(frontier)
    frontier.update_priorities({A: 9, B: 9})
    assert [work.lease.candidate.priority for work in frontier.active] == [4]
    frontier.requeue(2, "load")
    assert taken(frontier) == B


def test_prices_are_told_with_the_next_batch_the_newest_of_each() -> None:
    frontier = priced((A, 5))
    frontier.update_priorities({A: 7, C: 8})
    frontier.update_priorities({A: 6, B: 3})
    assert frontier.batch(0).priorities == {A: 6, C: 8, B: 3}
    assert frontier.batch(0).priorities == {}


def test_what_is_put_back_keeps_its_price() -> None:
    frontier = priced((A, 5), (B, 4))
    frontier.update_priorities({A: 7, B: 4})
    frontier.batch(0)
    frontier.hosts.rest("a.example", 100)
    frontier.hosts.rest("b.example", 100)
    batch = frontier.batch(0)
    assert [one.candidate.url for one in batch.returned] == [A, B]
    assert batch.priorities == {A: 7}


@pytest.mark.parametrize("by_the_page_itself", [True, False])
def test_links_have_the_latest_prices(by_the_page_itself: bool) -> None:
    frontier = priced((A, 5))
    taken(frontier)
    found, priorities = [Candidate(B, 4), Candidate(C, 3, kind=AddressKind.IMAGE), Candidate(C, 2)], {B: 8, C: 9}
    if not by_the_page_itself:
        frontier.update_priorities(priorities)
    finish(frontier, links=found, priorities=priorities if by_the_page_itself else {})
    batch = frontier.batch(0)
    assert [one.priority for one in batch.ended[0].result.links] == [8, 3, 9]
    assert batch.priorities == priorities


def test_a_host_asked_one_page_at_a_time_waits_for_what_rose() -> None:
    rows = [
        (1, {A + "new": 9}, None),
        (1, {A + "new": 5}, A + "2"),
        (1, {A + "2": 9}, A + "2"),
        (1, {A + "1": 9}, A + "2"),
        (1, {B: 9}, A + "2"),
        (2, {A + "new": 9}, A + "2"),
    ]
    for at_once, priorities, expected in rows:
        frontier = priced((A + "1", 6), (A + "2", 5), at_once=at_once)
        taken(frontier)
        frontier.update_priorities(priorities)
        finish(frontier)
        assert taken(frontier) == expected
        if expected is None:
            assert frontier.needs_batch
            assert [one.candidate.url for one in frontier.batch(0).returned] == [A + "2"]
            frontier.apply_reply(BatchReply([a_lease(7, A + "new", 9)]), 0.0)
            assert taken(frontier) == A + "new"


def test_what_was_learned_goes_with_the_next_batch() -> None:
    frontier = filled()
    frontier.share_model("{}", "[1]")
    frontier.share_model("{}", "[2]")
    assert [frontier.batch(0).learned for _ in range(2)] == [("{}", "[2]"), None]


def test_links_that_were_lent_and_that_wait_no_more_are_news() -> None:
    frontier = Frontier(KEYS, LimitSettings())
    found = [Candidate(A, 5), Candidate(B, 4, requested=C), Candidate(A, 3, kind=AddressKind.SEED, via=FoundBy.SEED)]
    answer = BatchReply([Lease(n, one, 1, 1) for n, one in enumerate(found, 1)], no_longer_queued=[C])
    assert frontier.apply_reply(answer, 0.0) == LinkUpdates(leased=((A, 5), (C, 4)), no_longer_queued=(C,))
    assert frontier.apply_reply(BatchReply(), 0.0) == LinkUpdates(leased=(), no_longer_queued=())


def test_a_link_of_which_nothing_came_waits_no_longer() -> None:
    rows = [
        (Candidate(A), None, []),
        (Candidate(A), LOST, [A]),
        (Candidate(A, requested=B), LOST, [B]),
        (Candidate(A, kind=AddressKind.SEED), LOST, []),
        (Candidate(A, sight=1), LOST, []),
    ]
    for candidate, outcome, gone in rows:
        frontier = filled()
        frontier.apply_reply(BatchReply([Lease(1, candidate, 1, 1)]), 0.0)
        taken(frontier)
        finish(frontier, outcome=outcome, record=None if outcome else {})
        assert list(frontier.apply_reply(BatchReply(), 0.0).no_longer_queued) == gone


def test_the_links_of_a_closed_host_wait_no_longer() -> None:
    frontier = filled(A, B)
    frontier.hosts.close(address_of(A).host)
    assert frontier.apply_reply(BatchReply(), 0.0).no_longer_queued == (A,)
    assert frontier.apply_reply(BatchReply([a_lease(7, A + "new")]), 0.0).no_longer_queued == (A + "new",)


@pytest.mark.parametrize(("count", "asked"), [(3, 3), (4, 4), (5, 4)])
def test_so_many_are_asked_after_in_a_batch(monkeypatch: pytest.MonkeyPatch, count: int, asked: int) -> None:
    monkeypatch.setattr(frontier_module, "ASKED_AFTER", 4)
    frontier = filled()
    frontier.ask_after([A])
    frontier.ask_after(f"{A}{n}" for n in range(count - 1))
    assert len(frontier.batch(0).asked_after) == asked
    assert frontier.batch(0).asked_after == ()


def test_images_are_left_when_no_page_is_queued_or_requested() -> None:
    rows = [
        ({A: AddressKind.IMAGE, f"{A}2": AddressKind.IMAGE, B: AddressKind.IMAGE}, 0, ["a.example", "b.example"]),
        ({A: AddressKind.IMAGE, f"{B}1": AddressKind.IMAGE, f"{B}2": AddressKind.IMAGE}, 0, ["b.example", "a.example"]),
        ({A: AddressKind.IMAGE, B: AddressKind.LINK}, 0, []),
        ({A: AddressKind.IMAGE, B: AddressKind.SEED}, 1, []),
        ({A: AddressKind.IMAGE, f"{A}2": AddressKind.IMAGE}, 1, ["a.example"]),
        ({}, 0, []),
    ]
    for kinds, active, expected in rows:
        frontier = Frontier(KEYS, LimitSettings())
        leases = [
            a_lease(number, url, 0 if kind == AddressKind.IMAGE else 1, kind)
            for number, (url, kind) in enumerate(kinds.items(), 1)
        ]
        frontier.apply_reply(BatchReply(leases), 0.0)
        for _ in range(active):
            taken(frontier)
        assert frontier.images_left() == expected


@pytest.mark.parametrize(
    ("is_try", "kind", "taken"),
    [(False, AddressKind.LINK, False), (True, AddressKind.LINK, True), (False, AddressKind.IMAGE, True)],
)
def test_a_link_that_has_become_unlikely_is_returned(is_try: bool, kind: AddressKind, taken: bool) -> None:
    frontier = Frontier(KEYS, LimitSettings())
    lease = replace(a_lease(1, A, UNLIKELY + 60, kind), is_try=is_try)
    frontier.apply_reply(BatchReply([lease, a_lease(2, B, UNLIKELY - 1, AddressKind.SEED)]), 0.0)
    assert {lease.id for lease in iter(lambda: frontier.take(0.0), None)} == ({1, 2} if taken else {2})
    assert [lease.id for lease in frontier.batch(0.0).returned] == ([] if taken else [1])
