"""A link as its page shows it."""

from typing import NamedTuple


class Lead(NamedTuple):
    """An address, and the words that stand for it."""

    url: str
    anchor: str
    """The link's own words: text, title and what a picture in it is called."""
    near: str = ""
    """The text around it."""
