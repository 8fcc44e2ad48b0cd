"""Crawls of made-up webs: how early they meet the topic, that they are the same each time, and what they cost."""

import subprocess
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from bee_web import SEED, Crawl, Sheet, breadth_first, hubs, soaked, web
from fork_server import environment

from crawler.topic import focus, link_chances, link_scores, link_table, page_translations, relevance
from crawler.topic.link_scores import FocusOptions
from crawler.topic.topic import Topic


def met(pages: dict[str, Sheet], order: Iterable[str], many: int) -> int:
    """How many of the first pages are on the topic."""
    return sum(pages[url].is_on_topic for url in islice(order, many))


def topic_of(pages: dict[str, Sheet], kind: str) -> Topic:
    return Topic.of("honey bees") if kind == "words" else Topic(examples=(pages[SEED].text,))


def test_pages_on_the_topic_come_earlier_than_breadth_first() -> None:
    for kind in ["words", "example"]:
        for learning in [True, False]:
            plain = focused = 0
            for seed in range(4):
                pages = web(Random(seed))
                plain += met(pages, breadth_first(pages), len(pages) // 5)
                focused += met(pages, Crawl(pages, FocusOptions(learning), topic_of(pages, kind)), len(pages) // 5)
            assert focused > 1.25 * plain


@pytest.mark.long
def test_it_is_learned_which_lists_lead_to_the_topic() -> None:
    found = {True: 0, False: 0}
    for seed in range(6):
        pages = hubs(Random(seed), 8, 60)
        for learning in found:
            found[learning] += met(pages, Crawl(pages, FocusOptions(learning), topic_of(pages, "example")), 140)
    assert found[True] > 1.25 * found[False]


def test_every_page_is_met_once() -> None:
    pages = web(Random(1))
    order = list(Crawl(pages, FocusOptions(exploration=0.3), topic_of(pages, "words")))
    assert sorted(order) == sorted(breadth_first(pages))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["words", "example"])
def test_the_same_pages_give_the_same_priorities_in_any_process(kind: str) -> None:
    code = (
        "from random import Random; from zlib import crc32; from bee_web import SEED, Crawl, web\n"
        "from crawler.topic.link_scores import FocusOptions; from crawler.topic.topic import Topic\n"
        "pages = web(Random(1)); topic = Topic.of('honey bees')\n"
        f"if {kind!r} == 'example': topic = Topic(examples=(pages[SEED].text,))\n"
        "crawl = Crawl(pages, FocusOptions(exploration=0.1), topic)\n"
        "for url in crawl: print(url, crc32(repr(crawl.priorities).encode()))\n"
        "print(crc32(crawl.focus.record().encode()))\n"
    )
    said = []
    for seed in ("1", "2"):
        around = environment() | {"PYTHONHASHSEED": seed}
        around["PYTHONPATH"] += ":" + str(Path(__file__).parents[1] / "support")
        line = [sys.executable, "-c", code]
        said.append(subprocess.run(line, env=around, capture_output=True, text=True, timeout=60, check=True).stdout)
    assert said[0] == said[1]
    assert said[0].count("\n") > 200


@pytest.mark.long
def test_neither_the_work_for_a_page_nor_memory_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance, "REMEMBERED", 50)
    monkeypatch.setattr(focus, "REMEMBERED", 200)
    monkeypatch.setattr(link_scores, "MOST_PAGES", 512)
    monkeypatch.setattr(link_table, "MOST_WAITING", 500)
    monkeypatch.setattr(link_chances, "REMEMBERED", 100)
    monkeypatch.setattr(page_translations, "MOST_PAGES", 200)
    quarters = list(soaked(1_200))
    assert [quarter.pages for quarter in quarters] == [300] * 4
    assert quarters[3].seconds < 2 * quarters[1].seconds
    # 90 kB of numbers and of more links that wait; a dictionary that forgets nothing takes 130 kB more.
    assert sum(quarter.grown for quarter in quarters[1:]) < 150_000
    assert max(quarter.waiting for quarter in quarters) <= 504
