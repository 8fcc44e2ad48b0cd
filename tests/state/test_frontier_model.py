"""Random sequences of what a crawl does to its frontier, beside a model of it that is too simple to be wrong."""

import random
from collections import Counter

import pytest

from crawler.state.frontier import Candidate, Frontier
from crawler.urls import host

AT_ONCE = {"a.example": 1, "b.example": 2, "c.example": 3, "d.example": 1}
STEPS = "add add add take take take finish give_back rest slow".split()


class Pair:
    """A frontier and its model, lists that are searched from end to end; each step is done to both."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.frontier = Frontier(AT_ONCE.__getitem__)
        self.waiting: list[tuple[int, int, Candidate]] = []
        self.out: dict[int, Candidate] = {}
        self.ready_at: dict[str, float] = dict.fromkeys(AT_ONCE, 0.0)
        self.interval: dict[str, float] = dict.fromkeys(AT_ONCE, 0.0)
        self.now = 0.0
        self.serial = self.added = self.ended = 0

    def wait(self, candidate: Candidate) -> None:
        self.serial += 1
        self.waiting.append((-candidate.priority, self.serial, candidate))

    def best(self) -> Candidate | None:
        busy = Counter(host(candidate.url) for candidate in self.out.values())
        for entry in sorted(self.waiting):
            name = host(entry[2].url)
            if busy[name] < AT_ONCE[name] and self.ready_at[name] <= self.now:
                self.waiting.remove(entry)
                self.ready_at[name] = max(self.ready_at[name], self.now + self.interval[name])
                return entry[2]
        return None

    def add(self, name: str) -> None:
        self.added += 1
        candidate = Candidate(f"http://{name}/{self.added}", self.chance.randrange(4))
        assert self.frontier.add(candidate)
        self.wait(candidate)

    def take(self, name: str = "") -> bool:
        lent, expected = self.frontier.take(self.now), self.best()
        assert (lent and lent.candidate) == expected
        if lent:
            assert lent.lease not in self.out
            self.out[lent.lease] = lent.candidate
        return lent is not None

    def finish(self, name: str = "") -> None:
        if self.out:
            lease = self.chance.choice(list(self.out))
            del self.out[lease]
            self.ended += 1
            assert self.frontier.finish(lease, page=self.chance.random() < 0.5)
            assert not self.frontier.finish(lease)

    def give_back(self, name: str) -> None:
        if self.out:
            lease = self.chance.choice(list(self.out))
            path = self.out.pop(lease).url.rpartition("/")[2]
            candidate = Candidate(f"http://{name}/{path}", self.chance.randrange(4))
            assert self.frontier.give_back(lease, candidate)
            self.wait(candidate)

    def rest(self, name: str) -> None:
        until = self.now + self.chance.choice([1, 5])
        self.frontier.rest(name, until)
        self.ready_at[name] = max(self.ready_at[name], until)

    def slow(self, name: str) -> None:
        self.interval[name] = self.chance.choice([0, 1, 3])
        self.frontier.slow(name, self.interval[name])

    def check(self) -> None:
        assert len(self.frontier) == len(self.waiting)
        assert self.added == len(self.waiting) + len(self.out) + self.ended

    def drain(self) -> None:
        while len(self.frontier) or self.out:
            while self.take():
                pass
            while self.out:
                self.finish()
            if not self.take() and len(self.frontier):
                wait = self.frontier.ready_in(self.now)
                assert wait is not None
                self.now += wait


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost_or_doubled_and_the_order_is_the_model_s(seed: int) -> None:
    pair = Pair(seed)
    for _ in range(400):
        pair.now += pair.chance.choice([0, 0, 0.5, 2])
        getattr(pair, pair.chance.choice(STEPS))(pair.chance.choice(list(AT_ONCE)))
        pair.check()
    pair.drain()
    assert pair.ended == pair.added
    assert not pair.waiting
    assert not pair.frontier.pending
