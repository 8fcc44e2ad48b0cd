"""Priorities that are found but not yet claimed, and the budget of a crawl with `max_pages`.

What is found while a batch is on its way to the database comes with the batch after that one.

A crawl that cannot have every page does not spend them on poor ones while much better ones are near. Otherwise an idle
host would be asked for whatever it has while better hosts rest. A page is poor beside one that promises more than twice
as much and is near: on a host whose rest ends within seconds, or found a moment ago and claimed by the next batch. No
page is poor for long because of the same other page.
"""

from collections.abc import Iterable, Iterator

LEARNED = range(1_000)
"""Priorities that tell the relevance a page promises: seeds have higher ones, images negative ones."""
MUCH_BETTER = 2


def is_poor(priority: int, beside: int) -> bool:
    """Whether a page promises less than half of another one.

    >>> is_poor(249, 500), is_poor(250, 500), is_poor(-1, 500), is_poor(249, 10_000)
    (True, False, False, False)
    """
    return priority in LEARNED and beside in LEARNED and priority * MUCH_BETTER < beside


class BestPriorities(dict[str, int]):
    """The best priority found on each host, and the best of a page on any host."""

    best_page = 0

    def add(self, name: str, priority: int) -> None:
        """Add a priority found on a host."""
        self[name] = max(self.get(name, priority), priority)
        if priority in LEARNED:
            self.best_page = max(self.best_page, priority)


class PendingPriorities:
    """The best priorities that the database does not know yet, or whose batch is being committed."""

    def __init__(self) -> None:
        self.found = BestPriorities()
        self.sent = BestPriorities()
        """Those in the batch being committed."""

    def send(self) -> None:
        """What was found is in the batch being committed from now on."""
        self.found, self.sent = BestPriorities(), self.found

    def received(self) -> None:
        """The batch is committed."""
        self.sent = BestPriorities()

    def best_of(self, name: str) -> int | None:
        """The best priority of a host."""
        return max((found[name] for found in (self.found, self.sent) if name in found), default=None)

    @property
    def best_page(self) -> int:
        """The best priority of a page on any host, or 0."""
        return max(self.found.best_page, self.sent.best_page)


NEAR = 10.0  # seconds within which a better page must be available
BATCH = 0.5  # seconds until a host that is ready is at hand again


class PageBudget:
    """Says which pages are poor, and until when."""

    def __init__(self) -> None:
        self.until: float | None = None
        """When a better page will be available than all that may be requested now."""
        self.needs_batch = False
        """Whether something better comes with the next batch."""
        self._promised: dict[str, tuple[int, float]] = {}

    def reset(self) -> None:
        """Forget what is waited for."""
        self.until, self.needs_batch = None, False

    def promise(self, name: str, best: int, ready_at: float) -> None:
        """Note that a host is not at hand while it rests, and that a good page waits for it in the database."""
        self._promised[name] = best, ready_at + BATCH

    def at_hand(self, name: str) -> None:
        """Note that a host is at hand again."""
        self._promised.pop(name, None)

    def is_poor(self, priority: int, now: float, pending: int, resting: Iterable[tuple[int, float]]) -> bool:
        """Whether a page is poor beside what is pending, or beside the heads of resting hosts.

        Heads are given as pairs of priority and the time at which the host is ready.
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
