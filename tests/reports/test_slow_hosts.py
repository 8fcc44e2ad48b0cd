"""What a crawl waits for: hosts that take their time, and why; and how it comes to be known how soon they answer."""

from typing import Any

import pytest
from sqlalchemy import select, update
from store_workers import Crew, candidates, stored

from crawler.frontier.batch import Batch
from crawler.frontier.host_latencies import REPORT_SECONDS, HostLatency, LatencyMeter
from crawler.reports import sites
from crawler.reports.sites import SlowHost, SlowReason, slowest
from crawler.store.crawl_tables import crawl, host
from crawler.store.database import database_time
from crawler.topic.priorities import UNLIKELY

ON_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
"""For what does not depend on the database."""


def found(crew: Crew, most: int = 10) -> list[SlowHost]:
    with crew.engine.connect() as connection:
        return list(slowest(connection, connection.execute(select(crawl.c.id)).scalar_one(), most))


def set_host(crew: Crew, name: str, rests: float = 0.0, **known: Any) -> None:
    with crew.engine.begin() as connection:
        known["next_at"] = database_time(connection) + rests
        connection.execute(update(host).where(host.c.name == name).values(**known))


def pages(name: str, number: int) -> list[Any]:
    return candidates(*(f"http://{name}/{n}" for n in range(number)))


@ON_SQLITE
def test_why_a_host_takes_its_time(crew: Crew) -> None:
    crew.join(*pages("a.example", 3))
    nothing_known = {"delay": None, "latency": None, "crawl_delay": 0.0, "closed": None}
    for known, why, seconds in (
        ({}, SlowReason.DELAY, 0),
        ({"delay": 2.0, "latency": 1.5}, SlowReason.DELAY, 6),
        ({"delay": 1.0, "latency": 4.0}, SlowReason.LATENCY, 12),
        ({"delay": 3.0, "latency": 3.0}, SlowReason.LATENCY, 9),
        ({"crawl_delay": 10.0, "delay": 1.0, "latency": 4.0}, SlowReason.PACE, 30),
        ({"crawl_delay": 1.0, "delay": 5.0}, SlowReason.DELAY, 15),
        ({"delay": 2.0, "rests": 3.0}, SlowReason.DELAY, 9),
        ({"delay": 2.0, "rests": 100.0}, SlowReason.RESTS, 106),
        ({"crawl_delay": 60.0, "rests": 50.0}, SlowReason.PACE, 230),
        ({"closed": "site asked to stop (429 or 503)", "rests": 100.0, "delay": 1.0}, SlowReason.CLOSED, 0),
    ):
        set_host(crew, "a.example", **nothing_known | known)
        (one,) = found(crew)
        assert (one.host, one.site, one.why, one.waiting, one.is_counted) == ("a.example", "a.example", why, 3, True)
        assert one.seconds == pytest.approx(seconds, abs=0.5)
        assert (one.delay, one.latency, one.closed) == tuple(map(known.get, ("delay", "latency", "closed")))


@ON_SQLITE
def test_another_worker_has_it(crew: Crew) -> None:
    one, two = crew.pair(*pages("a.example", 3))
    assert len(one.claim(each_host=1)) == 1
    assert not two.claim(each_host=1)
    (host_,) = found(crew)
    assert (host_.why, host_.worker, host_.waiting) == (SlowReason.WORKER, one.session.number, 2)
    two.leave()
    (host_,) = found(crew)
    assert (host_.why, host_.worker) == (SlowReason.DELAY, one.session.number)


@ON_SQLITE
def test_unlikely_links_take_no_time(crew: Crew) -> None:
    unlikely = [f"http://{name}/unlikely/{n}" for name in ("a.example", "b.example") for n in range(5)]
    crew.join(*pages("a.example", 3), *candidates(*unlikely, priority=UNLIKELY + 60))
    assert [(one.host, one.waiting) for one in found(crew)] == [("a.example", 3)]
    with crew.engine.connect() as connection:
        listed = sites.sites(connection, connection.execute(select(crawl.c.id)).scalar_one(), sites.SiteQuery())
    assert {row.name: row.waiting for row in listed.rows} == {"a.example": 3, "b.example": 0}


@ON_SQLITE
def test_the_slowest_come_first(crew: Crew) -> None:
    crew.join(
        *pages("few.example", 2), *pages("many.example", 30), *pages("fast.example", 90), *pages("done.example", 1)
    )
    for name, delay in {"few": 5.0, "many": 1.0, "fast": 0.1, "done": 99.0}.items():
        set_host(crew, f"{name}.example", delay=delay)
    set_host(crew, "done.example", best=None)
    hosts = found(crew)
    assert [(one.host, one.seconds) for one in hosts] == [
        ("many.example", 30),
        ("few.example", 10),
        ("fast.example", pytest.approx(9)),
    ]
    assert [one.host for one in found(crew, 1)] == ["many.example"]
    assert found(crew, 0) == []


