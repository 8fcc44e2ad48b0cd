"""The id of a page for other systems, such as a vector store."""

from hashlib import sha256

ID_DIGITS = 32
"""Hexadecimal digits of an id: two of 10^15 pages have the same id with a probability of one in 10^9."""


def page_id(url: str) -> str:
    """The id of the page at an address, from which the address cannot be read.

    >>> page_id("https://example.org/bees")
    'ad7aa8135f3f200b1e70d1e395c8c0c0'
    """
    return sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:ID_DIGITS]
