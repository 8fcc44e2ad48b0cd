"""What is coming: the best that was found or repriced a moment ago, of each host, which the database will lend next.

What is found while a batch is on its way to the database comes with the batch after that.

Thrift: a crawl that cannot have every page does not spend them on poor ones while much better ones are near.

Without it an idle host is asked for whatever it has while better hosts have their pause. A page is poor beside one that
promises more than twice as much: one that is at hand, on a host whose pause will have passed in a few seconds, or one
that was found a moment ago and is at hand after the next batch. No page is poor for long for the same one's sake.
"""

from collections.abc import Iterable, Iterator

LEARNED = range(1_000)
"""Priorities that tell what a page promises: seeds have higher ones, pictures negative ones."""
MUCH_BETTER = 2


def is_poor(priority: int, beside: int) -> bool:
    """Whether a page promises less than half of another one.

    >>> is_poor(249, 500), is_poor(250, 500), is_poor(-1, 500), is_poor(249, 10_000)
    (True, False, False, False)
    """
    return priority in LEARNED and beside in LEARNED and priority * MUCH_BETTER < beside


class BestPriorities(dict[str, int]):
    """The best priority found on each host, and the best of a page on any."""

    best_page = 0

    def add(self, name: str, priority: int) -> None:
        """Something was found on a host."""
        self[name] = max(self.get(name, priority), priority)
        if priority in LEARNED:
            self.best_page = max(self.best_page, priority)


class PendingPriorities:
    """The best of what is coming, by host."""

    def __init__(self) -> None:
        self.found = BestPriorities()
        self.asked = BestPriorities()
        """That of the batch now being committed."""

    def ask(self) -> None:
        """What was found is in the batch that is committed now."""
        self.found, self.asked = BestPriorities(), self.found

    def came(self) -> None:
        """That batch was answered."""
        self.asked = BestPriorities()

    def best_of(self, name: str) -> int | None:
        """The best of a host."""
        return max((found[name] for found in (self.found, self.asked) if name in found), default=None)

    @property
    def best_page(self) -> int:
        """The best page of all hosts, or 0."""
        return max(self.found.best_page, self.asked.best_page)


NEAR = 10.0  # seconds in which a page is to be had for which another waits
BATCH = 0.5  # seconds that it takes to have a host at hand again once it is ready


class PageBudget:
    """Says which pages are poor, and until when."""

    def __init__(self) -> None:
        self.until: float | None = None
        """When to look again for what is worth more than all that may be asked for now."""
        self.needs_batch = False
        """Whether something better comes with the next batch."""
        self._promised: dict[str, tuple[int, float]] = {}

    def look_anew(self) -> None:
        """Forget what was waited for."""
        self.until, self.needs_batch = None, False

    def promise(self, name: str, best: int, ready_at: float) -> None:
        """A host is not at hand for its pause, and something good waits for it in the database."""
        self._promised[name] = best, ready_at + BATCH

    def has_come(self, name: str) -> None:
        """A host is at hand again."""
        self._promised.pop(name, None)

    def is_poor(self, priority: int, now: float, pending: int, resting: Iterable[tuple[int, float]]) -> bool:
        """Whether a page is worth less than half of what is coming, or of the heads of resting hosts, which are given
        with the time they are ready.
        """
        if is_poor(priority, pending):
            self.needs_batch = True
            return True
        near = [until for best, until in (*resting, *self._promises(now)) if is_poor(priority, best)]
        near = [until for until in near if now < until <= now + NEAR]
        self.until = min(near, default=None)
        return bool(near)

    def _promises(self, now: float) -> Iterator[tuple[int, float]]:
        self._promised = {name: promised for name, promised in self._promised.items() if promised[1] > now}
        return iter(self._promised.values())
