"""The words that describe a picture: those of its address, its target, the text of the link, alt and title.

U_Nm of Li 2006. Addresses are cut like any text: host, path and file name give their pieces. The scheme and `www` are
left out, for they stand in every address and tell nothing; escapes are read, so that a Chinese file name gives Chinese
words. Of unspaced scripts the pairs of neighbouring characters are the words (crawler.page.text).
"""

from functools import lru_cache
from urllib.parse import unquote

from crawler.noise.sighting import Sighting
from crawler.page.text import words

MOST_ADDRESS = 300
"""Letters of an address that are read: its host, path and name come first."""
MOST_WORD = 40
"""Letters of a word that are kept: longer ones are keys and hashes, and stand in one address only."""
KEPT = 2048
"""Descriptions that are kept ready: a site shows the same pictures on many pages."""

# ASCII is cut eight times as fast by a table: letters become lower-case, what is neither letter nor digit a space.
_TABLE = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256))


def description(sighting: Sighting) -> tuple[str, ...]:
    """The words that describe a picture, each as often as it is there.

    >>> description(Sighting("https://img.example.com/ads/top_banner.gif", "", "https://example.com/", alt="Buy now!"))
    ('img', 'example', 'com', 'ads', 'top', 'banner', 'gif', 'buy', 'now')
    """
    addresses = f"{sighting.url[:MOST_ADDRESS]} {sighting.target[:MOST_ADDRESS]}"
    return _description(addresses, f"{sighting.anchor_text} {sighting.alt} {sighting.title}")


@lru_cache(maxsize=KEPT)
def _description(addresses: str, texts: str) -> tuple[str, ...]:
    addresses = addresses.replace("https://", "").replace("http://", "").replace("www.", "")
    found = _cut(unquote(addresses) if "%" in addresses else addresses) + _cut(texts)
    if found and len(max(found, key=len)) > MOST_WORD:
        found = [word[:MOST_WORD] for word in found]
    return tuple(found)


def _cut(written: str) -> list[str]:
    if written.isascii() and "'" not in written:
        return written.encode().translate(_TABLE).decode().split()
    return words(written)
