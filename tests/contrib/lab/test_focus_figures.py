"""The figures of pages that a crawl stored."""

import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest

from crawler.contrib.lab import focus_figures
from crawler.contrib.lab.focus_data import FetchedPage, Recall, truth_of
from crawler.contrib.lab.focus_figures import (
    MOST_EXTREMES,
    MOST_POINTS,
    MOST_SITES,
    UNKNOWN,
    WINDOW,
    FocusCounter,
    FocusFigures,
    ranking,
)


def fetched(*relevances: float, **known: object) -> list[FetchedPage]:
    """Pages of these relevances, of which the same is known."""
    return [page(number, relevance, **known) for number, relevance in enumerate(relevances, 1)]


def page(number: int, relevance: float, host: str = "bees.example", **known: object) -> FetchedPage:
    url = f"http://{host}/{number}"
    return replace(FetchedPage(number, url, url, relevance, None, "link"), **known)


def figures(pages: Iterable[FetchedPage], limit: float = 0.5) -> FocusFigures:
    return FocusCounter(limit).take_all(pages).figures()


def test_of_no_page_there_is_nothing_to_say() -> None:
    assert FocusCounter().figures() is None


def test_pages_are_on_topic_from_a_relevance_on() -> None:
    rows = [
        (0.5, [0.5], 1),
        (0.5, [0.499], 0),
        (0.0, [0.0, 0.1], 2),
        (1.0, [1.0, 0.999], 1),
        (0.3, [0.1, 0.3, 0.9], 2),
    ]
    for limit, relevances, on_topic in rows:
        found = figures(fetched(*relevances), limit)
        assert (found.total.pages, found.total.on_topic) == (len(relevances), on_topic)
        assert found.total.harvest == on_topic / len(relevances)
        assert found.total.relevance == pytest.approx(sum(relevances) / len(relevances))


def test_lately_is_the_last_pages() -> None:
    rows = [
        (0, 1, 1.0),
        (1, 0, 0.0),
        (1, 1, 0.5),
        (7, WINDOW - 1, (WINDOW - 1) / WINDOW),
        (7, WINDOW, 1.0),
        (7, WINDOW + 9, 1.0),
    ]
    for off, on, lately in rows:
        found = figures(fetched(*[0.0] * off, *[1.0] * on))
        assert found.lately == lately
        assert found.course[-1].harvest == on / (off + on)


