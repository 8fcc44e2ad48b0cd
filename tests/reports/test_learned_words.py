"""The words that the workers of a crawl have learned together."""

import json

import pytest

from crawler.reports.focus_figures import LONGEST, MOST_WORDS, learned_words


def summary(pages: int = 1, **lists: object) -> str:
    return json.dumps({"pages": pages} | lists)


@pytest.mark.parametrize(
    ("summaries", "topic"),
    [
        ([], ()),
        ([summary()], ()),
        ([summary(topic=[["honey", 0.5], ["bee", 0.75]])], (("bee", 0.75), ("honey", 0.5))),
        ([summary(3, topic=[["bee", 1]]), summary(1, topic=[["bee", 0], ["wax", 1]])], (("bee", 0.75), ("wax", 0.25))),
        ([summary(0, topic=[["bee", 1]]), summary(0, topic=[["wax", 0.5]])], (("bee", 0.5), ("wax", 0.25))),
        ([summary(topic=[["b", 0.5], ["a", 0.5]])], (("a", 0.5), ("b", 0.5))),
    ],
)
def test_a_word_weighs_the_mean_by_pages(summaries: list[str], topic: tuple[tuple[str, float], ...]) -> None:
    assert learned_words(summaries).topic == topic


def test_words_that_led_away_are_ranked_by_their_size() -> None:
    words = learned_words([summary(bad=[["a", -0.1], ["b", -3]], good=[["c", 2.0]])])
    assert (words.bad, words.good, words.workers) == ((("b", -3.0), ("a", -0.1)), (("c", 2.0),), 1)


@pytest.mark.parametrize("count", [MOST_WORDS - 1, MOST_WORDS, MOST_WORDS + 1])
def test_there_is_an_end_of_words(count: int) -> None:
    words = learned_words([summary(topic=[[f"word{number}", 1 + number] for number in range(count)])]).topic
    assert len(words) == min(count, MOST_WORDS)
    assert words[0] == (f"word{count - 1}", float(count))


def test_a_long_word_is_cut() -> None:
    words = learned_words([summary(topic=[["a" * (LONGEST + 1), 1], ["b" * LONGEST, 2]])]).topic
    assert [word for word, _ in words] == ["b" * LONGEST, "a" * LONGEST]


def test_links_that_were_let_go_add_up() -> None:
    assert learned_words([summary(let_go=3), summary(let_go=4), summary()]).let_go == 7
