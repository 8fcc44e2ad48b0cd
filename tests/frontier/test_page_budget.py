"""When a crawl that cannot have every page waits for a better one, and when it does not."""

from collections.abc import Mapping
from typing import Any

import pytest

from crawler.frontier.batch import BatchReply
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.frontier.page_budget import BATCH, NEAR, PageBudget, PendingPriorities, is_poor
from crawler.frontier.page_result import Candidate, Lease, PageResult
from crawler.store.addresses import AddressKeys
from crawler.urls.canonical import Canonical
from crawler.urls.parsing import host

A, B, C = (f"http://{letter}.example/" for letter in "abc")


def a_lease(lease_id: int, url: str, priority: int, **known: Any) -> Lease:
    number = ord(host(url)[0])
    return Lease(lease_id, Candidate(url, priority, **known), number, number)


def crawl(found: Mapping[str, int], max_pages: int | None = 100, pause: float = 0.0, at_once: int = 1) -> Frontier:
    """A frontier with these addresses at hand, in whose crawl each host has such a pause."""
    pace = LimitSettings(at_once, pause=lambda name: pause)
    frontier = Frontier(AddressKeys(1, Canonical(())), pace, max_pages)
    frontier.apply_reply(BatchReply([a_lease(n, *one) for n, one in enumerate(found.items(), 1)]), 0.0)
    return frontier


def taken(frontier: Frontier, now: float = 0.0) -> str | None:
    one = frontier.take(now)
    return one.candidate.url if one else None


# A host that rests.


@pytest.mark.parametrize(
    ("good", "other", "max_pages", "waits"),
    [
        (800, 399, 100, True),
        (800, 400, 100, False),
        (800, 399, None, False),
        (999, 0, 100, True),
        (1_000, 0, 100, False),
        (10_000, 0, 100, False),
        (10_000, 999, 100, False),
        (800, -1, 100, False),
        (1, 0, 100, True),
        (0, 0, 100, False),
        (-1, -1, 100, False),
    ],
)
def test_a_much_better_page_is_waited_for(good: int, other: int, max_pages: int | None, waits: bool) -> None:
    frontier = crawl({A: good, B: other}, max_pages)
    frontier.hosts.rest("a.example", 3.0)
    assert taken(frontier) == (None if waits else B)
    assert frontier.queues.ready_in(1.0) == 2.0
    assert [taken(frontier, 3.0), taken(frontier, 3.0)] == ([A, B] if waits else [A, None])
    assert frontier.queues.ready_in(3.0) is None


def test_a_seed_waits_for_nothing() -> None:
    frontier = crawl({A: 800, B: 10_000})
    frontier.hosts.rest("a.example", 3.0)
    assert taken(frontier) == B


@pytest.mark.parametrize(("until", "waits"), [(NEAR, True), (NEAR + 0.1, False)])
def test_a_host_that_rests_for_long_is_not_waited_for(until: float, waits: bool) -> None:
    frontier = crawl({A: 800, B: 100})
    frontier.hosts.rest("a.example", until)
    frontier.batch(0.0)
    assert taken(frontier) == (None if waits else B)


@pytest.mark.parametrize(("max_pages", "kept"), [(100, True), (None, False)])
def test_a_host_is_kept_at_hand_that_may_be_waited_for(max_pages: int | None, kept: bool) -> None:
    frontier = crawl({A: 800, B: 800}, max_pages)
    frontier.hosts.rest("a.example", NEAR)
    assert [one.candidate.url for one in frontier.batch(0.0).returned] == ([] if kept else [A])


def test_a_good_host_is_asked_alone_while_it_has_good_pages() -> None:
    found = {f"{A}{n}": 800 for n in range(3)} | {f"{A}poor": 90} | {f"{B}{n}": 100 for n in range(3)}
    frontier = crawl(found, pause=1.0)
    came, now = [], 0.0
    while len(came) < 7:
        one = frontier.take(now)
        if one is None:
            wait = frontier.queues.ready_in(now)
            assert wait is not None
            now += max(wait, 0.001)
            continue
        came.append((one.candidate.url, round(now)))
        frontier.finish(one.id, PageResult())
    assert came == [
        (A + "0", 0),
        (A + "1", 1),
        (A + "2", 2),
        (B + "0", 2),
        (B + "1", 3),
        (A + "poor", 3),
        (B + "2", 4),
    ]


@pytest.mark.parametrize(("pause", "waits"), [(1.0, True), (0.0, False)])
def test_a_host_with_a_pause_is_waited_for_while_its_request_is_out(pause: float, waits: bool) -> None:
    frontier = crawl({A + "1": 800, A + "2": 800, B: 100}, pause=pause)
    assert taken(frontier) == A + "1"
    assert taken(frontier, 2.0) == (None if waits else B)
    if waits:
        assert frontier.queues.ready_in(2.0) == NEAR - 2.0
        frontier.finish(1, PageResult())
        assert [taken(frontier, 2.0), taken(frontier, 2.0)] == [A + "2", B]


