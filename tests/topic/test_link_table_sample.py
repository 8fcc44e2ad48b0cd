"""Which links are asked after, in turn."""

from crawler.topic.focus import TopicFocus
from crawler.topic.link_table import LinkContext
from crawler.topic.topic import Topic

URLS = [f"http://a.example/{number}" for number in range(5)]


def test_others_each_time_until_it_was_all() -> None:
    rows = [
        (0, [[], [], []]),
        (2, [URLS[:2], URLS[2:4], URLS[4:], URLS[:2]]),
        (4, [URLS[:4], URLS[4:], URLS[:4]]),
        (5, [URLS, URLS]),
        (9, [URLS, URLS]),
    ]
    for most, asked in rows:
        made = TopicFocus(Topic.of("bees"))
        made.learn_page("http://a.example/", "", "Bees.")
        made.queue_links("http://a.example/", [LinkContext(url, "bees") for url in URLS])
        assert [made.waiting_sample(most) for _ in asked] == asked


def test_some_wait_no_more_meanwhile() -> None:
    made = TopicFocus(Topic.of("bees"))
    made.learn_page("http://a.example/", "", "Bees.")
    made.queue_links("http://a.example/", [LinkContext(url, "bees") for url in URLS])
    assert made.waiting_sample(3) == URLS[:3]
    made.forget(URLS[:3])
    assert made.waiting_sample(1) == URLS[3:4]
