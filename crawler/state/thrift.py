"""Thrift: a crawl that cannot have every page does not spend them on poor ones while much better ones are near.

Without it an idle host is asked for whatever it has while better hosts have their pause. A page is poor beside one that
promises more than twice as much: one that is at hand, on a host whose pause will have passed in a few seconds, or one
that was found a moment ago and is at hand after the next batch. No page is poor for long for the same one's sake.
"""

from collections.abc import Iterable, Iterator

from crawler.state.coming import is_poor

NEAR = 10.0  # seconds in which a page is to be had for which another waits
BATCH = 0.5  # seconds that it takes to have a host at hand again once it is ready


class Thrift:
    """Says which pages are poor, and until when."""

    def __init__(self) -> None:
        self.until: float | None = None
        """When to look again for what is worth more than all that may be asked for now."""
        self.wants_batch = False
        """Whether something better comes with the next batch."""
        self._promised: dict[str, tuple[int, float]] = {}

    def look_anew(self) -> None:
        """Forget what was waited for."""
        self.until, self.wants_batch = None, False

    def promise(self, name: str, best: int, ready_at: float) -> None:
        """A host is not at hand for its pause, and something good waits for it in the database."""
        self._promised[name] = best, ready_at + BATCH

    def has_come(self, name: str) -> None:
        """A host is at hand again."""
        self._promised.pop(name, None)

    def is_poor(self, priority: int, now: float, coming: int, resting: Iterable[tuple[int, float]]) -> bool:
        """Whether a page is worth less than half of what is coming, or of the heads of resting hosts, which are given
        with the time they are ready.
        """
        if is_poor(priority, coming):
            self.wants_batch = True
            return True
        near = [until for best, until in (*resting, *self._promises(now)) if is_poor(priority, best)]
        near = [until for until in near if now < until <= now + NEAR]
        self.until = min(near, default=None)
        return bool(near)

    def _promises(self, now: float) -> Iterator[tuple[int, float]]:
        self._promised = {name: promised for name, promised in self._promised.items() if promised[1] > now}
        return iter(self._promised.values())
