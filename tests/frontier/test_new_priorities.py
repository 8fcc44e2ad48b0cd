"""What is asked for next when a crawl has learned: the frontier and its books together, on every kind of database."""

import pytest
from sqlalchemy import select
from store_workers import Crew, Worker, record

from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy, PageResult
from crawler.store.crawl_tables import address

A, B, C, D = (f"http://{letter}.example/" for letter in "abcd")
SEED = Candidate("http://seed.example/", 10_000, kind=AddressKind.SEED, via=FoundBy.SEED)


class Asking:
    """A worker's frontier whose batches are committed when told, and whose pages come at once."""

    def __init__(self, worker: Worker, at_once: int = 1, max_pages: int | None = None, requests: int = 4) -> None:
        self.worker = worker
        self.frontier = Frontier(worker.session.committer.keys, LimitSettings(at_once, requests=requests), max_pages)
        self.now = 0.0
        self.commit()

    def commit(self) -> None:
        self.now += 0.25
        batch = self.frontier.batch(self.now)
        self.news = self.frontier.apply_reply(self.worker.commit(batch), self.now)

    def ask(self, *links: Candidate) -> str | None:
        """The next address, whose page has these links."""
        lease = self.frontier.take(self.now)
        if lease is None:
            return None
        self.frontier.finish(lease.id, PageResult(record=record(lease), links=links))
        return lease.candidate.url

    def rest(self) -> list[str]:
        """All that comes from now on, with a batch after each page."""
        came: list[str] = []
        while not self.frontier.over:
            url = self.ask()
            came += [url] if url else []
            self.commit()
        return came


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize("known", ["at hand", "in the database"])
def test_what_rose_is_next_and_what_fell_is_last(crew: Crew, at_once: int, known: str) -> None:
    """Whether a worker has them at hand, or so many that most wait in the database."""
    others = [Candidate(f"{D}{n}", 500 - n) for n in range(3 if known == "at hand" else 40)]
    asking = Asking(crew.join(SEED), at_once)
    asking.ask(Candidate(A + "up", 10), Candidate(B + "down", 900), *others)
    asking.commit()
    asking.frontier.update_priorities({A + "up": 950, B + "down": 1})
    asking.commit()
    came = asking.rest()
    assert (came[0], came[-1]) == (A + "up", B + "down")
    assert came[1:-1] == [one.url for one in others]


def test_one_host_is_asked_in_the_new_order(crew: Crew) -> None:
    found = [Candidate(f"{A}{n}", 100 + n) for n in range(30)]
    asking = Asking(crew.join(SEED))
    asking.ask(*found)
    asking.commit()
    first = [asking.ask()]
    asking.frontier.update_priorities({f"{A}{n}": 800 - n for n in range(29)})
    asking.commit()
    assert (first + asking.rest()) == [A + "29", *(f"{A}{n}" for n in range(29))]


def test_what_is_learned_before_a_page_is_committed_counts(crew: Crew) -> None:
    asking = Asking(crew.join(SEED))
    asking.ask(Candidate(A, 5), Candidate(B, 6))
    asking.frontier.update_priorities({A: 7, B: 1})
    assert asking.rest() == [A, B]


def test_what_goes_back_keeps_its_new_price(crew: Crew) -> None:
    asking = Asking(crew.join(SEED))
    asking.ask(Candidate(A, 900))
    asking.commit()
    asking.frontier.update_priorities({A: 3})
    asking.commit()  # it is held here, so its row is left alone
    asking.frontier.hosts.rest("a.example", asking.now + 60.0)
    asking.commit()
    assert crew.value(select(address.c.priority).where(address.c.url == A)) == 3


def test_a_crawl_with_few_pages_spends_them_on_the_best(crew: Crew) -> None:
    """Although what was known first would have had all of them at hand."""
    asking = Asking(crew.join(SEED, max_pages=4), max_pages=4)
    asking.ask(*(Candidate(f"http://{n}.example/", 100) for n in range(9)))
    asking.commit()
    first = asking.ask(Candidate(C + "1", 800), Candidate(D + "1", 700))
    asking.commit()
    came = asking.rest()
    assert first == "http://0.example/"
    assert came == [C + "1", D + "1"]


def test_what_others_asked_for_waits_no_more(crew: Crew) -> None:
    one = Asking(crew.join(SEED))
    one.ask(Candidate(A, 5), Candidate(B, 4))
    one.commit()
    assert one.ask() == A
    one.commit()
    other = Asking(crew.join(folder="two"))
    other.frontier.ask_after([A, C])
    other.commit()
    assert other.news.no_longer_queued == (A,)
