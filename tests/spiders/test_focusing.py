"""What a page is worth, and what was thought of the link to it."""

import pytest
from scrapy.settings import Settings

from crawler import settings as our_settings
from crawler.arguments import Arguments
from crawler.canonical import Canonical
from crawler.focus.focus import HIGHEST
from crawler.focus.lead import Lead
from crawler.page import Extraction
from crawler.spiders.focusing import Focusing
from crawler.state.entries import Answer, Candidate, Keys, Lent
from crawler.state.frontier import Frontier
from crawler.state.manners import Pace
from crawler.topic import Topic

HOME, URL = "http://a.example/", "http://a.example/b"
UNREADABLE = "What an earlier run or another worker learned cannot be read; it teaches nothing"
BEES = Extraction("Bees make honey.", "Bees")


def focusing(min_relevance: float | None = None) -> Focusing:
    settings = Settings()
    settings.setmodule(our_settings)
    return Focusing(Arguments((HOME,), topic=Topic.of("bees"), min_relevance=min_relevance), settings, 1)


@pytest.mark.parametrize(
    ("candidate", "score", "via"),
    [
        (Candidate(URL, 10_000, kind="seed", via="seed"), None, "seed"),
        (Candidate(URL, 9_999, via="sitemap"), None, "sitemap"),
        (Candidate(URL, -1_000, via="picture"), None, "picture"),
        (Candidate(URL, 0), 0.0, "link"),
        (Candidate(URL, 998), 0.998, "link"),
        (Candidate(URL, 999), None, "exploration"),
        (Candidate(URL, -1), None, "link"),
        (Candidate(URL, 500, via="refresh"), None, "refresh"),
    ],
)
def test_a_link_that_is_not_known_here(candidate: Candidate, score: float | None, via: str) -> None:
    judgement = focusing().judge(candidate, BEES)
    assert (judgement.link_score, judgement.via) == (score, via)
    assert 0 < judgement.relevance <= 1


@pytest.mark.parametrize("requested", [None, URL])
def test_the_score_is_what_a_link_was_asked_for_by_whatever_was_thought_of_it_since(requested: str | None) -> None:
    judge = focusing()
    judge.judge(Candidate(HOME, 10_000, via="seed"), BEES)
    (priority,) = judge.focus.found(HOME, [Lead(URL, "bees")])
    there = f"{URL}/moved" if requested else URL
    assert priority not in (5, 0)
    judgement = judge.judge(Candidate(there, 5, requested=requested), BEES)
    assert (judgement.link_score, judgement.via) == (0.005, "link")


@pytest.mark.parametrize(("priority", "via"), [(5, "link"), (998, "link"), (HIGHEST, "exploration")])
def test_a_link_is_tried_if_it_was_asked_for_as_one(priority: int, via: str) -> None:
    judge = focusing()
    judge.judge(Candidate(HOME, 10_000, via="seed"), BEES)
    judge.focus.found(HOME, [Lead(URL, "bees")])
    judge.focus._explored[URL] = 0.12345  # chosen while it was on its way
    judgement = judge.judge(Candidate(URL, priority), BEES)
    assert judgement.via == via
    assert judgement.link_score == (0.1235 if via == "exploration" else priority / 1000)


@pytest.mark.parametrize(("least", "on_topic"), [(None, 1), (0.0, 2), (1.0, 0)])
def test_the_harvest_goes_by_the_least_relevance(least: float | None, on_topic: int) -> None:
    judge = focusing(least)
    judge.judge(Candidate(HOME, via="seed"), BEES)
    judge.judge(Candidate(URL), Extraction("Cars run on roads.", ""))
    assert (judge.harvest.pages, judge.harvest.on_topic) == (2, on_topic)


@pytest.mark.parametrize(("lore", "warnings"), [([], 0), (["{}"], 1), (["{}", "["], 2)])
def test_what_cannot_be_read_is_said(lore: list[str], warnings: int, caplog: pytest.LogCaptureFixture) -> None:
    judge, frontier = focusing(), Frontier(Keys(1, Canonical(())), Pace())
    frontier.lore += [judge.focus.record(), *lore]
    judge.hear(frontier)
    assert [record.message for record in caplog.records] == [UNREADABLE] * warnings
    assert frontier.lore == []


def test_links_that_others_found_wait_their_turn() -> None:
    judge, frontier = focusing(), Frontier(Keys(1, Canonical(())), Pace())
    for number in range(20):
        judge.judge(Candidate(f"{URL}{number}"), BEES)
    judge.focus.found(HOME, [Lead("http://b.example/", "bees")])
    seed, link = Candidate(HOME, 10_000, kind="seed", via="seed"), Candidate(URL, 800)
    frontier.absorb(Answer([Lent(1, seed, 1, 1), Lent(2, link, 1, 1)]), 0.0)
    assert frontier.came == [(URL, 800)]
    judge.hear(frontier)
    assert frontier.came == []
    taken = [frontier.take(0.0), frontier.end(1), frontier.take(9.0)]
    assert [lent.candidate for lent in taken if isinstance(lent, Lent)] == [seed, link._replace(priority=80)]
    judge.hear(frontier)
    frontier.end(2, "failed/404")
    judge.hear(frontier)
    assert judge.focus.waiting_sample(9) == ["http://b.example/"]
