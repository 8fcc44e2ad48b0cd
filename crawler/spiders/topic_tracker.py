"""The topic of a crawl: the relevance of pages, the priorities of links, and the learning that workers share.

The pages that a topic names as examples and counterexamples are requested first, learned from, and not stored.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.extraction.methods.template import LeafLabel
from crawler.extraction.site_libraries import SiteLibraries
from crawler.frontier.batch import BatchReply, LinkUpdates
from crawler.frontier.frontier import Frontier
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy, LessonKind
from crawler.frontier.scope import Scope
from crawler.page.page import Extraction, Page
from crawler.topic.focus import TopicFocus
from crawler.topic.link_table import LinkContext
from crawler.topic.priorities import HIGHEST, score_of
from crawler.topic.stop_rule import Harvest
from crawler.topic.topic import Topic

if TYPE_CHECKING:
    from crawler.spiders.links_and_images import EvidenceCache, SelectedLinks

logger = logging.getLogger(__name__)

EXAMPLE_LENGTH = 100_000
"""The most characters of an example that the topic learns from."""
MOST_SEEDS = 10
"""The most seed pages that the topic is learned from if it has no examples."""
LEAST_RELEVANCE_OF_SEED = 0.2
"""The least relevance with which a seed becomes an example of a topic given in words. In an encyclopaedia, 94 of 96
pages on four topics reach it before anything is learned, and 5 % of the other pages. Front pages without text have 0.
"""
DIGITS = 4
"""Decimal places of relevance and scores."""
MOST_ASKED_AFTER = 1_000
"""The most links in one question to the database whether links are still queued. Other workers may have requested them,
or closed their hosts.
"""


@dataclass(frozen=True, slots=True)
class TopicExample:
    """A text that is about the topic, or is not."""

    text: str
    is_on_topic: bool


@dataclass
class Examples:
    """The examples of a crawl."""

    topic: Topic
    accepted_seeds: int = 0
    """How many seeds with text were accepted. If a topic is given, the tracker learns only from the relevant ones."""

    def candidates(self, priority: int) -> Iterator[Candidate]:
        """The addresses of the topic's examples, with this priority."""
        for kind, urls in (
            (AddressKind.EXAMPLE, self.topic.example_urls),
            (AddressKind.COUNTEREXAMPLE, self.topic.against_urls),
        ):
            yield from (Candidate(url, priority, kind=kind, via=FoundBy.EXAMPLE) for url in urls)

    def accept(self, kind: LessonKind, text: str) -> TopicExample | None:
        """The example in a lesson, which is counted if it is a seed; None if the topic does not need it.

        `text` is the text of a seed, or for the other kinds `"ADDRESS\\nTEXT"`.
        """
        if kind is LessonKind.SEED:
            if not self.are_sought:
                return None
            if text.strip():
                self.accepted_seeds += 1
            return TopicExample(text, is_on_topic=True)
        url, _, text = text.partition("\n")
        if not text.strip():
            return None
        if kind is LessonKind.EXAMPLE and url in self.topic.example_urls:
            return TopicExample(text, is_on_topic=True)
        if kind is LessonKind.COUNTEREXAMPLE and url in self.topic.against_urls:
            return TopicExample(text, is_on_topic=False)
        return None

    @property
    def are_sought(self) -> bool:
        """Whether the topic has no examples and needs more seeds to learn from."""
        return not self.topic.has_examples and self.accepted_seeds < MOST_SEEDS

    @property
    def has_topic(self) -> bool:
        """Whether a topic is given, or learned from seeds."""
        return self.topic.given or self.accepted_seeds > 0


def example_text(page: Page, extraction: Extraction) -> str:
    """The text of a page to learn from: its main text, or the text of all blocks if it has none."""
    return (extraction.text or " ".join(block.text for block in page.blocks))[:EXAMPLE_LENGTH]


@dataclass(frozen=True, slots=True)
class PageJudgement:
    """How relevant a page is, and how promising its link was."""

    relevance: float
    link_score: float | None
    """The score of its link when it was requested; None if it was not found by a link, or if the score is unknown."""
    via: FoundBy
    """How the page was found."""


