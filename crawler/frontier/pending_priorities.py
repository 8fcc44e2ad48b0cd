"""Priorities that the database does not have yet: of new addresses, and new priorities of queued addresses.

Until they are committed, this worker cannot claim the addresses by these priorities. Priorities that are found while a
batch is being committed are sent with the next batch.
"""


class PendingPriorities:
    """The best pending priority on each host."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        """The best priority for the next batch, by the name of the host."""
        self.sent: dict[str, int] = {}
        """The best priority in the batch that is being committed, by the name of the host."""

    def add(self, name: str, priority: int) -> None:
        """Add a priority found on a host."""
        self.found[name] = max(self.found.get(name, priority), priority)

    def send(self) -> None:
        """Note that all priorities found so far are in the batch being committed."""
        self.sent = self.found
        self.found = {}

    def received(self) -> None:
        """Note that the batch is committed."""
        self.sent = {}

    @property
    def best_sent(self) -> int:
        """The best priority on any host in the batch being committed, or 0."""
        return max(self.sent.values(), default=0)

    def best_of(self, name: str) -> int | None:
        """The best pending priority on a host; None if none is pending."""
        priorities = [pending[name] for pending in (self.found, self.sent) if name in pending]
        return max(priorities, default=None)
