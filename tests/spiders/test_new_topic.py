"""A crawl gets another topic: its pages and its queued links are scored again, whatever was killed in between."""

from typing import Any

import pytest
from sqlalchemy import select
from store_workers import EVERYTHING, Crew, Worker, candidates, stored, urls

from crawler.arguments import Arguments
from crawler.frontier.page_result import AddressKind
from crawler.page.page import Extraction
from crawler.spiders import new_topic
from crawler.spiders.new_topic import score_again
from crawler.store.batch import priority_updates
from crawler.store.crawl_tables import address, crawl
from crawler.store.page_tables import page
from crawler.topic.focus import TopicFocus
from crawler.topic.topic import Topic

HOME = "http://a.example/"
BEES, CARS = Topic.of("honey bees"), Topic.of("cars")
GIVEN = Arguments((HOME,), topic=CARS)
TEXTS = {"bees": "Honey bees make honey in the hive of their colony.", "cars": "Cars run on roads and burn petrol."}


@pytest.fixture(params=[1, 1_000], ids=["row by row", "in large parts"])
def parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STORED_PAGES", "QUEUED_LINKS"):
        monkeypatch.setattr(priority_updates, name, getattr(priority_updates, name).limit(request.param))


def link(url: str, priority: int, **known: Any) -> Any:
    (found,) = candidates(url, priority=priority, **known)
    return found


def crawled(crew: Crew) -> None:
    """A crawl about bees that stored a page of each, and still knows two links of each."""
    one = crew.join(link(HOME, 10_000, kind=AddressKind.SEED), topic=BEES.text, topic_digest=BEES.digest)
    (home,) = one.claim(addresses=1)
    found = [link(f"{HOME}{name}", 900) for name in TEXTS]
    one.end(stored(home, *found, text="Everything.", relevance=0.5))
    for lease in one.claim(addresses=2):
        name = lease.candidate.url.removeprefix(HOME)
        more = [link(f"{HOME}{name}/{part}", {"bees": 800, "cars": 20}[name]) for part in ("x", name)]
        relevance = 0.9 if name == "bees" else 0.1
        image = link(f"{HOME}{name}.png", -1, kind=AddressKind.IMAGE, parent=HOME)
        one.end(stored(lease, *more, image, text=TEXTS[name], title=name, relevance=relevance))
    one.leave()


def relevances(crew: Crew) -> dict[str, float]:
    with crew.engine.connect() as connection:
        rows = connection.execute(select(page.c.url, page.c.relevance)).all()
    return {row.url.removeprefix(HOME): row.relevance for row in rows}


def priorities(crew: Crew) -> dict[str, int]:
    with crew.engine.connect() as connection:
        rows = connection.execute(select(address.c.url, address.c.priority)).all()
    return {row.url.removeprefix(HOME): row.priority for row in rows}


def retopic(crew: Crew, topic: Topic = CARS) -> Worker:
    return crew.join(topic=topic.text, topic_digest=topic.digest, retopic=True)


@pytest.mark.usefixtures("parts")
def test_pages_and_links_are_scored_again(crew: Crew) -> None:
    crawled(crew)
    before = priorities(crew)
    one = retopic(crew)
    assert score_again(one.session, GIVEN) == 3
    assert crew.value(select(crawl.c.topic)) == "cars"
    found = relevances(crew)
    assert found["cars"] > 0.5 > found["bees"]
    now = priorities(crew)
    assert now["cars/cars"] > now["cars/x"] > now["bees/x"]
    assert {name: now[name] for name in ("bees.png", "cars.png", "")} == {
        name: before[name] for name in ("bees.png", "cars.png", "")
    }
    assert urls(one.claim(EVERYTHING, addresses=2)) == [f"{HOME}cars/cars", f"{HOME}cars/x"]


def test_the_crawl_goes_on_with_what_was_learned(crew: Crew) -> None:
    crawled(crew)
    one = retopic(crew)
    score_again(one.session, GIVEN)
    focus = TopicFocus(CARS)
    (record,) = one.commit().shared_models
    assert focus.take_in(record)
    text = Extraction("Petrol burns on roads.", "").text
    assert focus.relevance("", text) > TopicFocus(CARS).relevance("", text)


def test_what_was_killed_in_between_is_done_again(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    crawled(crew)
    one = retopic(crew)
    monkeypatch.setattr(new_topic, "words_of", lambda url: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        score_again(one.session, GIVEN)
    one.leave()
    assert crew.value(select(crawl.c.topic)) == BEES.text
    assert retopic(crew).session.changes_topic


def test_a_crawl_without_pages_gets_another_topic(crew: Crew) -> None:
    crew.join(*candidates(HOME), topic=BEES.text, topic_digest=BEES.digest).leave()
    assert score_again(retopic(crew).session, GIVEN) == 0
    assert not retopic_is_needed(crew)


def retopic_is_needed(crew: Crew) -> bool:
    for one in crew.workers:
        one.leave()
    return retopic(crew).session.changes_topic
