"""The harvest of a crawl, which is the share of its pages on the topic, and the rule that ends a crawl if it is low."""

import re
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple, Self

from crawler.translation.message import Message, plural

ON_TOPIC = 0.5
"""The relevance from which on a page is on the topic, unless the user gives another."""
WINDOW = 200
"""How many of the last pages a worker counts to judge whether the crawl should end."""
STOP_WHEN = re.compile(r"harvest\s*<\s*([0-9]{0,6}\.?[0-9]{1,6})", re.ASCII)


@dataclass(frozen=True)
class StopWhen:
    """The share of pages on the topic below which a crawl ends."""

    harvest: float

    @classmethod
    def of(cls, text: str) -> Self:
        """The condition in a text; raises a ValueError if it is wrong.

        >>> StopWhen.of("harvest<0.05"), str(StopWhen.of("harvest < .25"))
        (StopWhen(harvest=0.05), 'harvest<0.25')
        """
        match = STOP_WHEN.fullmatch(text)
        if match is None or not 0 < float(match[1]) < 1:
            raise ValueError(f"{text!r} is no condition such as harvest<0.05")
        return cls(float(match[1]))

    def __str__(self) -> str:
        return f"harvest<{self.harvest:g}"


class HarvestCounts(NamedTuple):
    """How many pages were read and how many of these are on the topic: of all pages, and of the last pages."""

    pages: int = 0
    on_topic: int = 0
    last: int = 0
    """The number of last pages that are counted."""
    on_topic_lately: int = 0
    """How many of the last pages are on the topic."""

    def plus(self, other: Self) -> Self:
        """The sums of these counts and those of another worker."""
        return type(self)(*map(sum, zip(self, other, strict=True)))

    @property
    def share(self) -> float:
        """The share of all pages that are on the topic; 0 without pages."""
        if self.pages:
            return self.on_topic / self.pages
        return 0.0

    @property
    def share_lately(self) -> float:
        """The share of the last pages that are on the topic; 0 without pages."""
        if self.last:
            return self.on_topic_lately / self.last
        return 0.0

    def ends(self, when: StopWhen | None, least_pages: int = WINDOW) -> bool:
        """Whether the crawl should end: at least `least_pages` last pages are counted, and too few are on the topic."""
        return when is not None and self.last >= least_pages and self.share_lately < when.harvest

    def words(self) -> Message:
        """The harvest in words.

        >>> str(HarvestCounts(3, 2, 2, 1).words())
        'On topic: 2 of 3 pages read (67%), 50% of the last 2.'
        """
        values = {"topical": f"{self.on_topic:,}", "share": f"{self.share:.0%}"}
        if self.pages <= self.last:  # the last pages are all pages
            return plural(
                "On topic: {topical} of {n} page read ({share}).",
                "On topic: {topical} of {n} pages read ({share}).",
                self.pages,
                **values,
            )
        return plural(
            "On topic: {topical} of {n} page read ({share}), {lately} of the last {window}.",
            "On topic: {topical} of {n} pages read ({share}), {lately} of the last {window}.",
            self.pages,
            lately=f"{self.share_lately:.0%}",
            window=f"{self.last:,}",
            **values,
        )


class Harvest:
    """Counts the pages of one worker as it reads them."""

    def __init__(self, window: int = WINDOW, bound: float = ON_TOPIC) -> None:
        self.bound = bound
        """The relevance from which on a page is on the topic."""
        self._pages = self._on_topic = 0
        self._last: deque[bool] = deque(maxlen=window)

    def count(self, relevance: float) -> None:
        """Count a page of this relevance.

        >>> harvest = Harvest(window=2)
        >>> for relevance in (0.9, 0.1, 0.5): harvest.count(relevance)
        >>> harvest.counts
        HarvestCounts(pages=3, on_topic=2, last=2, on_topic_lately=1)
        """
        self._pages += 1
        self._on_topic += relevance >= self.bound
        self._last.append(relevance >= self.bound)

    @property
    def counts(self) -> HarvestCounts:
        """The counts so far."""
        return HarvestCounts(self._pages, self._on_topic, len(self._last), sum(self._last))
