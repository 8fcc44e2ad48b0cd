"""Priorities of addresses that this worker has found but cannot claim yet, as they are not in the database.

Addresses found while a batch is being committed are sent with the next batch.
"""


class PendingPriorities:
    """The best priority on each host among addresses that the database does not have yet."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        """The priorities of addresses for the next batch."""
        self.sent: dict[str, int] = {}
        """The priorities in the batch that is being committed."""

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
        """The best priority on a host; None if none is pending."""
        priorities = [pending[name] for pending in (self.found, self.sent) if name in pending]
        return max(priorities, default=None)
