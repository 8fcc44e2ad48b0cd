"""The pages that a topic names as examples of what it is about and what not: fetched first, read, and not kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from crawler.frontier.messages import Candidate
from crawler.page.page import Extraction, Page
from crawler.topic.topic import Topic

GOOD, BAD = "example", "counterexample"
KINDS = frozenset((GOOD, BAD))
"""Of addresses. What such a page teaches is kept under `topic example` and the like, what a seed's page does as
`example`: whoever gives a topic later on is not to have the seeds as examples of it.
"""
EXAMPLE_LENGTH = 100_000
"""Characters of a text that teaches."""
MOST_SEEDS = 10
"""Pages of seeds from which the topic is learned where none is given."""


class TopicExample(NamedTuple):
    """A text that is about the topic, or one that is not."""

    text: str
    good: bool


@dataclass
class Examples:
    """The examples of a crawl."""

    topic: Topic
    taught: int = 0
    """How many texts of seeds taught what the crawl is about."""

    def candidates(self, priority: int) -> Iterator[Candidate]:
        """The addresses of the topic's examples."""
        for kind, urls in ((GOOD, self.topic.example_urls), (BAD, self.topic.against_urls)):
            yield from (Candidate(url, priority, kind=kind, via="example") for url in urls)

    def read(self, kind: str, text: str) -> TopicExample | None:
        """The example that a lesson is; None where the topic has no use for it, or not any more."""
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
        """Whether the seeds are to teach what the crawl is about."""
        return not self.topic.given and self.taught < MOST_SEEDS

    @property
    def say_something(self) -> bool:
        """Whether anything says what the crawl is about."""
        return self.topic.given or self.taught > 0


def example_text(page: Page, extraction: Extraction) -> str:
    """What a page teaches of the topic: its text, or of a list without prose its lines."""
    return (extraction.text or " ".join(block.text for block in page.blocks))[:EXAMPLE_LENGTH]
