"""Which headers ask for a page only if it changed, and when its stored version was last met again."""

import pytest

from crawler.outcomes import Code
from crawler.recrawl.page_history import (
    DUE,
    UNCONDITIONAL_EVERY,
    ChangeCheck,
    PageChange,
    PageHistory,
    RoundContext,
    Visit,
    conditional_headers,
    history_after,
)
from crawler.recrawl.revisit_interval import EARLIEST, Bounds

DATE = "Mon, 06 May 2024 07:08:09 GMT"
BOTH = {"If-None-Match": '"a"', "If-Modified-Since": DATE}


def test_conditions() -> None:
    rows = [
        (None, {}),
        (PageHistory(), {}),
        (PageHistory(etag='"a"', last_modified=DATE), BOTH),
        (PageHistory(etag='W/"a"'), {"If-None-Match": 'W/"a"'}),
        (PageHistory(last_modified=DATE), {"If-Modified-Since": DATE}),
        (PageHistory(etag='"a"\r\nX: y', last_modified=DATE), {"If-Modified-Since": DATE}),
        (PageHistory(etag='"\x00"', last_modified="蜜蜂"), {}),
        (PageHistory(etag="e" * 1_000), {"If-None-Match": "e" * 1_000}),
        (PageHistory(etag="e" * 1_001), {}),
        (PageHistory(etag=""), {}),
    ]
    for known, expected in rows:
        assert conditional_headers(known, None) == expected


def test_now_and_then_the_whole_page_is_asked_for() -> None:
    asked = [
        bool(conditional_headers(PageHistory(etag='"a"', checks=checks), None))
        for checks in range(2 * UNCONDITIONAL_EVERY)
    ]
    assert asked == ([True] * (UNCONDITIONAL_EVERY - 1) + [False]) * 2


def test_a_page_that_was_not_there_is_asked_for_whole() -> None:
    assert conditional_headers(PageHistory(etag='"a"', gone_count=1), None) == {}


def test_what_another_version_read_is_asked_for_whole() -> None:
    rows = [("1:auto", True), ("1:auto/recall", False), ("2:auto", False), (None, False)]
    for before, asked in rows:
        assert bool(conditional_headers(PageHistory(etag='"a"', extractor_version=before), "1:auto")) is asked


NOW, BEFORE = 1_700_000_000.0, ("2020-01-01T00:00:00+00:00", 304)


def test_when_the_stored_version_was_last_met_again() -> None:
    rows = [
        (ChangeCheck(PageChange.NOT_MODIFIED), ("2023-11-14T22:13:20+00:00", 304)),
        (ChangeCheck(PageChange.SAME, has_same_bytes=True), ("2023-11-14T22:13:20+00:00", 200)),
        (ChangeCheck(PageChange.SAME), BEFORE),  # its text is the same, its bytes are not
        (ChangeCheck(PageChange.MISSING), BEFORE),
        (ChangeCheck(PageChange.NOTHING), BEFORE),
        (ChangeCheck(PageChange.CHANGED), (None, None)),
        (ChangeCheck(PageChange.RENEWED), (None, None)),
    ]
    for check, met_again in rows:
        known = PageHistory(revisited_at=BEFORE[0], revisit_status=BEFORE[1])
        visit = Visit(known, check, None, "", is_seed=False, lastmod=None, validators={}, new_links=0)
        after = history_after(visit, RoundContext(2, NOW, Bounds()))
        assert (after.revisited_at, after.revisit_status) == met_again


def test_a_page_is_gone_when_it_was_absent_on_two_visits_in_a_row() -> None:
    rows = [
        (ChangeCheck(PageChange.MISSING), Code.HTTP_STATUS, True),
        (None, Code.REDIRECTED, True),
        (None, Code.OUTSIDE_SCOPE, True),
        (None, Code.ROBOTS_FORBIDS, True),
        (None, Code.OFF_TOPIC, True),
        (None, Code.NO_TEXT, True),
        (None, Code.HTTP_STATUS, False),
        (None, Code.TIMEOUT, False),
        (None, Code.WALLED, False),
        (None, Code.HOST_WALLED, False),
        (None, Code.HOST_CLOSED, False),
        (None, Code.SITE_BUDGET_SPENT, False),
        (None, Code.ROBOTS_UNREADABLE, False),
        (None, Code.UNPRODUCTIVE, False),
    ]
    for check, code, is_gone in rows:
        known = PageHistory(first_seen="2023-11-01T00:00:00+00:00")
        states = []
        for number in (2, 3, 4):
            nothing = check or ChangeCheck(PageChange.NOTHING)
            visit = Visit(known, nothing, code, "", is_seed=False, lastmod=None, validators={}, new_links=0)
            known = history_after(visit, RoundContext(number, NOW, Bounds()))
            states.append(known.gone_at is not None)
        assert states == [False, is_gone, is_gone]
        back = Visit(
            known, ChangeCheck(PageChange.SAME), None, "", is_seed=False, lastmod=None, validators={}, new_links=0
        )
        assert history_after(back, RoundContext(5, NOW, Bounds())).gone_at is None


def test_an_absent_page_is_requested_at_its_interval_and_a_deleted_one_ever_later() -> None:
    for code, check, misses, pause in (
        (Code.REDIRECTED, PageChange.NOTHING, 1, DUE * Bounds().least),
        (Code.HTTP_STATUS, PageChange.MISSING, 0, Bounds().least),
        (Code.HTTP_STATUS, PageChange.MISSING, 1, Bounds().most),
        (Code.HTTP_STATUS, PageChange.MISSING, 3, 4 * Bounds().most),
        (Code.HTTP_STATUS, PageChange.MISSING, 30_000, 1024 * Bounds().most),
    ):
        known = PageHistory(gone_count=misses)
        visit = Visit(known, ChangeCheck(check), code, "", is_seed=False, lastmod=None, validators={}, new_links=0)
        gone = history_after(visit, RoundContext(2, NOW, Bounds()))
        assert gone.due_at - NOW == pytest.approx(pause), (code, misses)


def test_a_page_that_is_gone_waits_as_long_again_after_a_failure() -> None:
    known = PageHistory(gone_count=3, gone_at="2026-11-30T00:00:00+00:00", due_at=NOW)
    check = ChangeCheck(PageChange.NOTHING)
    visit = Visit(known, check, Code.TIMEOUT, "", is_seed=False, lastmod=None, validators={}, new_links=0)
    after = history_after(visit, RoundContext(5, NOW, Bounds()))
    assert (after.due_at - NOW, after.gone_count) == (pytest.approx(2 * Bounds().most), 3)


def test_a_time_of_a_sitemap_counts_if_it_is_possible_and_the_latest() -> None:
    rows = [
        (None, None, None),
        (None, NOW, NOW),
        (None, NOW + 1, None),
        (None, EARLIEST, EARLIEST),
        (None, EARLIEST - 1, None),
        (NOW - 5, NOW - 9, NOW - 5),
        (NOW - 5, NOW - 2, NOW - 2),
    ]
    for before, lastmod, expected in rows:
        known = PageHistory(lastmod=before)
        same = ChangeCheck(PageChange.SAME)
        visit = Visit(known, same, None, "", is_seed=False, lastmod=lastmod, validators={}, new_links=0)
        assert history_after(visit, RoundContext(2, NOW, Bounds())).lastmod == expected
