"""What workers tell each other, and a run the next one."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from crawler.topic.focus import TopicFocus
from crawler.topic.link_scores import FocusOptions
from crawler.topic.link_table import LinkContext
from crawler.topic.shared_model import MOST_PAGES
from crawler.topic.topic import Topic

BEES = "Honey bees make honey, and bees make wax in the hive of their colony."
CARS = "Cars run on roads, and their engines burn petrol in four strokes."
EXAMPLE = Topic(examples=("Bees and their hive.",))
MIXED = ["The colony makes wax.", "Petrol for bees.", "A hive by the roads.", "Nothing of all that.", "wax wax honey"]


def worker(worker_number: int, topic: Topic = EXAMPLE, start: int = 0, pages: int = 12) -> TopicFocus:
    """What has fetched some pages of bees and cars, each of which a link led to."""
    made = TopicFocus(topic, FocusOptions(), worker_number)
    made.learn_page("http://a.example/", "", BEES)
    for number in range(start, start + pages):
        url, text, anchor = f"http://a.example/{number}", *((BEES, "hive") if number % 3 else (CARS, "engine"))
        made.queue_links("http://a.example/", [LinkContext(url, anchor)])
        made.learn_page(url, f"Number {number}", f"{text} Word{number} stands here.")
        made.renew_if_due()
    return made


def relevances(made: TopicFocus) -> list[float]:
    return [made.relevance("", text) for text in MIXED]


def promises(made: TopicFocus) -> list[int]:
    made.learn_page("http://z.example/", "", BEES)
    return made.queue_links(
        "http://z.example/", [LinkContext(f"http://z.example/{word}", word) for word in ("hive", "engine", "x")]
    )


def told_of(made: TopicFocus) -> list[int]:
    """The numbers of the pages that a worker tells of."""
    words = (word for _, page, _, _ in json.loads(made.record())["known"] for word in page)
    return [int(word.removeprefix("word")) for word in words if word.removeprefix("word").isdigit()]


def weights(made: TopicFocus) -> list[float]:
    words = ["bees", "honey", "petrol", "stands", "unheard"]
    return [float(made.vocabulary.weights()[place]) for place in made.vocabulary.places(words)]


def test_the_same_worker_goes_on() -> None:
    first = worker(1)
    record = first.record()
    second = TopicFocus(EXAMPLE, FocusOptions(), 1)
    assert second.take_in(record)
    assert relevances(second) == pytest.approx(relevances(first), abs=0.1)
    assert weights(second) == pytest.approx(weights(first), abs=0.2)
    assert second.vocabulary.pages == 13
    assert second.page_credits.pages == 0
    assert second.summary()["pages"] == 13
    again, before = json.loads(second.record()), json.loads(record)
    assert again.keys() == before.keys()
    for key in again:
        if key in ("known", "features"):
            assert sorted(map(json.dumps, again[key])) == sorted(map(json.dumps, before[key]))
        else:
            assert again[key] == before[key]


def test_runs_that_end_at_once_forget_nothing() -> None:
    before = worker(1, pages=200).record()
    assert len(json.loads(before)["known"]) == MOST_PAGES
    for _ in range(3):
        made = TopicFocus(EXAMPLE, FocusOptions(), 1)
        assert made.take_in(before)
        assert json.loads(made.record())["known"] == json.loads(before)["known"]
        made.relevance("", BEES)
        after = made.record()
        assert sorted(json.loads(after)["known"], key=str) == sorted(json.loads(before)["known"], key=str)
        before = after


def test_what_one_tells_the_same_worker_again_is_the_sum_of_both() -> None:
    second = worker(1, start=20)
    assert second.take_in(worker(1).record())
    told = json.loads(second.record())
    assert told["pages"] == 26
    assert told["words"]["bees"] == 2 * (1 + 8)
    assert told["good"] + told["bad"] == pytest.approx(24)


def test_another_worker_is_heard_in_place_of_what_it_told_before() -> None:
    once, twice = worker(1), worker(1)
    once.take_in(worker(2, start=50, pages=24).record())
    twice.take_in(worker(2, start=50, pages=9).record())
    twice.take_in(worker(2, start=50, pages=24).record())
    assert weights(once) == weights(twice)
    assert relevances(once) == relevances(twice)
    assert promises(once) == promises(twice)


def test_what_others_told_is_not_told_on() -> None:
    alone, heard = worker(1), worker(1)
    heard.take_in(worker(2, start=50, pages=24).record())
    heard.learn()
    one, other = json.loads(alone.record()), json.loads(heard.record())
    assert [one[key] for key in ("pages", "words", "features", "good", "bad")] == [
        other[key] for key in ("pages", "words", "features", "good", "bad")
    ]
    assert 0 < max(told_of(alone)) < 50
    assert 0 < max(told_of(heard)) < 50


def test_an_earlier_run_and_another_worker() -> None:
    made = TopicFocus(EXAMPLE, FocusOptions(), 1)
    assert made.take_in(worker(1).record())
    assert made.take_in(worker(2, start=50).record())
    for number in range(90, 95):
        made.learn_page(f"http://a.example/{number}", "", f"{BEES} Hive, hive.")
    made.learn()
    assert 0 < max(told_of(made)) < 50
    assert TopicFocus(EXAMPLE).take_in(made.record())


@pytest.mark.parametrize("worker_number", [1, 2])
def test_another_topic_teaches_words_alone(worker_number: int) -> None:
    made, other = worker(1), worker(worker_number, Topic(examples=(CARS,)), start=50)
    before = promises(worker(1)), relevances(worker(1))
    assert made.take_in(other.record())
    assert weights(made) != weights(worker(1))
    assert made.subject.lent == {}
    assert made.apprentice.shared() == worker(1).apprentice.shared()
    assert promises(made) == pytest.approx(before[0], abs=100)
    assert relevances(made) == pytest.approx(before[1], abs=0.2)


def topic_told(topic: Topic) -> Any:
    """What a record says of its topic."""
    return json.loads(TopicFocus(topic).record())["topic"]


def test_topics_are_told_apart() -> None:
    rows = [
        Topic(),
        Topic.of("bees"),
        Topic(examples=("Bees and their hive!",)),
        Topic(EXAMPLE.words, prefer=("a.example",)),
    ]
    for topic in rows:
        assert topic_told(topic) != topic_told(EXAMPLE)
    assert topic_told(Topic(examples=("Bees and their hive.",))) == topic_told(EXAMPLE)


@cache
def honest_record() -> str:
    return worker(2).record()


def hostile(**values: Any) -> str:
    return json.dumps(json.loads(honest_record()) | values)


UNREADABLE = ["", "null", "[]", "[" * 100_000, hostile(pages=-1), hostile(good=float("nan")), hostile(bad=float("inf"))]
UNREADABLE += [hostile(words={"a" * 1_000_000: 1}), hostile(known=[[0, {"bees": -1}, "", [0, 0]]]), hostile(seat=None)]
UNREADABLE += [hostile(features=[[0, "bees", -1, 1]]), hostile(features=[[0, "bees", 0, 1], [0]]), hostile(version=0)]


def test_what_cannot_be_read_teaches_nothing() -> None:
    for record in UNREADABLE:
        made, other = worker(1), worker(1)
        assert not made.take_in(record)
        assert weights(made) == weights(other)
        assert relevances(made) == relevances(other)
        assert promises(made) == promises(other)
        assert made.record() == other.record()


ALIKE = {"plumless": 1e9, "buckeroo": 1e9}  # one number of the same checksum stands for both
WORDS = dict.fromkeys("honey bees make and wax in the hive of their colony cars run on roads".split(), 1e9)
BELIEVED = [
    hostile(pages=10**9, words=WORDS),
    hostile(pages=0, words=WORDS),
    hostile(words=ALIKE, known=[[1, ALIKE, "", [0, 0]]] * 1_000),
    hostile(
        pages=10**9, good=10**9, bad=0, features=[[0, "engine", 1e9, 1e9], [0, "hive", 0, 1e9], [3, "a.example", 9, 0]]
    ),
    hostile(good=0, bad=0, features=[], known=[[0, {}, "", [0, 0]]] * 60, words={}),
    hostile(known=[[1, dict.fromkeys(WORDS, 1e9), "", [0, 0]]] * 60),
    hostile(known=[[1, {"bees": 0}, "", [0, 0]]] * 60, words={"\ud800": 5, "": 5, "\x00": 5}),
]


def test_a_lie_breaks_nothing() -> None:
    for record in BELIEVED:
        for worker_number in [1, 2]:
            made = worker(worker_number)
            assert made.take_in(record)
            made.renew()
            assert all(0 <= relevance <= 1 for relevance in relevances(made))
            assert all(0 <= priority < 999 for priority in promises(made))
            assert (made.vocabulary.weights() > 0).all()
            assert np.isfinite(made.subject.aim).all()
            json.dumps(made.summary(), allow_nan=False)
            assert TopicFocus(EXAMPLE, worker_number=3).take_in(made.record())


def test_another_worker_that_tells_the_truth_later_is_believed() -> None:
    lied, honest = worker(1), worker(1)
    lied.take_in(BELIEVED[3])
    for made in (lied, honest):
        made.take_in(worker(2, start=50).record())
    assert promises(lied) == promises(honest)
    assert weights(lied) == weights(honest)


def test_two_workers_that_exchange_what_they_learn_agree() -> None:
    first, second = worker(1, pages=60), worker(2, start=100, pages=90)
    apart = max(abs(a - b) for a, b in zip(relevances(first), relevances(second), strict=True))
    for _ in range(2):
        one, other = first.record(), second.record()
        first.take_in(other)
        second.take_in(one)
        first.learn()
        second.learn()
    assert weights(first) == pytest.approx(weights(second), abs=0.02)
    assert relevances(first) == pytest.approx(relevances(second), abs=0.08)
    together = max(abs(a - b) for a, b in zip(relevances(first), relevances(second), strict=True))
    assert together <= apart + 0.01  # relevance is surer by then
    assert promises(first) == pytest.approx(promises(second), abs=60)
