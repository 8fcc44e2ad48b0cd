"""Suggests the name that a user probably meant by a mistyped one."""

from collections.abc import Collection
from difflib import get_close_matches

from crawler.translation.message import Message


def nearest_name(name: str, names: Collection[str], least: float = 0.6) -> str | None:
    """The most similar name among `names`; None if the ratio of `difflib` is below `least` for all of them.

    >>> nearest_name("tpoic", ["topic", "scope"]), nearest_name("x", ["topic", "scope"])
    ('topic', None)
    """
    close = get_close_matches(name, names, 1, least)
    return close[0] if close else None


def nearest(name: str, names: Collection[str]) -> Message:
    """The hint for a user who gave a name that is not among `names`.

    >>> str(nearest("tpoic", ["topic", "scope"])), str(nearest("x", ["topic", "scope"]))
    ('the nearest is topic', 'there are topic, scope')
    """
    near = nearest_name(name, names)
    if near is not None:
        return Message("the nearest is {name}", {"name": near})
    return Message("there are {names}", {"names": list(names)})
