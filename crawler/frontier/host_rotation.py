"""Which hosts a worker keeps at hand: how many addresses it claims, and which it returns to the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.batch import ClaimRequest
from crawler.frontier.page_budget import NEAR, PendingPriorities, is_poor

if TYPE_CHECKING:
    from crawler.frontier.batch import Batch
    from crawler.frontier.host_queues import HostQueue, HostQueues
    from crawler.frontier.page_result import Lease

AWAY = 2.0  # a host that rests longer than these seconds goes back to the database
UNUSED = 10.0  # seconds in which a host is ready and not asked, until what it refused is requested again
MOST_OF_A_HOST = 128  # addresses


class HostRotation:
    """Fills in a batch which addresses are returned and how many are claimed."""

    def __init__(self, queues: HostQueues) -> None:
        self.queues, self.limits = queues, queues.limits
        self.pending = PendingPriorities()

    def wants_more(self, name: str) -> bool:
        """Whether a host runs out of addresses."""
        return name not in self.limits.closed and self.queues.runs_low(name)

    def better_is_pending(self, name: str, priority: int) -> bool:
        """Whether a host that is asked one page at a time has a better one, found a moment ago."""
        if self.limits.settings.at_once(name) > 1:
            return False
        best = self.pending.best_of(name)
        return best is not None and best > priority

    def return_unneeded(self, batch: Batch, now: float) -> None:
        """Let hosts go that have nothing at hand or rest long, and return addresses that better ones come before."""
        for name, queue in self.queues.items():
            self._return_unneeded(name, queue, batch, now)

    def claim_request(self, now: float, taken: int) -> ClaimRequest | None:
        """How much to claim: twice what is taken until the next batch, from as many hosts as there is room for.

        `taken` is the number of addresses taken since the last batch.
        """
        settings, hosts = self.limits.settings, dict(self.queues.items())
        most = max(map(settings.at_once, hosts), default=settings.usual)
        ready = {name: queue for name, queue in hosts.items() if self.queues.ready_at(name) <= now + AWAY}
        waiting = sum(len(queue.waiting) for queue in ready.values())
        near = (name for name in hosts if self.queues.ready_at(name) <= now + self._near)
        low = tuple(hosts[name].host_id for name in near if self.wants_more(name))
        each = max(2 * most, min(MOST_OF_A_HOST, 2 * taken // max(1, len(ready))))
        pages = 4 * settings.requests - waiting
        new = max(0, 2 * settings.requests - len(ready))
        at_hand = tuple(queue.host_id for queue in hosts.values())
        return ClaimRequest(new, pages, each, low, at_hand, self.limits.alone) if pages > 0 else None

    @property
    def _near(self) -> float:
        """Seconds within which a host must be ready to be kept at hand."""
        return NEAR if self.queues.budget else AWAY

    def _return_unneeded(self, name: str, queue: HostQueue, batch: Batch, now: float) -> None:
        away, budget = self.queues.ready_at(name) - now, self.queues.budget
        if queue.refused and not queue.active and away < -UNUSED:
            self.queues.requeue_refused(name)
        is_away = away > self._near
        better = self.pending.sent.get(name)
        best = self.pending.sent.best_page if budget else 0
        for _, _, lease in queue.waiting if is_away or better is not None or best else []:
            priority = lease.candidate.priority
            is_worse = (better is not None and priority < better) or is_poor(priority, best)
            if lease.request is None and (is_away or is_worse):
                _return(lease, batch)
        self.queues.remove(name, {lease.id for lease in batch.returned})
        if not queue.waiting and not queue.active and not queue.refused:
            batch.resting[queue.host_id] = max(0.0, away)
            if budget is not None and better is not None:
                budget.promise(name, better, now + max(0.0, away))
            del self.queues.hosts[name]
            self.limits.forget_rests(now)


def _return(lease: Lease, batch: Batch) -> None:
    """Return an address to the database, with its new priority if it has one."""
    batch.returned.append(lease)
    if lease.has_new_priority:
        batch.priorities.setdefault(lease.candidate.url, lease.candidate.priority)
