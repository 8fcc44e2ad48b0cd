"""The truth about a topic: addresses that are on it."""

import pytest

from crawler.reports.pages import FetchedPage
from crawler.reports.truth import Recall, truth_of
from crawler.urls.parsing import Canonical


@pytest.mark.parametrize(
    ("line", "addresses"),
    [
        ("http://a.example/b", {"http://a.example/b"}),
        ("  http://a.example/b#top  \n", {"http://a.example/b"}),
        ("HTTP://A.example:80/b?utm_source=x", {"http://a.example/b"}),
        ("http://例え.example/é", {"http://xn--r8jz45g.example/%C3%A9"}),
        ("", set()),
        ("   \n", set()),
        ("# http://a.example/b", set()),
    ],
)
def test_an_address_in_any_spelling_and_lines_without(line: str, addresses: set[str]) -> None:
    truth = truth_of([line], Canonical(["utm_.*"]))
    assert (truth.addresses, truth.faults) == (addresses, ())


@pytest.mark.parametrize("line", ["a.example", "/b", "ftp://a.example/", "http://a.example:99999/", "javascript://a"])
def test_lines_that_hold_no_address_are_named(line: str) -> None:
    assert truth_of(["http://a.example/", line], str).faults == (2,)


def test_the_same_address_twice_is_one() -> None:
    assert len(truth_of(["http://a.example", "http://a.example/#b"], str).addresses) == 1


@pytest.mark.parametrize(
    ("url", "requested", "met"),
    [
        ("http://a.example/1", "http://a.example/1", 1),
        ("http://a.example/new", "http://a.example/1", 1),
        ("http://a.example/2", "http://a.example/old", 1),
        ("http://a.example/2", "http://a.example/1", 2),
        ("http://a.example/1?utm_id=3", "http://a.example/old", 1),
        ("http://a.example/3", "http://a.example/3", 0),
    ],
)
def test_pages_are_known_by_what_was_asked_for_too(url: str, requested: str, met: int) -> None:
    search = truth_of(["http://a.example/1", "http://a.example/2"], Canonical(["utm_.*"])).search()
    for _ in range(2):  # one that comes again is met once
        search.take(FetchedPage(1, url, requested, 0.9, None, None), on_topic=True)
    assert search.count == met
    assert search.found(2) == Recall(2, met, 2 * bool(met), 0, 2)


def test_two_searches_do_not_share_what_they_met() -> None:
    truth = truth_of(["http://a.example/1"], str)
    first = truth.search()
    first.take(FetchedPage(1, "http://a.example/1", "http://a.example/1", 0.1, None, None), on_topic=False)
    assert (first.count, truth.search().count) == (1, 0)
    assert first.found(0) == Recall(1, 1, 0, 1, 0)
