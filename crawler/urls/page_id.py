"""The id of a page in the indexes of readers."""

from hashlib import sha256

ID_DIGITS = 32
"""Hexadecimal digits of an id: of 10^15 pages, two have the same with a probability of one in 10^9."""


def page_id(url: str) -> str:
    """The id of the page at an address, from which the address cannot be read.

    >>> page_id("https://example.org/bees")
    'ad7aa8135f3f200b1e70d1e395c8c0c0'
    """
    return sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:ID_DIGITS]
