"""Samples of what workers did: kept, thinned as they age, and read as the course of a crawl."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select
from store_workers import Crew, candidates, stored

from crawler.frontier.batch import SAMPLE_COUNTS, Batch, WorkerSample
from crawler.reports.throughput import sample_points
from crawler.store.batch.chart_samples import (
    DAY,
    HOUR,
    MINUTE,
    SAMPLES_BETWEEN_MERGES,
    SampleWriter,
    merge_old_samples,
)
from crawler.store.crawl_tables import crawl, sample

NOW = 1_800_000_000.0


@pytest.fixture
def crawl_id(engine: Engine) -> int:
    with engine.begin() as connection:
        new = insert(crawl).values(name="crawl", seeds="[]", started_at=0.0).returning(crawl.c.id)
        return int(connection.execute(new).scalar_one())


def rows(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(select(sample).order_by(sample.c.at, sample.c.number)).all())


def fill(engine: Engine, crawl_id: int, times: list[float], number: int = 1, **known: Any) -> None:
    """Rows of five seconds that begin at these times; each number is told from others."""
    draw = Random(number)
    made = []
    for at in times:
        numbers = {name: draw.randrange(100) for name in SAMPLE_COUNTS}
        made.append({"crawl_id": crawl_id, "at": at, "number": number, "seconds": 5.0, "waiting": int(at) % 1_000})
        made[-1] |= {"statuses": json.dumps({"200": draw.randrange(9), "none": 1}), **numbers, **known}
    with engine.begin() as connection:
        connection.execute(insert(sample), made)


def sums(engine: Engine) -> tuple[Any, ...]:
    """All that is added up, whatever rows it stands in."""
    found, statuses = rows(engine), Counter[str]()
    for row in found:
        statuses.update(json.loads(row.statuses))
    return statuses, *(sum(getattr(row, name) for row in found) for name in ("seconds", *SAMPLE_COUNTS))


# Kept.


def test_samples_lie_one_after_the_other_up_to_now(engine: Engine, crawl_id: int) -> None:
    given = [WorkerSample(1.0, pages=1, statuses={"200": 2, "404": 1}), WorkerSample(4.0, bytes=3_000_000_000)]
    with engine.begin() as connection:
        SampleWriter(crawl_id).save(connection, 7, given, NOW, 99)
    first, second = rows(engine)
    assert (first.at, first.seconds, first.pages, first.statuses) == (NOW - 5, 1.0, 1, '{"200":2,"404":1}')
    assert (second.at, second.seconds, second.bytes, second.statuses) == (NOW - 4, 4.0, 3_000_000_000, "{}")
    assert {(one.number, one.waiting) for one in (first, second)} == {(7, 99)}


def test_two_samples_of_the_very_same_moment_are_one(engine: Engine, crawl_id: int) -> None:
    for _ in range(3):
        with engine.begin() as connection:
            SampleWriter(crawl_id).save(connection, 1, [WorkerSample(5.0, pages=1)], NOW, 0)
    assert [row.pages for row in rows(engine)] == [1]


def test_a_worker_s_samples_are_committed_with_its_pages(crew: Crew) -> None:
    one = crew.join(*candidates("http://a.example/", "http://b.example/"))
    held, other = one.claim()
    one.commit(Batch(ended=[stored(held)], samples=[WorkerSample(1.0, pages=1), WorkerSample(1.0)]))
    assert [(row.number, row.pages, row.waiting) for row in rows(crew.engine)] == [(1, 1, 0), (1, 0, 0)]
    one.commit(Batch(returned=[other], samples=[WorkerSample(1.0)]))
    assert [row.waiting for row in rows(crew.engine)] == [0, 0, 1]


def test_two_workers_have_rows_of_their_own(crew: Crew) -> None:
    one, two = crew.pair(*candidates("http://a.example/"))
    for worker in (one, two):
        worker.commit(Batch(samples=[WorkerSample(1.0, requests=1)]))
    assert sorted(row.number for row in rows(crew.engine)) == sorted({one.session.number, two.session.number})


def test_what_is_committed_twice_is_there_once(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    one = crew.join(*candidates("http://a.example/"))
    (held,) = one.claim()
    batch = Batch(ended=[stored(held)], samples=[WorkerSample(1.0, pages=1)])
    one.session.committer.commit(batch)
    one.session.committer._batch_number -= 1  # as if nobody had heard that it was committed
    one.session.committer.commit(batch)
    assert len(rows(crew.engine)) == 1


@pytest.mark.parametrize(
    ("before", "now", "since"),
    [
        (
            WorkerSample(0.0),
            WorkerSample(1.5, 2, statuses={"200": 2, "none": 0}),
            WorkerSample(1.5, 2, statuses={"200": 2}),
        ),
        (
            WorkerSample(1.0, 2, requests=5, statuses={"200": 4, "404": 1}),
            WorkerSample(3.0, 2, requests=7, statuses={"200": 5, "404": 1, "none": 1}),
            WorkerSample(2.0, 0, requests=2, statuses={"200": 1, "none": 1}),
        ),
    ],
)
def test_what_was_done_since(before: WorkerSample, now: WorkerSample, since: WorkerSample) -> None:
    assert now.since(before) == since


# Thinned.


@pytest.mark.parametrize(
    ("age", "span"), [(HOUR, MINUTE), (DAY, 10 * MINUTE), (30 * DAY, HOUR)], ids=["hour", "day", "month"]
)
def test_old_rows_become_one_in_a_stretch(engine: Engine, crawl_id: int, age: int, span: int) -> None:
    ends = NOW // span * span - age  # where a stretch ends that is just old enough
    old = [ends - span + n * span / 8 for n in range(8)]
    fill(engine, crawl_id, old, pages=1)
    fill(engine, crawl_id, [ends, ends + 5], number=2)
    before, last = sums(engine), rows(engine)[7]
    with engine.begin() as connection:
        assert merge_old_samples(connection, crawl_id, 1, ends + age) == 8
    row, *others = rows(engine)
    assert (row.at, row.seconds, row.pages, row.waiting) == (old[0], 40.0, 8, last.waiting)
    assert len(others) == 2
    assert sums(engine) == before


@pytest.mark.parametrize("age", [HOUR, DAY, 30 * DAY])
def test_what_is_not_old_enough_stays(engine: Engine, crawl_id: int, age: int) -> None:
    span = {HOUR: MINUTE, DAY: 10 * MINUTE, 30 * DAY: HOUR}[age]
    ends = NOW // span * span - age
    smaller = {HOUR: 5, DAY: MINUTE, 30 * DAY: 10 * MINUTE}[age]
    fill(engine, crawl_id, [ends - 2 * smaller, ends - smaller])
    with engine.begin() as connection:
        assert merge_old_samples(connection, crawl_id, 1, ends + age - 1) == 0
    assert len(rows(engine)) == 2


@pytest.mark.long
def test_a_long_crawl_is_thinned_again_and_again_and_nothing_is_lost(engine: Engine, crawl_id: int) -> None:
    """A sample every four minutes for 32 days, thinned as it goes; a second seat is left alone."""
    fill(engine, crawl_id, [NOW - 40 * DAY + n for n in range(5)], number=2)
    begins = NOW // DAY * DAY
    for day in range(0, 32, 4):
        fill(engine, crawl_id, [begins + day * DAY + n * 4 * MINUTE for n in range(4 * 24 * 15)])
        before, ends = sums(engine), begins + (day + 4) * DAY
        with engine.begin() as connection:
            while merge_old_samples(connection, crawl_id, 1, ends):
                pass
        assert sums(engine) == before
    times = [row.at for row in rows(engine) if row.number == 1]
    # Two days an hour apart, twenty-nine ten minutes, and the last as it was.
    assert len(times) == 2 * 24 + 29 * 24 * 6 + 24 * 15
    assert len(rows(engine)) == len(times) + 5


def test_it_is_done_rarely(engine: Engine, crawl_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[float] = []
    monkeypatch.setattr("crawler.store.batch.chart_samples.merge_old_samples", lambda *given: done.append(given[-1]))
    kept = SampleWriter(crawl_id)
    with engine.begin() as connection:
        for n in range(2 * SAMPLES_BETWEEN_MERGES + 3):
            kept.save(connection, 1, [WorkerSample(5.0)], NOW + n, 0)
    assert done == [NOW, NOW + SAMPLES_BETWEEN_MERGES + 1, NOW + 2 * SAMPLES_BETWEEN_MERGES + 2]


# Read.


def test_no_samples(engine: Engine, crawl_id: int) -> None:
    with engine.connect() as connection:
        assert sample_points(connection, crawl_id) == ()


@pytest.mark.parametrize("sessions", [1, 3])
def test_the_course_adds_up(engine: Engine, crawl_id: int, sessions: int) -> None:
    for number in range(1, sessions + 1):
        fill(engine, crawl_id, [NOW + n * 5 + number / 10 for n in range(700)], number)
    statuses, seconds, *numbers = sums(engine)
    waiting = rows(engine)[-1].waiting
    for most in (1, 2, 7, 100, 500, 5_000):
        with engine.connect() as connection:
            points = sample_points(connection, crawl_id, most=most)
        assert 1 <= len(points) <= min(most, 700 * sessions)
        assert len(points) > min(most, 700) / 5
        assert [point.at for point in points] == sorted(point.at for point in points)
        assert sum(point.sums.seconds * point.workers for point in points) == pytest.approx(seconds)
        for name, number in zip(SAMPLE_COUNTS, numbers, strict=True):
            assert sum(getattr(point.sums, name) for point in points) == number
        assert sum((Counter(point.sums.statuses) for point in points), Counter()) == statuses
        assert points[-1].waiting == waiting


def test_workers_side_by_side_are_one_point(engine: Engine, crawl_id: int) -> None:
    for number in (1, 2):
        fill(engine, crawl_id, [NOW + n * 5 + number for n in range(60)], number, pages=50)
    with engine.connect() as connection:
        points = sample_points(connection, crawl_id)
    assert {(one.sums.pages / one.sums.seconds, one.workers) for one in points} == {(20.0, 2)}


def test_the_course_since(engine: Engine, crawl_id: int) -> None:
    fill(engine, crawl_id, [NOW, NOW + 5, NOW + 10], pages=1)
    fill(engine, crawl_id, [NOW], number=2, pages=7)
    with engine.connect() as connection:
        found = sample_points(connection, crawl_id, since=NOW + 5)
        assert sample_points(connection, crawl_id + 1) == ()
    assert [(one.at, one.sums.pages, one.workers) for one in found] == [(NOW + 5, 1, 1), (NOW + 10, 1, 1)]
