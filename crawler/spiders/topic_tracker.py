"""What a crawl knows of its topic: what each page is worth, where its links lead to, and how the crawl fares.

What a worker learns from the others, and from earlier runs.
"""

import json
import logging
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.extraction.template import Label, Libraries
from crawler.frontier.frontier import Frontier, LinkUpdates
from crawler.frontier.messages import BatchReply, Candidate
from crawler.page.page import Extraction
from crawler.spiders.examples import Examples
from crawler.spiders.images import EvidenceCache
from crawler.spiders.page_links import SelectedLinks
from crawler.topic.focus import HIGHEST, Focus
from crawler.topic.harvest import Harvest, StopWhen
from crawler.urls.scope import Scope

logger = logging.getLogger(__name__)

DIGITS = 4
ASKED_AFTER = 1_000
"""Links of which other workers, or an earlier run, may have fetched some, or whose host was closed."""


class PageJudgement(NamedTuple):
    """What a page is worth to the topic, and what was thought of the link to it."""

    relevance: float
    link_score: float | None
    via: str


@dataclass
class TopicTracker:
    """Judges pages and links by the topic, and learns from both."""

    focus: Focus
    examples: Examples
    harvest: Harvest
    stop_when: StopWhen | None = None
    exhausted_at: float | None = None
    """The share of the last pages on the topic, once it was so small that the crawl is to end."""

    def judge(self, candidate: Candidate, extraction: Extraction) -> PageJudgement:
        """What a page is worth, which the focus learns from; to be asked once for each."""
        url = candidate.requested or candidate.url
        score, explored = _score(candidate), _was_tried(candidate)
        if explored and (asked := self.focus.asked(url)) is not None:  # before the focus learns from the page
            score = round(asked, DIGITS)
        relevance = round(self.focus.fetched(url, extraction.title, extraction.text), DIGITS)
        self.harvest.count(relevance)
        if self.exhausted_at is None and self.harvest.ends(self.stop_when):
            self.exhausted_at = self.harvest.share_lately
        return PageJudgement(relevance, score, "exploration" if explored else candidate.via)

    def score(self, address: str, links: SelectedLinks) -> tuple[tuple[Candidate, ...], dict[str, int]]:
        """What a page leads to with priorities, and the new priorities of what waits already.

        The address is the one by which the page was asked for.
        """
        if links.again:
            self.focus.seen_again(address, links.again)
        priorities = self.focus.found(address, links.words) if links.new else []
        new = tuple(one._replace(priority=number) for one, number in zip(links.new, priorities, strict=True))
        return (*links.pictured, *new), self.focus.renewed()

    def take_in(self, kind: str, text: str) -> None:
        """Learn from an example, if the lesson is one that the topic has a use for."""
        example = self.examples.read(kind, text)
        if example is not None:
            self.focus.example(example.text, example.good)

    def hear(self, learned: list[str], news: LinkUpdates) -> dict[str, int]:
        """Take in what earlier runs and other workers learned, and which links they found and fetched; the new
        priorities of what waits.
        """
        for one in learned:
            if not self.focus.take_in(one):
                logger.warning("What an earlier run or another worker learned cannot be read; it teaches nothing")
        renewed = self.focus.adopt(news.came) if news.came else {}
        self.focus.forget(news.no_longer)
        return renewed

    def tell(self, frontier: Frontier) -> None:
        """Have it kept what was learned, for later runs and other workers."""
        frontier.learned(json.dumps(self.focus.summary(), ensure_ascii=False), self.focus.record())

    def ask_after(self, frontier: Frontier) -> None:
        """Have it looked up whether some of the links that are believed to wait still do."""
        frontier.ask_after(self.focus.waiting_sample(ASKED_AFTER))


def _score(candidate: Candidate) -> float | None:
    """What was thought of a link that another worker or an earlier run has found: its priority is in thousandths."""
    return candidate.priority / 1000 if candidate.via == "link" and 0 <= candidate.priority < HIGHEST else None


def _was_tried(candidate: Candidate) -> bool:
    """Whether another worker or an earlier run chose a link by chance: no other has this priority."""
    return candidate.via == "link" and candidate.priority == HIGHEST


@dataclass
class SharedLearning:
    """Hands what was learned to the parts of the crawl that it concerns."""

    scope: Scope
    topic: TopicTracker
    evidence: EvidenceCache
    libraries: Libraries | None = None
    _known: set[tuple[str, str]] = field(default_factory=set)

    def take_in(self, kind: str, text: str) -> None:
        """Learn once what a seed or an example teaches: where the crawl is at home, or what it is about."""
        if (kind, text) in self._known:
            return
        self._known.add((kind, text))
        if kind == "home":
            self.scope.add_home(text)
        else:
            self.topic.take_in(kind, text)

    def hear(self, answer: BatchReply, news: LinkUpdates) -> dict[str, int]:
        """Learn from what the ledger answered; the new priorities of links that wait."""
        priorities = self.topic.hear(answer.shared_models, news)
        for kind, text in answer.shared_examples:
            self.take_in(kind, text)
        if self.libraries is not None:
            for name, tag, words in answer.templates:
                self.libraries.take_in(name, Label(tag, words))
        self.evidence.take_in(answer.evidence, answer.forgotten)
        return priorities
