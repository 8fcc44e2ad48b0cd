"""What a crawl knows of its topic: what each page is worth, what is taught of it, and how the crawl fares."""

import json
import logging
from typing import NamedTuple

from scrapy.settings import BaseSettings

from crawler.arguments import Arguments
from crawler.focus.focus import HIGHEST, Focus, Manner
from crawler.focus.harvest import ON_TOPIC, Harvest
from crawler.page import Extraction
from crawler.spiders.examples import Examples
from crawler.state.entries import Candidate
from crawler.state.frontier import Frontier

logger = logging.getLogger(__name__)

DIGITS = 4


class Judgement(NamedTuple):
    """What a page is worth to the topic, and what was thought of the link to it."""

    relevance: float
    link_score: float | None
    via: str


class Focusing:
    """The focus of a crawl, by its arguments and settings; each of its workers has a seat of its own."""

    def __init__(self, arguments: Arguments, settings: BaseSettings, seat: int) -> None:
        self.focus = Focus(arguments.topic, Manner(exploration=settings.getfloat("FOCUS_EXPLORATION")), seat)
        self.examples = Examples(arguments.topic)
        wanted = arguments.min_relevance
        self.harvest = Harvest(bound=ON_TOPIC if wanted is None else wanted)

    def judge(self, candidate: Candidate, extraction: Extraction) -> Judgement:
        """What a page is worth, which the focus learns from; to be asked once for each."""
        url = candidate.requested or candidate.url
        score, explored = _score(candidate), _was_tried(candidate)
        if explored and (asked := self.focus.asked(url)):  # before it is learned what came of it
            score = round(asked.score, DIGITS)
        relevance = round(self.focus.fetched(url, extraction.title, extraction.text), DIGITS)
        self.harvest.count(relevance)
        return Judgement(relevance, score, "exploration" if explored else candidate.via)

    def take_in(self, kind: str, text: str) -> None:
        """Learn from an example, if the lesson is one that the topic has a use for."""
        example = self.examples.read(kind, text)
        if example is not None:
            self.focus.example(example.text, example.good)

    def hear(self, frontier: Frontier) -> None:
        """Take in what earlier runs and other workers have learned, and which links they found and fetched."""
        for learned in frontier.lore:
            if not self.focus.take_in(learned):
                logger.warning("What an earlier run or another worker learned cannot be read; it teaches nothing")
        if frontier.came and (later := self.focus.adopt(frontier.came)):
            frontier.reprice(later)
        if frontier.no_longer:
            self.focus.forget(frontier.no_longer)
        frontier.lore.clear()
        frontier.no_longer.clear()
        frontier.came.clear()

    def tell(self, frontier: Frontier) -> None:
        """Have it kept what was learned, for later runs and other workers."""
        frontier.learned(json.dumps(self.focus.summary(), ensure_ascii=False), self.focus.record())


def _score(candidate: Candidate) -> float | None:
    """What was thought of a link that another worker or an earlier run has found: its priority is in thousandths."""
    return candidate.priority / 1000 if candidate.via == "link" and 0 <= candidate.priority < HIGHEST else None


def _was_tried(candidate: Candidate) -> bool:
    """Whether another worker or an earlier run chose a link by chance: no other has this priority."""
    return candidate.via == "link" and candidate.priority == HIGHEST
