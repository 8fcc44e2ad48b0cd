"""Pages that a topic names as examples and counterexamples: requested first, learned from, and not stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawler.frontier.page_result import Candidate

if TYPE_CHECKING:
    from crawler.page.page import Extraction, Page
    from crawler.topic.topic import Topic

GOOD, BAD = "example", "counterexample"
KINDS = frozenset((GOOD, BAD))
"""Kinds of addresses. Their texts are shared as `topic example` and the like, those of seeds as `example`: if a topic
is given later on, the seeds are no examples of it.
"""
EXAMPLE_LENGTH = 100_000
"""Characters of a text that are learned from."""
MOST_SEEDS = 10
"""Pages of seeds that the topic is learned from where none is given."""


class TopicExample(NamedTuple):
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
        for kind, urls in ((GOOD, self.topic.example_urls), (BAD, self.topic.against_urls)):
            yield from (Candidate(url, priority, kind=kind, via="example") for url in urls)

    def read(self, kind: str, text: str) -> TopicExample | None:
        """A shared example as an example of the topic; None if the topic does not name it, or needs no more."""
        if kind == "example":
            if not self.are_sought:
                return None
            self.taught += bool(text.strip())
            return TopicExample(text, good=True)
        url, _, text = text.partition("\n")
        if not text.strip():
            return None
        if kind == f"topic {GOOD}" and url in self.topic.example_urls:
            return TopicExample(text, good=True)
        if kind == f"topic {BAD}" and url in self.topic.against_urls:
            return TopicExample(text, good=False)
        return None

    @property
    def are_sought(self) -> bool:
        """Whether the topic is to be learned from more seeds."""
        return not self.topic.given and self.taught < MOST_SEEDS

    @property
    def say_something(self) -> bool:
        """Whether a topic is given or learned."""
        return self.topic.given or self.taught > 0


def example_text(page: Page, extraction: Extraction) -> str:
    """The text of a page to learn from: its main text, or that of all blocks if it has none."""
    return (extraction.text or " ".join(block.text for block in page.blocks))[:EXAMPLE_LENGTH]