def test_a_host_that_does_not_answer_is_not_waited_for() -> None:
    frontier = crawl({A + "1": 800, A + "2": 800, B: 100}, pause=1.0)
    assert [taken(frontier), taken(frontier, NEAR - 0.1), taken(frontier, NEAR)] == [A + "1", None, B]


def test_images_come_while_a_page_waits() -> None:
    frontier = crawl({A: 800, B: 100})
    frontier.apply_reply(BatchReply([a_lease(9, C + "1.png", -3, kind="image")]), 0.0)
    frontier.hosts.rest("a.example", 3.0)
    assert [taken(frontier), taken(frontier)] == [C + "1.png", None]
    assert [taken(frontier, 3.0), taken(frontier, 3.0)] == [A, B]


# What was found a moment ago.


@pytest.mark.parametrize(
    ("found", "other", "waits"), [(800, 399, True), (800, 400, False), (10_000, 399, False), (-1, 399, False)]
)
def test_what_is_found_is_worth_a_batch(found: int, other: int, waits: bool) -> None:
    frontier = crawl({A: 900, B: other}, at_once=2)
    assert taken(frontier) == A
    frontier.batch(0.0)
    frontier.apply_reply(BatchReply(), 0.0)
    frontier.finish(1, PageResult(links=(Candidate(C, found),)))
    assert taken(frontier) == (None if waits else B)
    assert frontier.needs_batch == waits
    if waits:
        batch = frontier.batch(0.0)
        assert [one.candidate.url for one in batch.returned] == [B]  # it makes room
        frontier.apply_reply(BatchReply([a_lease(3, C, found), a_lease(4, B, other)]), 0.0)
        assert [taken(frontier), taken(frontier)] == [C, B]


def test_what_does_not_come_is_not_waited_for() -> None:
    frontier = crawl({A: 900, B: 100})
    assert taken(frontier) == A
    frontier.finish(1, PageResult(links=(Candidate(C, 800),)))
    assert taken(frontier) is None
    frontier.batch(0.0)
    frontier.apply_reply(BatchReply([a_lease(3, B, 100)]), 0.0)
    assert taken(frontier) == B


def test_a_host_let_go_for_its_pause_is_waited_for() -> None:
    frontier = crawl({A: 900, B: 100}, pause=2.0)
    assert taken(frontier) == A
    frontier.finish(1, PageResult(links=(Candidate(A + "2", 800),)))
    batch = frontier.batch(0.5)
    assert batch.resting == {97: 1.5, 98: 0.0}
    frontier.apply_reply(BatchReply([a_lease(3, B, 100)]), 0.5)
    assert [taken(frontier, 0.5), frontier.queues.ready_in(0.5)] == [None, 1.5 + BATCH]
    frontier.apply_reply(BatchReply([a_lease(4, A + "2", 800)]), 2.1)
    assert [taken(frontier, 2.1), taken(frontier, 2.1)] == [A + "2", B]


def test_a_host_that_others_took_is_waited_for_no_longer_than_that() -> None:
    budget = PageBudget()
    budget.promise("a.example", 800, 2.0)
    assert budget.is_poor(100, 2.0 + BATCH - 0.1, 0, ())
    assert not budget.is_poor(100, 2.0 + BATCH, 0, ())
    budget.promise("a.example", 800, 9.0)
    budget.at_hand("a.example")
    assert not budget.is_poor(100, 8.0, 0, ())


# What is coming.


def test_what_is_coming_comes_with_the_next_batch_but_one_at_most() -> None:
    pending = PendingPriorities()
    pending.found.add("a", 5)
    pending.found.add("a", 3)
    pending.found.add("seed", 10_000)
    assert (pending.best_of("a"), pending.best_of("b"), pending.best_page, pending.sent) == (5, None, 5, {})
    pending.send()
    pending.found.add("a", 4)
    pending.found.add("b", -7)
    assert (pending.best_of("a"), pending.best_of("b"), pending.sent.get("a")) == (5, -7, 5)
    pending.received()
    assert (pending.best_of("a"), pending.best_page) == (4, 4)
    pending.send()
    pending.received()
    assert (pending.best_of("a"), pending.best_page) == (None, 0)


@pytest.mark.parametrize(("one", "other", "poor"), [(0, 1, True), (0, 0, False), (499, 999, True), (500, 999, False)])
def test_poor_is_less_than_half(one: int, other: int, poor: bool) -> None:
    assert is_poor(one, other) == poor
