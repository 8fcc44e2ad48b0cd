"""Suggests the name that a user probably meant by a mistyped one."""

from collections.abc import Collection
from difflib import get_close_matches

from crawler.translation.message import Message


def nearest(name: str, names: Collection[str]) -> Message:
    """The hint about a name that is not among these.

    >>> str(nearest("tpoic", ["topic", "scope"])), str(nearest("x", ["topic", "scope"]))
    ('the nearest is topic', 'there are topic, scope')
    """
    close = get_close_matches(name, names, 1)
    if close:
        return Message("the nearest is {name}", {"name": close[0]})
    return Message("there are {names}", {"names": list(names)})
