"""What is coming: the best that was found or repriced a moment ago, of each host, which the database will lend next.

What is found while a batch is on its way to the database comes with the batch after that.
"""

LEARNED = range(1_000)
"""Priorities that tell what a page promises: seeds have higher ones, pictures negative ones."""
MUCH_BETTER = 2


def is_poor(priority: int, beside: int) -> bool:
    """Whether a page promises less than half of another one.

    >>> is_poor(249, 500), is_poor(250, 500), is_poor(-1, 500), is_poor(249, 10_000)
    (True, False, False, False)
    """
    return priority in LEARNED and beside in LEARNED and priority * MUCH_BETTER < beside


class Found(dict[str, int]):
    """The best priority found on each host, and the best of a page on any."""

    best_page = 0

    def add(self, name: str, priority: int) -> None:
        """Something was found on a host."""
        self[name] = max(self.get(name, priority), priority)
        if priority in LEARNED:
            self.best_page = max(self.best_page, priority)


class Coming:
    """The best of what is coming, by host."""

    def __init__(self) -> None:
        self.found = Found()
        self.asked = Found()
        """That of the batch now being committed."""

    def ask(self) -> None:
        """What was found is in the batch that is committed now."""
        self.found, self.asked = Found(), self.found

    def came(self) -> None:
        """That batch was answered."""
        self.asked = Found()

    def best_of(self, name: str) -> int | None:
        """The best of a host."""
        return max((found[name] for found in (self.found, self.asked) if name in found), default=None)

    @property
    def best_page(self) -> int:
        """The best page of all hosts, or 0."""
        return max(self.found.best_page, self.asked.best_page)
