"""Finds near-duplicates among the pages of a run, in memory: about 2 KB for each page.

The method is that of crawler/recrawl/near_duplicates.py: texts that share one of the keys of their signatures are
compared.
"""

from collections import defaultdict

from crawler.recrawl.near_duplicates import ComparedText, band_keys, place_texts, signature
from crawler.urls.lru_dict import LruDict

MOST_PAGES = 100_000
"""The most pages that are remembered; the oldest are forgotten first."""


class NearDuplicates:
    """The last pages that were not near-duplicates: their signatures by address, and their addresses by band key."""

    def __init__(self, max_pages: int = MOST_PAGES) -> None:
        self._signatures: LruDict[str, bytes] = LruDict(max_pages)
        self._urls_by_key: defaultdict[int, list[str]] = defaultdict(list)

    def original_of(self, url: str, text: str) -> str | None:
        """The address of an earlier page with nearly the same text. If there is none, the page is remembered and the
        result is None.
        """
        new = ComparedText(url, signature(text))
        if new.signature is None or url in self._signatures:  # too short to compare, or another item of the same page
            return None
        entries = [(key, other) for key in new.band_keys for other in self._urls_by_key.get(key, ())]
        urls_sharing_a_key = dict.fromkeys(other for _, other in entries)
        known_texts = [ComparedText(other, self._signatures[other]) for other in urls_sharing_a_key]
        placement = place_texts([new], known_texts, entries)
        if url in placement.originals:
            return placement.originals[url]
        for key, _ in placement.entries:
            self._urls_by_key[key].append(url)
        for dropped_url, dropped_signature in self._signatures.set(url, new.signature):
            self._forget(dropped_url, dropped_signature)
        return None

    def _forget(self, url: str, signature: bytes) -> None:
        for key in band_keys(signature):
            if url in self._urls_by_key.get(key, ()):
                self._urls_by_key[key].remove(url)
                if not self._urls_by_key[key]:
                    del self._urls_by_key[key]
