"""How long a priority is pending."""

from crawler.frontier.pending_priorities import PendingPriorities


def test_what_is_found_comes_with_the_next_batch_but_one_at_most() -> None:
    pending = PendingPriorities()
    pending.add("a", 5)
    pending.add("a", 3)
    assert (pending.best_of("a"), pending.best_of("b"), pending.sent, pending.best_sent) == (5, None, {}, 0)
    pending.send()
    pending.add("a", 4)
    pending.add("b", -7)
    assert (pending.best_of("a"), pending.best_of("b"), pending.sent, pending.best_sent) == (5, -7, {"a": 5}, 5)
    pending.received()
    assert pending.best_of("a") == 4
    pending.send()
    pending.received()
    assert (pending.best_of("a"), pending.best_sent) == (None, 0)
