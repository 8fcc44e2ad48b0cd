"""A picture as a page shows it: what is written beside it, and what the page tells of its place."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from crawler.noise.place import Place, around
from crawler.page import Extraction, Page

MOST_LETTERS = 300
"""Of each text beside a picture, that are kept."""


@dataclass(frozen=True, eq=False)
class Sighting:
    """A picture on a page, with all that may tell whether it is noise; the picture itself has not been asked for."""

    url: str
    target: str
    """Where the link around it leads, or an empty string."""
    page: str
    alt: str = ""
    title: str = ""
    anchor_text: str = ""
    read: Callable[[], Place] = field(default=Place, repr=False)
    """Reads the place; for most pictures of a page, which were seen before, nobody asks."""

    @cached_property
    def place(self) -> Place:
        """What the page tells of the picture's place."""
        return self.read()

    def record(self) -> str:
        """The sighting as a line of text, for `Sighting.of`."""
        texts = (self.url, self.target, self.page, self.alt, self.title, self.anchor_text)
        return json.dumps((*texts, *self.place), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def of(cls, record: str) -> "Sighting":
        """The sighting of a record."""
        url, target, page, alt, title, anchor_text, *place = json.loads(record)
        return cls(url, target, page, alt, title, anchor_text, lambda: Place(*map(tuple, place)))


def sightings(page: Page, extraction: Extraction) -> tuple[Sighting, ...]:
    """The pictures of a page, in page order; the main text tells which of them stand in it."""
    read: Any = around(page, extraction)
    return tuple(
        Sighting(
            one.url,
            one.target,
            page.url,
            one.alt[:MOST_LETTERS],
            one.title[:MOST_LETTERS],
            one.anchor_text[:MOST_LETTERS],
            lambda index=index: read(index),
        )
        for index, one in enumerate(page.images)
    )
