import numpy as np
import pytest

from crawler.topic import link_scores
from crawler.topic.link_scores import CREDIT, PageCredits


def walked(*relevances: float) -> PageCredits:
    seen = PageCredits()
    for relevance in relevances:
        seen.add(relevance)
    return seen


def test_the_mean() -> None:
    assert walked().mean() == 0.5
    assert walked(0.2, 0.6).mean() == pytest.approx(0.4)


def test_what_a_page_led_to() -> None:
    rows = [
        ([], 0.4, 0.4),
        ([1.0], 0.4 + CREDIT * 1 / 3, (1 + 3 * 0.4) / 4),
        ([1.0, 1.0, 1.0], 0.4 + CREDIT, (3 + 3 * 0.4) / 6),
        ([1.0, 0.0, 0.0, 0.0], 0.4 + CREDIT / 4, (1 + 3 * 0.4) / 7),
        ([0.0], 0.4, 3 * 0.4 / 4),
    ]
    for led_to, worth, track in rows:
        seen = walked(0.4)
        for relevance in led_to:
            seen.record_target([0], relevance)
        assert seen.worth([0]).tolist() == pytest.approx([worth])
        assert seen.track([0]).tolist() == pytest.approx([track])


def test_the_first_that_showed_it_has_the_credit() -> None:
    seen = walked(0.0, 0.0, 0.0)
    seen.record_target([1, 0, 1, 0], 1.0)
    assert seen.worth([0, 1, 2]).tolist() == pytest.approx([0, CREDIT / 3, 0])
    assert seen.track([0, 1, 2]).tolist() == pytest.approx([1 / 4, 1 / 4, 0])
    seen.record_target([], 1.0)
    assert seen.worth([0, 1, 2]).tolist() == pytest.approx([0, CREDIT / 3, 0])


def test_links_to_pages_known_before() -> None:
    seen = walked(0.2, 0.8)
    seen.record_known_target(0, 1)
    assert seen.track([0, 1]).tolist() == pytest.approx([(0.8 + 3 * 0.2) / 4, 0.8])
    assert seen.worth([0]).tolist() == pytest.approx([0.2])


def test_pages_are_judged_anew() -> None:
    seen = walked(0.2, 0.8, 0.5)
    seen.set_relevance([2, 0], np.array([0.1, 0.4]))
    assert seen.worth([0, 1, 2]).tolist() == pytest.approx([0.4, 0.8, 0.1])


def test_many_pages() -> None:
    for pages in [1023, 1024, 1025, 5_000]:
        seen = walked(*(n / pages for n in range(pages)))
        assert seen.pages == seen.count == pages
        assert seen.worth(range(pages)).tolist() == pytest.approx([n / pages for n in range(pages)])


def test_the_numbers_of_the_first_are_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_scores, "MOST_PAGES", 3)
    seen = walked(0.9, 0.9)
    seen.record_target([0, 1], 1.0)
    assert [seen.add(0.3), seen.count, seen.pages] == [2, 3, 3]
    assert [seen.add(0.1), seen.count, seen.pages] == [0, 3, 4]
    assert [*seen.worth([0]), *seen.track([0])] == pytest.approx([0.1, 0.1])
    assert seen.track([1]).tolist() == pytest.approx([(1 + 3 * 0.9) / 4])
    assert seen.mean() == pytest.approx((0.1 + 0.9 + 0.3) / 3)
