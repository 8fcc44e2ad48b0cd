"""What a site gets of a crawl that would rather have more of it: no more than its share, whatever it shows."""

import random
from heapq import heappop, heappush

import pytest

from crawler.topic import focus, link_table
from crawler.topic.focus import TopicFocus
from crawler.topic.link_scores import WINDOW, FocusOptions
from crawler.topic.link_table import LinkContext
from crawler.topic.topic import Topic

TRAP = "http://trap.example"


class Web:
    """Pages without end: those of one site promise most, and all of their links lead to it."""

    def __init__(self, links: int) -> None:
        self.links, self.random = links, random.Random(7)

    def text(self, url: str) -> str:
        return "Bees, honey bees, hives. " * 20 if url.startswith(TRAP) else "Bees and many other things. " * 10

    def shown(self, url: str) -> list[str]:
        if url.startswith(TRAP):
            return [f"{TRAP}/{self.random.random()}" for _ in range(self.links)]
        return [f"http://s{self.random.randrange(50)}.example/{self.random.random()}" for _ in range(3)]


def late() -> TopicFocus:
    """A focus that has seen so many pages that all links get new scores every 500."""
    made = TopicFocus(Topic.of("bees"), FocusOptions(exploration=0.0))
    for _ in range(10_000):
        made.page_credits.add(0.5)
    return made


def crawled(made: TopicFocus, web: Web, pages: int) -> list[bool]:
    """Of each page, the best that waits first, whether it is the trap's."""
    heap: list[tuple[int, str]] = []
    prices = {f"{TRAP}/": 10_000} | {f"http://s{number}.example/": 10_000 for number in range(10)}
    told, order = dict(prices), []
    while len(order) < pages:
        for url, price in told.items():
            if url in prices:
                prices[url] = price
                heappush(heap, (-price, url))
        price, url = heappop(heap)
        while prices.get(url) != -price:
            price, url = heappop(heap)
        del prices[url]
        made.learn_page(url, "", web.text(url))
        order.append(url.startswith(TRAP))
        leads = [LinkContext(link, "honey bees", near="bees") for link in web.shown(url)]
        told = dict(zip((lead.url for lead in leads), made.queue_links(url, leads), strict=True))
        prices |= told
        told |= made.renew_if_due()
    return order


@pytest.mark.long
@pytest.mark.parametrize("links", [20, 100])
def test_a_site_has_its_share_of_a_long_crawl(links: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_table, "MOST_WAITING", 5_000)
    made = late()
    order = crawled(made, Web(links), 1_000)
    lately = order[200:]
    assert 0.4 < sum(lately) / len(lately) < 0.6
    assert max(sum(lately[at : at + WINDOW]) for at in range(len(lately) - WINDOW)) < 0.75 * WINDOW


def test_no_more_rise_at_once_than_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(focus, "MOST_BETWEEN", 30)
    made = late()
    for number in range(20):
        made.learn_page(f"{TRAP}/{number}", "", "Honey bees.")
    leads = [LinkContext(f"{TRAP}/of/{number}", f"bees {'and ' * number}") for number in range(100)]
    other = LinkContext("http://b.example/", "bees")
    full = made.queue_links(f"{TRAP}/1", [other, *leads])
    assert full[0] > 5 * max(full[1:])
    for number in range(40):
        made.learn_page(f"http://b.example/{number}", "", "Honey bees.")
    found = made.renew_if_due()
    assert len(found) == 31
    assert found.pop(other.url) < min(found.values())
    made.learn_page(f"{TRAP}/21", "", "Honey bees.")
    assert made.renew_if_due() == {}


@pytest.mark.parametrize(("others", "falls"), [(0, False), (1, True)])
def test_links_of_a_site_with_too_many_fall_when_they_are_let_go(
    others: int, falls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_table, "MOST_WAITING", 100)
    made = TopicFocus(Topic.of("bees"), FocusOptions(exploration=0.0))
    made.learn_page(f"{TRAP}/", "", "Honey bees.")
    made.queue_links(f"{TRAP}/", [LinkContext(f"http://b{number}.example/", "") for number in range(others)])
    links = [f"{TRAP}/{number}" for number in range(200)]
    before = dict(
        zip(links, made.queue_links(f"{TRAP}/", [LinkContext(link, "honey bees") for link in links]), strict=True)
    )
    found = made.renew()
    assert len(made.waiting.rows) == 75
    assert [f"http://b{number}.example/" in made.waiting.rows for number in range(others)] == [True] * others
    gone = before.keys() - made.waiting.rows.keys()
    assert len(gone) == 125 + others
    assert {link: found.get(link) for link in gone} == {
        link: pytest.approx(before[link] / 10, abs=10) if falls else None for link in gone
    }
    assert gone.isdisjoint(made.renew_if_due())
