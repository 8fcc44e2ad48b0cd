"""The addresses that this worker has seen lately."""


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


def url_hash(url: str, sort: str = "link") -> int:
    """A number for the spelling of an address; other numbers for it as an image and as a page behind an image."""
    return hash(f"{sort} {url}" if sort in ("image", "picture") else url)
