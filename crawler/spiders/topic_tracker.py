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


EXAMPLE_LENGTH = 100_000
"""Characters of a text from which the topic learns."""
MOST_SEEDS = 10
"""Seed pages that the topic is learned from if it has no examples."""
LEAST_RELEVANCE_OF_SEED = 0.2
"""The relevance of a seed that is an example of a topic given in words. In an encyclopaedia, 94 of 96 pages on four
topics have it before anything is learned, and 5 % of the other pages. Front pages without text have 0.
"""


@dataclass(frozen=True, slots=True)
class TopicExample:
    """A text that is about the topic, or is not."""

    text: str
    good: bool


@dataclass
class Examples:
    """The examples of a crawl."""

    topic: Topic
    taught: int = 0
    """How many texts of seeds the topic was learned from."""

    def candidates(self, priority: int) -> Iterator[Candidate]:
        """The addresses of the topic's examples."""
        for kind, urls in (
            (AddressKind.EXAMPLE, self.topic.example_urls),
            (AddressKind.COUNTEREXAMPLE, self.topic.against_urls),
        ):
            yield from (Candidate(url, priority, kind=kind, via=FoundBy.EXAMPLE) for url in urls)

    def read(self, kind: LessonKind, text: str) -> TopicExample | None:
        """A shared example as an example of the topic; None if the topic does not have it or needs no more.

        A text of a seed is counted.
        """
        if kind is LessonKind.SEED:
            if not self.are_sought:
                return None
            self.taught += bool(text.strip())
            return TopicExample(text, good=True)
        url, _, text = text.partition("\n")
        if not text.strip():
            return None
        if kind is LessonKind.EXAMPLE and url in self.topic.example_urls:
            return TopicExample(text, good=True)
        if kind is LessonKind.COUNTEREXAMPLE and url in self.topic.against_urls:
            return TopicExample(text, good=False)
        return None

    @property
    def are_sought(self) -> bool:
        """Whether the topic has no examples and needs more seeds to learn from."""
        return not self.topic.has_examples and self.taught < MOST_SEEDS

    @property
    def say_something(self) -> bool:
        """Whether a topic is given or learned."""
        return self.topic.given or self.taught > 0


def example_text(page: Page, extraction: Extraction) -> str:
    """The text of a page to learn from: its main text, or the text of all blocks if it has none."""
    return (extraction.text or " ".join(block.text for block in page.blocks))[:EXAMPLE_LENGTH]


logger = logging.getLogger(__name__)

DIGITS = 4
"""Decimal places of relevance and scores."""
MOST_ASKED_AFTER = 1_000
"""Links in one question whether they are still queued: other workers may have requested them, or closed their hosts."""


@dataclass(frozen=True, slots=True)
class PageJudgement:
    """The relevance of a page, and the score that its link had when it was requested."""

    relevance: float
    link_score: float | None
    via: FoundBy
    """How the page was found."""


@dataclass
class TopicTracker:
    """Computes relevance and priorities by the topic, and learns from each page."""

    focus: TopicFocus
    examples: Examples
    harvest: Harvest

    def judge(
        self, candidate: Candidate, extraction: Extraction, is_read: bool = True, language: str | None = None
    ) -> PageJudgement:
        """The relevance of a page, from which the focus learns; must be called once for each page.

        Pages that may not be kept whatever their topic are not `is_read`: the harvest does not count them.
        """
        url = candidate.requested or candidate.url
        score = _score(candidate)
        is_explored = _was_explored(candidate)
        if is_explored:
            score_when_requested = self.focus.queued_score(url)  # before the focus learns from the page
            if score_when_requested is not None:
                score = round(score_when_requested, DIGITS)
        relevance = round(self.focus.learn_page(url, extraction.title, extraction.text, language or ""), DIGITS)
        if is_read:
            self.harvest.count(relevance)
        return PageJudgement(relevance, score, FoundBy.EXPLORATION if is_explored else candidate.via)

    def score(self, address: str, links: SelectedLinks) -> tuple[tuple[Candidate, ...], dict[str, int]]:
        """The links of a page with priorities, and new priorities of queued links.

        `address` is the address that was requested for the page.
        """
        if links.again:
            self.focus.see_again(address, links.again)
        priorities = self.focus.queue_links(address, links.words) if links.new else []
        new = tuple(
            replace(candidate, priority=number) for candidate, number in zip(links.new, priorities, strict=True)
        )
        return (*links.image_links, *new), self.focus.renew_if_due()

    def score_listed(
        self, address: str, pages: Sequence[Candidate], words: Sequence[LinkContext]
    ) -> tuple[Candidate, ...]:
        """The pages that the list at `address` names, with priorities; `words` describe each of them."""
        priorities = self.focus.queue_links(address, words) if words else []
        return tuple(replace(candidate, priority=number) for candidate, number in zip(pages, priorities, strict=True))

    def take_in(self, kind: LessonKind, text: str) -> None:
        """Learn from a shared example if the topic uses it; from a seed only if it is relevant to the given topic."""
        example = self.examples.read(kind, text)
        is_seed = kind is LessonKind.SEED
        if example is not None and not (is_seed and self.examples.topic.given and not self._names_topic(text)):
            self.focus.learn_example(example.text, example.good)

    def _names_topic(self, text: str) -> bool:
        """Whether the text of a seed is relevant to the topic."""
        return self.focus.relevance("", text) >= LEAST_RELEVANCE_OF_SEED

    def apply(self, models: list[str], updates: LinkUpdates) -> dict[str, int]:
        """Learn from the models of earlier runs and other workers, and take over the links that this worker leased.

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
    """The seeds and examples that were learned."""

    def take_in(self, kind: LessonKind, text: str) -> None:
        """Learn from a seed or an example, once: a home of the crawl, or an example of its topic."""
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
        for kind, text in reply.shared_examples:
            self.take_in(kind, text)
        if self.libraries is not None:
            for template in reply.templates:
                self.libraries.take_in(template.host, LeafLabel(tag=template.tag, text=template.text))
        self.evidence.update(reply.evidence, reply.forgotten)
        return priorities