@dataclass
class TopicTracker:
    """Computes relevance and priorities by the topic, and learns from each page."""

    focus: TopicFocus
    examples: Examples
    harvest: Harvest

    def judge(
        self, candidate: Candidate, extraction: Extraction, is_counted: bool = True, language: str | None = None
    ) -> PageJudgement:
        """Judge a page and learn from it; must be called once for each page.

        `is_counted` is whether the harvest counts the page: a page that is refused for another reason than its topic is
        not counted.
        """
        url = candidate.requested or candidate.url
        score = _score(candidate)
        is_explored = _was_explored(candidate)
        if is_explored:
            # All links that are explored have the same priority, but the focus knows their scores until it learns.
            score_when_requested = self.focus.queued_score(url)
            if score_when_requested is not None:
                score = round(score_when_requested, DIGITS)
        relevance = round(self.focus.learn_page(url, extraction.title, extraction.text, language or ""), DIGITS)
        if is_counted:
            self.harvest.count(relevance)
        return PageJudgement(relevance, score, FoundBy.EXPLORATION if is_explored else candidate.via)

    def score(self, address: str, links: SelectedLinks) -> tuple[tuple[Candidate, ...], dict[str, int]]:
        """The links of a page with priorities, and new priorities of queued links.

        `address` is the address that was requested for the page.
        """
        if links.known_contexts:
            self.focus.see_again(address, links.known_contexts)
        scored_links = self.score_new(address, links.new, links.new_contexts)
        return (*links.image_links, *scored_links), self.focus.renew_if_due()

    def score_new(
        self, address: str, links: Sequence[Candidate], contexts: Sequence[LinkContext]
    ) -> tuple[Candidate, ...]:
        """The new links of the page or list at `address` with priorities, by the context of each."""
        priorities = self.focus.queue_links(address, contexts) if contexts else []
        return tuple(replace(link, priority=priority) for link, priority in zip(links, priorities, strict=True))

    def take_in(self, kind: LessonKind, text: str) -> None:
        """Learn from a shared example if the topic uses it. If a topic is given, a seed must also be relevant to it."""
        example = self.examples.accept(kind, text)
        if example is None:
            return
        if kind is LessonKind.SEED and self.examples.topic.given:
            is_relevant = self.focus.relevance("", text) >= LEAST_RELEVANCE_OF_SEED
            if not is_relevant:
                return
        self.focus.learn_example(example.text, example.is_on_topic)

    def apply(self, models: list[str], updates: LinkUpdates) -> dict[str, int]:
        """Learn from the models of earlier runs and other workers, and tell the focus which links are leased or no
        longer queued.

        Returns the new priorities of queued links.
        """
        for model in models:
            if not self.focus.take_in(model):
                logger.warning("What an earlier run or another worker learned cannot be read and is ignored")
        renewed = self.focus.adopt(updates.leased) if updates.leased else {}
        self.focus.forget(updates.no_longer_queued)
        return renewed

    def share(self, frontier: Frontier) -> None:
        """Share the topic model with later runs and other workers."""
        frontier.share_model(json.dumps(self.focus.summary(), ensure_ascii=False), self.focus.record())

    def ask_after(self, frontier: Frontier) -> None:
        """Ask whether some of the links that are queued according to the focus still are."""
        frontier.ask_after(self.focus.waiting_sample(MOST_ASKED_AFTER))


def _score(candidate: Candidate) -> float | None:
    """The score of a link, according to its priority; None for addresses that were found in another way."""
    if candidate.via is FoundBy.LINK:
        return score_of(candidate.priority)
    return None


def _was_explored(candidate: Candidate) -> bool:
    """Whether a link was chosen for exploration, by any worker: no other links have this priority."""
    return candidate.via is FoundBy.LINK and candidate.priority == HIGHEST


@dataclass
class SharedLearning:
    """Passes what this worker and others have learned to the parts of the crawl that use it."""

    scope: Scope
    topic: TopicTracker
    evidence: EvidenceCache
    libraries: SiteLibraries | None = None
    _known: set[tuple[LessonKind, str]] = field(default_factory=set)
    """The lessons that were learned."""

    def take_in(self, kind: LessonKind, text: str) -> None:
        """Learn a lesson once: a home of the crawl, or an example of its topic."""
        if (kind, text) in self._known:
            return
        self._known.add((kind, text))
        if kind is LessonKind.HOME:
            self.scope.add_home(text)
        else:
            self.topic.take_in(kind, text)

    def apply(self, reply: BatchReply, updates: LinkUpdates) -> dict[str, int]:
        """Learn from the reply to a batch; returns the new priorities of queued links."""
        priorities = self.topic.apply(reply.shared_models, updates)
        if reply.topic_labels is not None:
            self.topic.focus.label(reply.topic_labels)
        for kind, text in reply.lessons:
            self.take_in(kind, text)
        if self.libraries is not None:
            for template in reply.templates:
                self.libraries.take_in(template.host, LeafLabel(tag=template.tag, text=template.text))
        self.evidence.update(reply.evidence, reply.forgotten)
        return priorities
