"""Numbers by which addresses are known: one for each canonical address, and a bounded set of the last ones."""

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.urls.canonical import Canonical


def url_hash(url: str, sort: str = "link") -> int:
    """A number for the spelling of an address; other numbers for it as an image and as a page behind an image."""
    return hash(f"{sort} {url}" if sort in ("image", "picture") else url)


class AddressKeys:
    """Computes the key of an address: 64 bits, the same for all spellings of one canonical address."""

    def __init__(self, crawl_id: int, canonical: "Canonical") -> None:
        self.canonical = canonical
        self._page, self._image, self._example = (f"{crawl_id} {kind} " for kind in ("page", "image", "example"))

    def __call__(self, url: str, kind: str = "link") -> int:
        """The key; an address has other keys as a page, as an image and as an example of the topic."""
        before = {"image": self._image, "example": self._example, "counterexample": self._example}
        text = before.get(kind, self._page) + self.canonical(url)
        return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


class RecentNumbers:
    """A set of the last numbers added: at least `limit`, at most twice as many."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._new: set[int] = set()
        self._old: set[int] = set()

    def __contains__(self, number: int) -> bool:
        return number in self._new or number in self._old

    def add(self, number: int) -> bool:
        """Add a number; whether it is new."""
        if number in self:
            return False
        self._new.add(number)
        if len(self._new) >= self.limit:
            self._new, self._old = set(), self._new
        return True

    def clear(self) -> None:
        """Forget all numbers."""
        self._new, self._old = set(), set()
