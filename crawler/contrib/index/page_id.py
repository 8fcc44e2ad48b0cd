"""The id of a page in an index."""

from hashlib import sha256

DIGITS = 32


def page_id(url: str) -> str:
    """The first 32 hexadecimal digits of the SHA-256 of a page's address in UTF-8, as the crawl stored it.

    >>> page_id("https://example.org/bees")
    'ad7aa8135f3f200b1e70d1e395c8c0c0'
    """
    return sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
