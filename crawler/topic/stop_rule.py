"""The harvest, which is the share of a crawl's pages on the topic; and the rule that ends a crawl if it is too low."""

import re
from collections import deque
from dataclasses import dataclass
from typing import Self

from crawler.translation.message import Message, plural

ON_TOPIC = 0.5
"""The relevance from which a page is on the topic, unless the user gives another."""
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


class Harvest:
    """Counts pages and those on the topic, in all and among the last ones."""

    def __init__(self, window: int = 200, bound: float = ON_TOPIC) -> None:
        self.window = window
        self.bound = bound
        self.pages = self.on_topic = self._lately = 0
        self._last: deque[bool] = deque()

    def count(self, relevance: float) -> None:
        """Count a page with this relevance."""
        is_on_topic = relevance >= self.bound
        self.pages += 1
        self.on_topic += is_on_topic
        self._lately += is_on_topic
        self._last.append(is_on_topic)
        if len(self._last) > self.window:
            self._lately -= self._last.popleft()

    @property
    def share(self) -> float:
        """The share of all pages that are on the topic; 0 without pages."""
        return self.on_topic / self.pages if self.pages else 0.0

    @property
    def full(self) -> bool:
        """Whether the window of last pages is full."""
        return self.pages >= self.window

    @property
    def share_lately(self) -> float:
        """The share of the last pages that are on the topic; 0 without pages."""
        return self._lately / len(self._last) if self._last else 0.0

    def ends(self, when: StopWhen | None) -> bool:
        """Whether too few of the last pages are on the topic, so that the crawl is to end."""
        return when is not None and self.full and self.share_lately < when.harvest

    def words(self) -> Message:
        """The harvest in words.

        >>> harvest = Harvest(window=2)
        >>> for relevance in (0.9, 0.1, 0.5): harvest.count(relevance)
        >>> str(harvest.words())
        'On topic: 2 of 3 pages read (67%), 50% of the last 2.'
        """
        values = {"topical": f"{self.on_topic:,}", "share": f"{self.share:.0%}"}
        if self.pages <= self.window:
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
            window=f"{self.window:,}",
            **values,
        )
