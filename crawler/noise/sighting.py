"""A picture as a page shows it: what is written beside it, and what the page tells of its place."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

MOST_TEXT = 300
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
    size: tuple[int | None, int | None] = (None, None)
    """Width and height in pixels as the page gives them."""
    read: Callable[[], tuple[float, ...]] = field(default=tuple, repr=False)
    """Reads the signs; for most pictures of a page, which were seen before, nobody asks."""

    @cached_property
    def signs(self) -> tuple[float, ...]:
        """The signs of the image on its page (crawler.noise.signs); none where the page is not known."""
        return self.read()

    def alone(self) -> "Sighting":
        """The sighting without its page, which takes far more memory."""
        return Sighting(self.url, self.target, self.page, self.alt, self.title, self.anchor_text, self.size)

    def record(self) -> str:
        """The sighting as a line of text, for `Sighting.of`."""
        texts = (self.url, self.target, self.page, self.alt, self.title, self.anchor_text, self.size)
        # Short, as there are millions: six digits tell more than the model asks.
        numbers = [int(sign) if sign == int(sign) else float(f"{sign:.6g}") for sign in self.signs]
        return json.dumps((*texts, numbers), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def of(cls, record: str) -> "Sighting":
        """The sighting of a record."""
        *texts, (width, height), numbers = json.loads(record)
        url, target, page, alt, title, anchor_text = texts
        read = partial(tuple, [float(number) for number in numbers])
        return cls(url, target, page, alt, title, anchor_text, (width, height), read)
