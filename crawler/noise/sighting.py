"""A picture as a page shows it: what is written beside it, and what the page tells of its place."""

import json
from typing import NamedTuple

from crawler.page import Extraction, Page

MOST_LETTERS = 300
"""Of each text beside a picture, that are kept."""


class Sighting(NamedTuple):
    """A picture on a page, with all that may tell whether it is noise; the picture itself has not been asked for."""

    url: str
    target: str
    """Where the link around it leads, or an empty string."""
    page: str
    alt: str = ""
    title: str = ""
    anchor_text: str = ""
    signs: tuple[float, ...] = ()
    """What the page tells of the picture's place, in numbers."""

    def record(self) -> str:
        """The sighting as a line of text, for `Sighting.of`."""
        return json.dumps(self, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def of(cls, record: str) -> "Sighting":
        """The sighting of a record."""
        url, target, page, alt, title, anchor_text, signs = json.loads(record)
        return cls(url, target, page, alt, title, anchor_text, tuple(signs))


def sightings(page: Page, extraction: Extraction) -> tuple[Sighting, ...]:
    """The pictures of a page, in page order; the main text tells which of them stand in it."""
    return tuple(
        Sighting(
            one.url,
            one.target,
            page.url,
            one.alt[:MOST_LETTERS],
            one.title[:MOST_LETTERS],
            one.anchor_text[:MOST_LETTERS],
        )
        for one in page.images
    )
