"""What a worker learns from the others, and from earlier runs."""

from dataclasses import dataclass, field

from crawler.extraction.libraries import Libraries
from crawler.extraction.template import Label
from crawler.judging import Shelf
from crawler.spiders.topic_tracker import TopicTracker
from crawler.state.entries import Answer
from crawler.state.frontier import News
from crawler.urls.scope import Scope


@dataclass
class Learning:
    """Hands what was learned to the parts of the crawl that it concerns."""

    scope: Scope
    topic: TopicTracker
    evidence: Shelf
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

    def hear(self, answer: Answer, news: News) -> dict[str, int]:
        """Learn from what the ledger answered; the new priorities of links that wait."""
        prices = self.topic.hear(answer.lore, news)
        for kind, text in answer.lessons:
            self.take_in(kind, text)
        if self.libraries is not None:
            for name, tag, words in answer.templates:
                self.libraries.take_in(name, Label(tag, words))
        self.evidence.take_in(answer.evidence, answer.forgotten)
        return prices