def test_the_course_is_thinned_evenly_and_keeps_the_last_point() -> None:
    for count in [1, 2, MOST_POINTS - 1, MOST_POINTS, MOST_POINTS + 1, 3 * MOST_POINTS + 1, 12_345]:
        course = figures(fetched(*[1.0, 0.0] * (count // 2 + 1))[:count]).course
        assert len(course) <= MOST_POINTS
        assert course[-1].pages == count
        steps = {after.pages - before.pages for before, after in pairwise(course[:-1])}
        assert len(steps) <= 1
        assert count < MOST_POINTS or len(course) >= MOST_POINTS // 2
        assert all(point.on_topic == (point.pages + 1) // 2 for point in course)


def test_figures_can_be_had_at_any_time() -> None:
    taken = FocusCounter()
    for number in range(1, 1_300):
        taken.take(page(number, 1.0))
        found = taken.figures()
        assert found.course[-1].pages == found.total.pages == number


def test_ways_are_the_most_frequent_first() -> None:
    ways = [("link", 1.0), ("seed", 0.0), ("link", 0.0), (None, 1.0), ("link", 1.0)]
    found = figures([page(number, relevance, via=via) for number, (via, relevance) in enumerate(ways)])
    assert [(one.name, one.pages, one.on_topic) for one in found.ways] == [
        ("link", 3, 2),
        (UNKNOWN, 1, 1),
        ("seed", 1, 0),
    ]


def test_sites_are_those_with_the_most_on_topic_first() -> None:
    pages = [
        page(1, 0.0, "www.large.org"),
        page(2, 0.6, "news.large.org"),
        page(3, 0.7, "small.org", link_score=0.5),
        page(4, 0.9, "small.org"),
        page(5, 0.0, "other.org"),
    ]
    sites = figures(pages).sites
    assert [(one.name, one.pages, one.on_topic) for one in sites] == [
        ("small.org", 2, 2),
        ("large.org", 2, 1),
        ("other.org", 1, 0),
    ]
    assert [one.best for one in sites] == [pages[3].url, pages[1].url, pages[4].url]
    assert [one.link_score for one in sites] == [0.5, None, None]


@pytest.mark.parametrize(("count", "others"), [(MOST_SITES, None), (MOST_SITES + 1, 1), (MOST_SITES + 7, 7)])
def test_of_many_sites_the_others_are_counted(count: int, others: int | None) -> None:
    found = figures(page(number, 1.0, f"{number}.example.net", link_score=1.0) for number in range(count))
    assert found.site_count == 1  # names under one domain
    found = figures(page(number, float(number < MOST_SITES), f"site{number}.net") for number in range(count))
    assert (len(found.sites), found.site_count) == (min(count, MOST_SITES), count)
    assert (found.others and found.others.pages) == others
    assert found.others is None or found.others.on_topic == 0


def test_tenths_of_the_link_score() -> None:
    scored = [(0.0, 0.1), (0.0999, 0.2), (0.1, 1.0), (0.95, 0.9), (1.0, 0.7), (1.2, 0.8), (-0.1, 0.3), (None, 1.0)]
    found = figures(page(number, relevance, link_score=score) for number, (score, relevance) in enumerate(scored))
    tenths = {place: one for place, one in enumerate(found.tenths) if one is not None}
    assert {place: one.pages for place, one in tenths.items()} == {0: 3, 1: 1, 9: 3}
    assert tenths[9].relevance == pytest.approx(0.8)
    assert tenths[0].on_topic == 0


def test_the_ranking_is_that_of_all_pairs() -> None:
    rows = [
        ([0.1, 0.2], [0.3, 0.4], 1.0),
        ([0.3, 0.4], [0.1, 0.2], 0.0),
        ([0.3], [0.3], 0.5),
        ([0.1, 0.4], [0.3], 0.5),
        ([0.1], [], None),
        ([], [], None),
    ]
    for off, on, expected in rows:
        pages = [page(number, 0.0, link_score=score) for number, score in enumerate(off)]
        pages += [page(number, 1.0, link_score=score) for number, score in enumerate(on)]
        assert figures([*pages, page(99, 0.0)]).ranking == expected


def test_the_ranking_is_that_of_scores_apart() -> None:
    draw = random.Random(5)
    off, on = ([draw.random() ** power for _ in range(60)] for power in (2, 1))
    pairs = [(a < b) + (a == b) / 2 for a in (round(1000 * x) for x in off) for b in (round(1000 * x) for x in on)]
    pages = [page(0, 0.0, link_score=score) for score in off] + [page(0, 1.0, link_score=score) for score in on]
    assert figures(pages).ranking == pytest.approx(sum(pairs) / len(pairs))
    assert ranking([], []) is None


def test_the_best_and_the_worst_pages() -> None:
    relevances = [number / 100 for number in range(30)]
    found = figures(fetched(*relevances))
    assert found.best == tuple(range(30, 30 - MOST_EXTREMES, -1))
    assert found.worst == tuple(range(1, 1 + MOST_EXTREMES))


def test_of_pages_alike_the_first_are_named() -> None:
    found = figures(fetched(*[0.5] * 30))
    assert found.best == found.worst == tuple(range(1, 1 + MOST_EXTREMES))


def test_what_is_kept_does_not_grow_with_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(focus_figures, "MOST_POINTS", 10)
    taken = FocusCounter()
    taken.take_all(page(number, number % 7 / 7) for number in range(5_000))
    sizes = [len(vars(taken)[name]) for name in ("_course", "_recent", "_best", "_worst", "_sites", "_ways", "_tenths")]
    assert sizes == [pytest.approx(7, abs=3), WINDOW, MOST_EXTREMES, MOST_EXTREMES, 1, 1, 10]


def test_the_course_has_what_was_met_of_the_truth() -> None:
    truth = truth_of(["http://bees.example/2", "http://bees.example/4", "http://bees.example/9"], str)
    taken = FocusCounter(0.5, truth).take_all(fetched(0.9, 0.9, 0.9, 0.1))
    found = taken.figures()
    assert [point.found for point in found.course] == [0, 1, 1, 2]
    assert found.truth == Recall(3, 2, 1, 1, 3, pytest.approx(0.61), 0.25)
    assert found.truth.recall == 2 / 3
    assert figures(fetched(1.0)).truth is None
