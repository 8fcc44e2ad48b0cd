"""The words that describe a picture: those of its address, its target, the text of the link, alt and title.

U_Nm of Li 2006. Addresses are cut like any text: host, path and file name give their pieces. The scheme and `www` are
left out, for they stand in every address and tell nothing; escapes are read, so that a Chinese file name gives Chinese
words. Of unspaced scripts the pairs of neighbouring characters are the words (crawler.text).
"""

from functools import lru_cache
from urllib.parse import unquote

from crawler.noise.sighting import Sighting
from crawler.text import words

MOST_ADDRESS = 300
"""Letters of an address that are read: its host, path and name come first."""
MOST_WORD = 40
"""Letters of a word that are kept: longer ones are keys and hashes, and stand in one address only."""
KEPT_TEXTS = 2048
"""Descriptions that are kept ready: a site shows the same pictures on many pages."""


def description(sighting: Sighting) -> tuple[str, ...]:
    """The words that describe a picture, each as often as it is there.

    >>> description(Sighting("https://img.example.com/ads/top_banner.gif", "", "https://example.com/", alt="Buy now!"))
    ('img', 'example', 'com', 'ads', 'top', 'banner', 'gif', 'buy', 'now')
    """
    url, target = sighting.url[:MOST_ADDRESS], sighting.target[:MOST_ADDRESS]
    return _cut(f"{url}\n{target}\n{sighting.anchor_text}\n{sighting.alt}\n{sighting.title}")


@lru_cache(maxsize=KEPT_TEXTS)
def _cut(text: str) -> tuple[str, ...]:
    plain = text.replace("https://", "").replace("http://", "").replace("www.", "")
    found = words(unquote(plain) if "%" in plain else plain)
    if found and len(max(found, key=len)) > MOST_WORD:
        found = [word[:MOST_WORD] for word in found]
    return tuple(found)
