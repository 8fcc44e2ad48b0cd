"""What a page is worth, and what was thought of the link to it."""

from dataclasses import replace

import pytest

from crawler.frontier.batch import BatchReply, LinkUpdates, TopicLabel
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy, LessonKind
from crawler.frontier.scope import Scope
from crawler.page.page import Extraction
from crawler.spiders.links_and_images import EvidenceCache, SelectedLinks
from crawler.spiders.topic_tracker import Examples, SharedLearning, TopicTracker
from crawler.topic.focus import TopicFocus
from crawler.topic.link_table import LinkContext
from crawler.topic.priorities import HIGHEST
from crawler.topic.stop_rule import ON_TOPIC, Harvest
from crawler.topic.topic import Topic

HOME, URL = "http://a.example/", "http://a.example/b"
UNREADABLE = "What an earlier run or another worker learned cannot be read and is ignored"
BEES = Extraction("Bees make honey.", "Bees")


def tracker(min_relevance: float = ON_TOPIC) -> TopicTracker:
    topic = Topic.of("bees")
    return TopicTracker(TopicFocus(topic), Examples(topic), Harvest(bound=min_relevance))


def test_a_link_that_is_not_known_here() -> None:
    rows = [
        (Candidate(URL, 10_000, kind=AddressKind.SEED, via=FoundBy.SEED), None, "seed"),
        (Candidate(URL, 9_999, via=FoundBy.SITEMAP), None, "sitemap"),
        (Candidate(URL, -1_000, via=FoundBy.IMAGE), None, "image"),
        (Candidate(URL, 0), 0.0, "link"),
        (Candidate(URL, 998), 0.998, "link"),
        (Candidate(URL, 999), None, "exploration"),
        (Candidate(URL, -1), None, "link"),
        (Candidate(URL, 500, via=FoundBy.FEED), None, "feed"),
    ]
    for candidate, score, via in rows:
        judgement = tracker().judge(candidate, BEES)
        assert (judgement.link_score, judgement.via) == (score, via)
        assert 0 < judgement.relevance <= 1


def test_the_harvest_is_of_pages_that_may_be_kept() -> None:
    judge = tracker()
    judge.judge(Candidate(HOME, via=FoundBy.SEED), BEES)
    assert judge.judge(Candidate(URL), BEES, is_counted=False).relevance > 0
    assert judge.harvest.counts.pages == 1


@pytest.mark.parametrize("requested", [None, URL])
def test_the_score_is_what_a_link_was_asked_for_by_whatever_was_thought_of_it_since(requested: str | None) -> None:
    judge = tracker()
    judge.judge(Candidate(HOME, 10_000, via=FoundBy.SEED), BEES)
    (priority,) = judge.focus.queue_links(HOME, [LinkContext(URL, "bees")])
    there = f"{URL}/moved" if requested else URL
    assert priority not in (5, 0)
    judgement = judge.judge(Candidate(there, 5, requested=requested), BEES)
    assert (judgement.link_score, judgement.via) == (0.005, "link")


@pytest.mark.parametrize(("priority", "via"), [(5, "link"), (998, "link"), (HIGHEST, "exploration")])
def test_a_link_is_tried_if_it_was_asked_for_as_one(priority: int, via: str) -> None:
    judge = tracker()
    judge.judge(Candidate(HOME, 10_000, via=FoundBy.SEED), BEES)
    judge.focus.queue_links(HOME, [LinkContext(URL, "bees")])
    judge.focus._explored[URL] = 0.12345  # chosen while it was on its way
    judgement = judge.judge(Candidate(URL, priority), BEES)
    assert judgement.via == via
    assert judgement.link_score == (0.1235 if via == "exploration" else priority / 1000)


@pytest.mark.parametrize(("least", "on_topic"), [(ON_TOPIC, 1), (0.0, 2), (1.0, 0)])
def test_the_harvest_goes_by_the_least_relevance(least: float, on_topic: int) -> None:
    judge = tracker(least)
    judge.judge(Candidate(HOME, via=FoundBy.SEED), BEES)
    judge.judge(Candidate(URL), Extraction("Cars run on roads.", ""))
    assert judge.harvest.counts[:2] == (2, on_topic)


@pytest.mark.parametrize(("shared_models", "warnings"), [([], 0), (["{}"], 1), (["{}", "["], 2)])
def test_what_cannot_be_read_is_said(shared_models: list[str], warnings: int, caplog: pytest.LogCaptureFixture) -> None:
    judge = tracker()
    judge.apply([judge.focus.record(), *shared_models], LinkUpdates((), ()))
    assert [record.message for record in caplog.records] == [UNREADABLE] * warnings


def test_links_that_others_found_wait_their_turn() -> None:
    judge = tracker()
    for number in range(20):
        judge.judge(Candidate(f"{URL}{number}"), BEES)
    judge.focus.queue_links(HOME, [LinkContext("http://b.example/", "bees")])
    assert judge.apply([], LinkUpdates(((URL, 800),), ())) == {URL: 80}
    judge.apply([], LinkUpdates((), (URL,)))
    assert judge.focus.waiting_sample(9) == ["http://b.example/"]


def test_links_have_priorities_and_what_waits_may_have_new_ones() -> None:
    judge = tracker()
    image_link, new = Candidate(f"{URL}/image", -1_000), Candidate(URL)
    judge.judge(Candidate(HOME, 10_000, via=FoundBy.SEED), BEES)
    links, priorities = judge.score(HOME, SelectedLinks((new,), (LinkContext(URL, "bees"),), (image_link,)))
    assert links[0] == image_link
    assert replace(links[1], priority=0) == new
    assert 0 < links[1].priority < HIGHEST
    assert isinstance(priorities, dict)


def test_labels_of_people_are_learned_from() -> None:
    judge = tracker()
    learning = SharedLearning(Scope("any"), judge, EvidenceCache())
    learning.apply(BatchReply(topic_labels=[TopicLabel("Bees", BEES.text, is_on_topic=False)]), LinkUpdates((), ()))
    assert judge.judge(Candidate(URL), BEES).relevance < tracker().judge(Candidate(URL), BEES).relevance
    learning.apply(BatchReply(), LinkUpdates((), ()))
    assert judge.focus.subject.labelled


@pytest.mark.parametrize(("text", "examples"), [("Honey bees make honey.", 1), ("Cars run on roads.", 0)])
def test_a_seed_about_the_words_of_the_topic_is_an_example(text: str, examples: int) -> None:
    topic = Topic.of("honey bees")
    tracker = TopicTracker(TopicFocus(topic), Examples(topic), Harvest())
    tracker.take_in(LessonKind.SEED, text)
    assert len(tracker.focus.subject.examples) == examples
