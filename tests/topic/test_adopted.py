"""Links that an earlier run found, or another worker, when they come to hand here."""

import pytest

from crawler.topic.focus import TopicFocus
from crawler.topic.link_scores import FocusOptions
from crawler.topic.link_table import LinkContext
from crawler.topic.priorities import HIGHEST
from crawler.topic.topic import Topic

HOME, URL, OTHER = "http://a.example/", "http://a.example/b", "http://b.example/"


def begun(pages: int = 1) -> TopicFocus:
    made = TopicFocus(Topic.of("bees"), FocusOptions(exploration=0.0))
    for number in range(pages):
        made.learn_page(HOME if not number else f"{HOME}{number}", "", "Honey bees.")
    return made


def test_what_waits_as_it_was() -> None:
    rows = [
        (URL, 0, True),
        (URL, HIGHEST - 1, True),
        (URL, HIGHEST, False),
        (URL, 10_000, False),
        (URL, -1, False),
        (HOME, 500, False),
    ]
    for url, priority, waits in rows:
        made = begun()
        assert made.adopt([(url, priority)]) == {}
        assert made.queued_score(url) == (priority / 1000 if waits else None)
        assert made.renew() == {}
        assert made.queued_score(url) == (priority / 1000 if waits else None)


def test_what_is_known_here_is_not_adopted() -> None:
    made = begun()
    (priority,) = made.queue_links(HOME, [LinkContext(URL, "bees")])
    assert made.adopt([(URL, 5)]) == {}
    assert made.queued_score(URL) == priority / 1000


@pytest.mark.parametrize(("pages", "others", "later"), [(19, True, {}), (20, True, {URL: 80}), (20, False, {})])
def test_a_site_that_had_its_share(pages: int, others: bool, later: dict[str, int]) -> None:
    made = begun(pages)
    if others:
        made.queue_links(HOME, [LinkContext(OTHER, "bees")])
    assert made.adopt([(URL, 800)]) == later
    assert made.adopt([(URL, 800)]) == {}
    made.forget([OTHER])
    assert made.renew() == ({URL: 800} if later else {})


def test_what_it_led_to_teaches() -> None:
    made = begun()
    made.adopt([(URL, 800)])
    made.learn_page(URL, "", "Honey bees.")
    assert {made.vocabulary.names[feature % (1 << 18)] for feature in made.apprentice.shared().features} == {
        "b",
        "a.example",
    }
