"""A made-up web of pages on bees among others, and the order in which a crawl meets them."""

import time
import tracemalloc
from collections.abc import Iterator
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple
from zlib import crc32

from crawler.topic.focus import TopicFocus
from crawler.topic.link_scores import FocusOptions
from crawler.topic.link_table import LinkContext
from crawler.topic.topic import STOP_WORDS, Topic
from crawler.urls.address import address_of

BEES = "bees honey hive queen wax nectar pollen brood swarm colony".split()
OTHER = [f"thing{n}" for n in range(300)]
USUAL = sorted(STOP_WORDS)
SEED = "http://a.example/0"


class Sheet(NamedTuple):
    """A page of the web."""

    is_on_topic: bool
    text: str
    leads: list[LinkContext]


def web(random: Random, pages: int = 300, share: float = 0.2) -> dict[str, Sheet]:
    """Pages of which that share is on the topic, the first among them; these lead to each other more than to others."""
    of_bees = [True, *(random.random() < share for _ in range(pages - 1))]
    good, rest = ([n for n in range(pages) if of_bees[n] is is_good] for is_good in (True, False))
    found = {}
    for number in range(pages):
        count = 5 if of_bees[number] else 1
        to = random.sample(good, count) + random.sample(rest, 8 - count)
        random.shuffle(to)
        leads = [LinkContext(f"http://a.example/{other}", _anchor(random, of_bees[other])) for other in to]
        found[f"http://a.example/{number}"] = Sheet(of_bees[number], _text(random, of_bees[number]), leads)
    return found


def hubs(random: Random, lists: int = 20, each: int = 12) -> dict[str, Sheet]:
    """A page that leads to lists in plain words; every fourth of these leads to the topic, in words as plain."""
    found, number = {}, 1
    front = []
    for one in range(lists):
        leads = [LinkContext(f"http://a.example/{number + at}", "more") for at in range(each)]
        for lead in leads:
            found[lead.url] = Sheet(one % 4 == 0, _text(random, one % 4 == 0), [])
        number += each
        url = f"http://a.example/list/{one}"
        found[url] = Sheet(False, " ".join(random.choices(USUAL, k=60)), leads)
        front.append(LinkContext(url, "list"))
    random.shuffle(front)
    return {SEED: Sheet(True, _text(random, True), front)} | found


def breadth_first(pages: dict[str, Sheet]) -> Iterator[str]:
    """The order of a crawl that knows nothing."""
    order = [SEED]
    for url in order:
        yield url
        order += [lead.url for lead in pages[url].leads if lead.url not in order]


class Crawl:
    """The order of a crawl that does as the focus says, and takes links of one priority as the dice fall."""

    def __init__(self, pages: dict[str, Sheet], manner: FocusOptions, topic: Topic) -> None:
        self.pages, self.focus = pages, TopicFocus(topic, manner)
        self.priorities = {SEED: 10_000}
        self._queue = [(-10_000, 0, SEED)]
        self._met = {SEED}

    def __iter__(self) -> Iterator[str]:
        while self._queue:
            priority, _, url = heappop(self._queue)
            if self.priorities.get(url) == -priority:
                del self.priorities[url]
                yield url
                self._take(url)

    def _take(self, url: str) -> None:
        page = self.pages[url]
        self.focus.learn_page(url, "", page.text)
        new = [lead for lead in page.leads if lead.url not in self._met]
        self.focus.see_again(url, [lead for lead in page.leads if lead.url in self._met])
        self._met.update(lead.url for lead in new)
        for lead, priority in zip(new, self.focus.queue_links(url, new), strict=True):
            self._wait(lead.url, priority)
        for known, priority in self.focus.renew_if_due().items():
            assert known in self.priorities
            self._wait(known, priority)

    def _wait(self, url: str, priority: int) -> None:
        self.priorities[url] = priority
        heappush(self._queue, (-priority, crc32(url.encode()), url))


class Quarter(NamedTuple):
    """What a part of the pages cost."""

    pages: int
    seconds: float
    grown: int
    """Bytes that were taken and not given back."""
    waiting: int


def soaked(pages: int) -> Iterator[Quarter]:
    """What each quarter of so many pages costs, each of which shows more new links than are fetched."""
    random, focus = Random(1), TopicFocus(Topic.of("thing1 thing2"), FocusOptions())
    focus.learn_page(SEED, "", "thing1")
    tracemalloc.start()
    for quarter in range(4):
        before, started = tracemalloc.get_traced_memory()[0], time.process_time()
        for number in range(pages // 4):
            url = next(iter(focus.waiting_sample(1)), SEED)
            focus.learn_page(url, "", " ".join(random.choices(OTHER, k=40)))
            leads = [
                LinkContext(
                    f"http://a{number % 50}.example/{quarter}/{number}/{at}", random.choice(OTHER), near="thing3 thing4"
                )
                for at in range(4)
            ]
            focus.queue_links(url, leads)
            focus.see_again(url, leads[:2])
            focus.renew_if_due()
        seconds = time.process_time() - started
        address_of.cache_clear()  # the last 8,192 addresses, which are more than those of all quarters
        yield Quarter(pages // 4, seconds, tracemalloc.get_traced_memory()[0] - before, len(focus.waiting.rows))
    tracemalloc.stop()


def _text(random: Random, is_on_topic: bool) -> str:
    own = random.choices(BEES, k=12) if is_on_topic else random.choices([*OTHER, *BEES], k=12)
    words = own + random.choices(USUAL, k=30)
    random.shuffle(words)
    return " ".join(words)


def _anchor(random: Random, is_on_topic: bool) -> str:
    if random.random() < 0.6:
        return random.choice(["more", "read on", "next"])
    is_true = random.random() < 0.8
    return " ".join(random.choices(BEES if is_on_topic is is_true else OTHER, k=2))