@ON_SQLITE
def test_other_crawls_are_no_part_of_it(crew: Crew) -> None:
    crew.join(*pages("a.example", 3))
    crew.join(*pages("b.example", 5), name="other")
    assert [one.host for one in found_of(crew, "other")] == ["b.example"]
    assert found_of(crew, "other")[0].waiting == 5


def found_of(crew: Crew, name: str) -> tuple[SlowHost, ...]:
    with crew.engine.connect() as connection:
        return slowest(connection, connection.execute(select(crawl.c.id).where(crawl.c.name == name)).scalar_one())


def test_a_host_with_very_much_is_found_although_each_request_is_fast(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in {"CANDIDATES": 3, "MOST_COUNTED": 50}.items():
        monkeypatch.setattr(sites, name, number)
    names = [f"h{n}.example" for n in range(20)]
    crew.join(*(one for name in names for one in pages(name, 2)), *pages("large.example", 400))
    for name in names:
        set_host(crew, name, delay=5.0)
    set_host(crew, "large.example", delay=0.5)
    first = found(crew)[0]
    assert (first.host, first.is_counted) == ("large.example", False)
    assert 300 < first.waiting < 440


def test_of_many_hosts_those_are_counted_that_are_asked_most_seldom(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites, "CANDIDATES", 2)
    names = [f"h{n}.example" for n in range(9)]
    crew.join(*(one for name in names for one in pages(name, 2)))
    for name in names:
        set_host(crew, name, delay=1.0)
    set_host(crew, "h6.example", delay=3.0, latency=6.0)
    like_others = {"delay": 1.0, "latency": None, "crawl_delay": 0.0}
    rests = {"rests": 90.0}, {"rests": 60.0, "delay": 7.0}
    for known in ({"delay": 20.0}, {"latency": 20.0}, {"crawl_delay": 20.0}, *rests):
        set_host(crew, "h4.example", **like_others | known)
        assert [slow.host for slow in found(crew, 2)] == ["h4.example", "h6.example"], known


@ON_SQLITE
def test_of_a_host_that_was_not_seen_to_have_many_it_is_said_what_was_counted(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in {"SAMPLE_SIZE": 1, "MOST_COUNTED": 3}.items():
        monkeypatch.setattr(sites, name, number)
    crew.join(*pages("first.example", 1), *pages("middle.example", 5), *pages("last.example", 1))
    middle = next(one for one in found(crew) if one.host == "middle.example")
    assert (middle.waiting, middle.is_counted) == (3, False)


# How soon hosts answer.


def test_a_tempo_is_told_now_and_then() -> None:
    latency = LatencyMeter()
    assert latency.report(100.0, lambda name: 1.0) == {}
    latency.record(1, "a.example", 1.0)
    latency.record(1, "a.example", 2.0)
    latency.record(2, "b.example", 5.0)
    delays = {"a.example": 0.5, "b.example": 7.0}
    assert latency.report(100.0, delays.__getitem__) == {1: HostLatency(1.5, 0.5, 2), 2: HostLatency(5.0, 7.0, 1)}
    assert latency.report(100.0 + 2 * REPORT_SECONDS, delays.__getitem__) == {}
    latency.record(1, "a.example", 3.0)
    assert latency.report(99.9 + REPORT_SECONDS, delays.__getitem__) == {}
    latency.record(1, "a.example", 4.0)
    assert latency.report(100.0 + REPORT_SECONDS, delays.__getitem__) == {1: HostLatency(3.5, 0.5, 2)}
    latency.record(1, "a.example", 4.0)
    latency.is_last = True
    assert latency.report(100.1 + REPORT_SECONDS, delays.__getitem__) == {1: HostLatency(4.0, 0.5, 1)}


def test_latency_is_an_average_and_delay_is_the_last(crew: Crew) -> None:
    one = crew.join(*pages("a.example", 1), *pages("b.example", 1), first_interval=0.5)
    (held, other) = one.claim()
    one.commit(Batch(latencies={held.host_id: HostLatency(1.0, 2.0, 3)}))
    one.commit(Batch(latencies={held.host_id: HostLatency(2.0, 4.0, 1)}))
    known = select(host.c.latency, host.c.delay).where(host.c.id == held.host_id)
    with crew.engine.connect() as connection:
        assert connection.execute(known).one() == (pytest.approx(1.2), 4.0)
        known = select(host.c.latency, host.c.delay).where(host.c.id == other.host_id)
        assert connection.execute(known).one() == (None, 0.5)
    one.end(stored(held), stored(other))


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_nobody_waits_to_tell_of_a_host(crew: Crew) -> None:
    """Another may be at its row just now; what is not told now is told later."""
    one = crew.join(*pages("a.example", 1))
    (held,) = one.claim()
    with crew.engine.begin() as other:
        other.execute(update(host).where(host.c.id == held.host_id).values(crawl_delay=1.0))
        one.session.committer.commit(Batch(latencies={held.host_id: HostLatency(1.0, 2.0, 3)}))
    assert crew.value(select(host.c.latency)) is None
