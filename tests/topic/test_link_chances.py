"""The chance that a link leads to the topic, by its score."""

import pickle
import random

import pytest

from crawler.topic.link_chances import REMEMBERED, JudgedLink, LinkChances


def learned(*links: tuple[float, bool], site: int = 1) -> LinkChances:
    """The chances after links with these scores led to pages on the topic or off it."""
    chances = LinkChances()
    for page, (score, is_on_topic) in enumerate(links):
        chances.add(JudgedLink(score, page, is_on_topic), site, first_seen_on=None)
    return chances


def test_before_much_is_known_the_chance_is_that_of_other_crawls() -> None:
    for min_chance, score in [(0.001, 0.0), (0.03, 0.12), (0.1, 0.22), (0.9, 0.62), (1.0, 0.64)]:
        assert LinkChances().least_score(min_chance) == pytest.approx(score, abs=0.03)


def test_links_that_led_nowhere_raise_the_least_score() -> None:
    before = LinkChances().least_score(0.05)
    after = learned(*[(before + 0.05, False)] * 100).least_score(0.05)
    assert before + 0.05 < after < before + 0.12


def test_links_that_led_to_the_topic_lower_the_least_score() -> None:
    assert learned(*[(0.08, number % 10 == 0) for number in range(100)]).least_score(0.05) <= 0.08


def test_the_chance_is_the_share_of_links_with_about_the_score() -> None:
    draw = random.Random(7)
    scores = [draw.random() for _ in range(REMEMBERED)]
    chances = learned(*((score, draw.random() < score / 2) for score in scores))
    for chance in (0.1, 0.2, 0.3):
        assert chances.least_score(chance) == pytest.approx(2 * chance, abs=0.2)


def test_a_score_that_no_link_reaches() -> None:
    assert learned(*[(1.0, False)] * 500).least_score(0.9) > 1


def test_a_page_counts_that_leads_to_the_topic() -> None:
    chances, hubs = LinkChances(), range(40)
    for page in hubs:
        chances.add(JudgedLink(0.1, page, is_on_topic=False), 1, first_seen_on=None)
    before = chances.least_score(0.05)
    for page in hubs:
        chances.add(JudgedLink(0.9, 100 + page, is_on_topic=True), 1, first_seen_on=page)
    assert chances.least_score(0.05) <= 0.1 < before


def test_the_present_yield() -> None:
    for on_topic, others, share in [(0, 180, 0.0), (180, 0, 0.9), (100, 80, 0.5), (0, 900, 0.0)]:
        chances = learned(*[(0.5, True)] * on_topic, *[(0.5, False)] * others)
        assert chances.present_yield() == pytest.approx(share)
        assert chances.least_promising() == chances.least_score(share / 4)


def test_good_sites_bring_about_as_much_as_the_crawl() -> None:
    chances = learned(*[(0.5, True)] * 100, site=1)
    for site, is_on_topic in ((2, [True] * 4 + [False] * 7), (3, [True] * 4 + [False] * 4)):
        for number, value in enumerate(is_on_topic):
            chances.add(JudgedLink(0.5, 1_000 * site + number, value), site, first_seen_on=None)
    assert chances.good_sites() == [1, 3]


def test_memory_is_bounded() -> None:
    once, thrice = (len(pickle.dumps(learned(*[(0.5, True)] * (count * REMEMBERED)))) for count in (1, 3))
    assert thrice < 1.2 * once


@pytest.mark.parametrize(("others", "least"), [(0, 0.0), (20, 0.0), (200, 0.16)])
def test_a_few_links_say_little_about_small_chances(others: int, least: float) -> None:
    assert learned(*[(0.15, False)] * others).least_possible(0.02) == pytest.approx(least)
