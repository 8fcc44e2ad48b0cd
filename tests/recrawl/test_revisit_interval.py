from dataclasses import replace
from math import inf, nan

import pytest

from crawler.recrawl.revisit_interval import DAY, EARLIEST, HOUR, Bounds, CheckHistory, next_interval

NOW = 2e9
BOUNDS = Bounds()
FIRST_SIGHT = CheckHistory(NOW, 0.0, None)
CHECKED = CheckHistory(NOW, 4 * DAY, False)


def test_a_check() -> None:
    rows = [
        (True, 0, False, 2.0),
        (False, 0, False, 6.0),
        (True, 1, False, 1.0),
        (False, 1, False, 3.0),
        (False, 9, False, 3.0),  # how many does not matter
        (False, 0, True, 6.0),
        (False, 1, True, 3.0),
        (False, -1, True, 6.0),
    ]
    for changed, new_links, is_seed, days in rows:
        history = replace(CHECKED, changed=changed, new_links=new_links, is_seed=is_seed)
        assert next_interval(history, BOUNDS) == days * DAY


@pytest.mark.parametrize("interval", [2 * HOUR, DAY, 10 * DAY])
def test_while_an_interval_is_kept_no_more_is_asked(interval: float) -> None:
    history = CheckHistory(NOW, interval, True, lastmod=NOW - 300 * DAY)
    assert next_interval(history, BOUNDS) == interval / 2


def test_bounds() -> None:
    rows = [
        (3 * HOUR, True, 1.5 * HOUR),
        (2 * HOUR, True, HOUR),
        (1.9 * HOUR, True, HOUR),
        (HOUR, True, HOUR),
        (19 * DAY, False, 28.5 * DAY),
        (20 * DAY, False, 30 * DAY),
        (21 * DAY, False, 30 * DAY),
        (30 * DAY, False, 30 * DAY),
        (1.0, False, HOUR),  # the bounds were others before
        (400 * DAY, True, 30 * DAY),
        (1e308, False, 30 * DAY),
        (5e-324, True, HOUR),
    ]
    for interval, changed, expected in rows:
        assert next_interval(replace(CHECKED, interval=interval, changed=changed), BOUNDS) == expected


@pytest.mark.parametrize(("least", "most", "days"), [(DAY, DAY, 1), (3 * DAY, 9 * DAY, 6), (7 * DAY, 9 * DAY, 7)])
def test_bounds_of_ones_own(least: float, most: float, days: float) -> None:
    assert next_interval(CHECKED, Bounds(least, most)) == days * DAY


def test_bounds_that_are_none() -> None:
    rows = [(0, 1), (-1, 1), (2, 1), (nan, 1), (1, nan), (nan, nan), (1, inf), (inf, inf), (-inf, 1)]
    for least, most in rows:
        with pytest.raises(ValueError, match=f"{least} and {most}"):
            Bounds(least, most)


def test_the_first_interval() -> None:
    rows = [
        (None, DAY),
        (NOW - 20 * DAY, 2 * DAY),
        (NOW - 5 * DAY, 12 * HOUR),
        (NOW - 2.5 * DAY, 6 * HOUR),
        (NOW - 2 * DAY, 6 * HOUR),
        (NOW, 6 * HOUR),  # made anew for each visitor
        (NOW + 1, DAY),  # a clock that is wrong
        (NOW - 299 * DAY, 29.9 * DAY),
        (NOW - 301 * DAY, 30 * DAY),
        (EARLIEST, 30 * DAY),
        (EARLIEST - 1, DAY),
        (0.0, DAY),
        (-1e300, DAY),
        (1e300, DAY),
        (nan, DAY),
        (inf, DAY),
        (-inf, DAY),
    ]
    for lastmod, expected in rows:
        assert next_interval(replace(FIRST_SIGHT, lastmod=lastmod), BOUNDS) == pytest.approx(expected, rel=1e-12)


def test_links_of_a_page_seen_for_the_first_time() -> None:
    rows = [(0, False, DAY), (9, False, DAY), (0, True, DAY), (9, True, DAY / 2)]
    for new_links, is_seed, expected in rows:
        history = replace(FIRST_SIGHT, new_links=new_links, is_seed=is_seed)
        assert next_interval(history, BOUNDS) == expected


@pytest.mark.parametrize("checked_at", [0.0, -1.0])
def test_a_crawl_whose_clock_is_wrong(checked_at: float) -> None:
    history = replace(FIRST_SIGHT, checked_at=checked_at, lastmod=NOW)
    assert next_interval(history, BOUNDS) == DAY


@pytest.mark.parametrize(("changed", "expected"), [(None, DAY), (True, DAY / 2), (False, 1.5 * DAY)])
def test_an_interval_that_is_none(changed: bool | None, expected: float) -> None:
    assert next_interval(CheckHistory(NOW, 0.0, changed), BOUNDS) == expected


@pytest.mark.parametrize("every", [6 * HOUR, 2 * DAY, 10 * DAY])
def test_an_interval_comes_to_rest_near_the_time_between_changes(every: float) -> None:
    now, interval, seen = NOW, DAY, []
    for _ in range(1, 200):
        before, now = now, now + interval
        changed = now // every > before // every
        interval = next_interval(CheckHistory(now, interval, changed), BOUNDS)
        seen.append(interval)
    settled = seen[50:]
    assert every / 8 < min(settled) <= max(settled) < 1.5 * every
    assert every / 4 < sum(settled) / len(settled) < every / 1.5
