"""Finds near-duplicates among the pages of a run, in memory: about 2 KB for each page."""

from collections import Counter, OrderedDict, defaultdict

from crawler.recrawl.near_duplicates import NEAR, bands, signature, similarity

MOST_PAGES = 100_000  # pages that are remembered
MOST_LIKE = 40  # pages that one page is compared with


class NearDuplicates:
    """The signatures of the last pages that were not near-duplicates, by address and by band."""

    def __init__(self, most: int = MOST_PAGES) -> None:
        self.most = most
        self._signatures: OrderedDict[str, bytes] = OrderedDict()
        self._of_band: defaultdict[int, list[str]] = defaultdict(list)

    def original_of(self, url: str, text: str) -> str | None:
        """The address of an earlier page with nearly the same text; if there is none, None, and the page is
        remembered.
        """
        mine = signature(text)
        if mine is None or url in self._signatures:  # too short to compare, or another item of the same page
            return None
        keys = bands(mine)
        likely = Counter(other for key in keys for other in self._of_band.get(key, ())).most_common(MOST_LIKE)
        best = max(((similarity(mine, self._signatures[other]), other) for other, _ in likely), default=(0.0, ""))
        if best[0] >= NEAR:
            return best[1]
        self._signatures[url] = mine
        for key in keys:
            self._of_band[key].append(url)
        if len(self._signatures) > self.most:
            self._forget(*self._signatures.popitem(last=False))
        return None

    def _forget(self, url: str, signature: bytes) -> None:
        for key in bands(signature):
            self._of_band[key].remove(url)
            if not self._of_band[key]:
                del self._of_band[key]
