"""Random sequences of what workers do, and workers that do it at the same time."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from store_workers import (
    EVERYTHING,
    LOST,
    Crew,
    Worker,
    candidates,
    check,
    check_budgets,
    failed,
    lines,
    stored,
    written,
)

from crawler.frontier.batch import Batch, ClaimRequest
from crawler.frontier.page_result import AddressKind, Candidate, Lease
from crawler.outcomes import Code, Outcome
from crawler.store.crawl_tables import AddressState, worker
from crawler.store.database import open_database
from crawler.store.heartbeats import LEASE_SECONDS
from crawler.store.page_tables import page
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical

FOLDERS = ("one", "two", "three")
HOSTS = (
    "http://a.example/",
    "http://www.b.example/",
    "http://m.b.example/",
    "http://example.com/",
    "http://d.example/",
)
STEPS = "claim claim claim claim end end end end end requeue move die leave silence rest".split()
SITE_LIMIT = 12
MAX_PAGES = 40
ENOUGH = 3  # pages of a site until its images are judged


class Chance:
    """Workers that do what chance says; `ended` counts what each address that ended came to."""

    def __init__(self, crew: Crew, seed: int) -> None:
        self.crew = crew
        self.random = random.Random(seed)
        self.found = 0
        self.plan: dict[str, Any] = {"site_limit": SITE_LIMIT, "max_pages": MAX_PAGES}
        self.pages: Counter[str] = Counter()
        self.images: Counter[str] = Counter()
        self.workers = {folder: self.join(folder) for folder in FOLDERS}
        self.workers["one"].seed(*candidates(*HOSTS, kind=AddressKind.SEED))

    def link(self) -> Candidate:
        """An address that is new, more often than not."""
        self.found += self.random.random() < 0.7
        url = f"{self.random.choice(HOSTS)}{self.random.randrange(self.found + 1)}"
        kind = "image" if self.random.random() < 0.2 else "link"
        sight = "a sight" if self.random.random() < 0.3 else None
        return Candidate(url, self.random.randrange(-3, 4), kind=kind, sight=sight)

    def step(self) -> None:
        folder = self.random.choice(FOLDERS)
        getattr(self, self.random.choice(STEPS))(self.workers[folder], folder)
        check_budgets(self.crew.engine, SITE_LIMIT)

    def some(self, worker: Worker) -> list[Lease]:
        return self.random.sample(list(worker.hand.values()), min(len(worker.hand), self.random.randrange(1, 4)))

    def rested(self, worker: Worker, gone: list[Lease]) -> dict[int, float]:
        """Hosts at hand of which nothing is held any more, as the frontier lets them go."""
        held = {one.host_id for one in worker.hand.values() if one not in gone}
        return dict.fromkeys(worker.hosts - held, 0.0)

    def join(self, folder: str) -> Worker:
        one = self.crew.join(folder=folder, **self.plan)
        one.session.committer.enough_pages = ENOUGH
        return one

    def claim(self, worker: Worker, folder: str) -> None:
        limits = [self.random.randrange(1, 4) for _ in range(3)]
        worker.claim(ClaimRequest(*limits, keeps_hosts=self.random.random() < 0.7))

    def end(self, worker: Worker, folder: str) -> None:
        ended = [
            failed(one, Outcome(Code.NOISE, "size") if one.candidate.sight else LOST)
            if self.random.random() < 0.3
            else stored(one, *(self.link() for _ in range(self.random.randrange(6))))
            for one in self.some(worker)
        ]
        demand = replace(EVERYTHING, addresses=2, each_host=1) if self.random.random() < 0.5 else None
        answer = worker.end(
            *ended, demand=demand, rests_of_dropped_hosts=self.rested(worker, [one.lease for one in ended])
        )
        if not answer.lost:
            for one in ended:
                if one.result.outcome is None:
                    (self.pages if one.lease.is_page else self.images)[one.lease.candidate.url] += 1

    def requeue(self, worker: Worker, folder: str) -> None:
        back = self.some(worker)
        worker.commit(returned=back, rests_of_dropped_hosts=self.rested(worker, back))

    def move(self, worker: Worker, folder: str) -> None:
        for one in self.some(worker)[:1]:
            worker.move(one, self.link().url)

    def rest(self, worker: Worker, folder: str) -> None:
        worker.commit(rests_of_dropped_hosts=self.rested(worker, []))

    def die(self, worker: Worker, folder: str) -> None:
        worker.die()
        self.workers[folder] = self.join(folder)

    def leave(self, worker: Worker, folder: str) -> None:
        worker.leave()
        self.workers[folder] = self.join(folder)

    def silence(self, silent: Worker, folder: str) -> None:
        """Another takes this one for dead, which goes on as a new worker."""
        if self.random.random() < 0.7:
            return
        mine = worker.c.id == silent.session.worker_id
        self.crew.change(worker.update().where(mine).values(heartbeat=worker.c.heartbeat - LEASE_SECONDS - 100))
        other = self.workers[FOLDERS[(FOLDERS.index(folder) + 1) % len(FOLDERS)]]
        other.commit()
        assert other.session.committer.expire_silent_workers() == 1
        assert silent.commit(ended=[stored(one, self.link()) for one in self.some(silent)]).lost
        silent.session.rejoin(expired=True)
        silent.commit()

    def finish(self) -> None:
        """Go on without mishaps until all say that it is over."""
        over: set[str] = set()
        for _ in range(500):
            for folder, one in self.workers.items():
                ended = [stored(each) for each in one.hand.values()]
                for each in ended:
                    (self.pages if each.lease.is_page else self.images)[each.lease.candidate.url] += 1
                one.end(*ended, rests_of_dropped_hosts=self.rested(one, [each.lease for each in ended]))
                if one.commit(demand=ClaimRequest(3, 5, 3), idle=True).over:
                    over.add(folder)
            if over == set(FOLDERS):
                return
        pytest.fail("it does not end")


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_nothing_is_lost_or_doubled_whatever_workers_do(crew: Crew, seed: int) -> None:
    chance = Chance(crew, seed)
    for _ in range(120):
        chance.step()
    chance.finish()
    assert written(crew.folder) == chance.pages
    assert set(chance.pages.values()) == {1}
    images = Counter(one["url"] for path in crew.folder.glob("*/*.images.jsonl") for one in lines(path))
    assert images == chance.images
    assert crew.value(select(func.count()).select_from(page)) == len(chance.pages) <= MAX_PAGES
    undone = [url for url, (state, _) in crew.addresses().items() if state != AddressState.DONE]
    assert not undone or len(chance.pages) == MAX_PAGES
    assert not [url for url in undone if url.startswith("image ")]


# Workers at the same time, on the one database that is made for it.

LINKS = 6
PAGES = 120
SITES = 8


def crawl_to_the_end(url: Any, plan: CrawlPlan) -> int:
    """How many pages a worker stored, of a web in which every page leads to pages on other hosts."""
    engine = open_database(url)
    try:
        session = WorkerSession(engine, plan)
        session.seed([Candidate("http://0.example/0", kind=AddressKind.SEED)])
        count = bring_all(session)
        session.leave()
    finally:
        engine.dispose()
    return count


def bring_all(session: WorkerSession) -> int:
    """How many pages this worker stored until it was over."""
    hand: list[Lease] = []
    hosts: tuple[int, ...] = ()
    count = 0
    for _ in range(1_000):
        count += len(hand)
        ended = [stored(one, *links(one.candidate.url)) for one in hand]
        resting = {} if hand else dict.fromkeys(hosts, 0.0)
        batch = Batch(ended, demand=ClaimRequest(3, 6, 3, hosts, hosts), idle=not hand, rests_of_dropped_hosts=resting)
        answer = session.committer.commit(batch)
        hosts = tuple(sorted({*(hosts if hand else ()), *(one.host_id for one in answer.leases)}))
        hand = answer.leases
        if answer.over:
            return count
    raise AssertionError("it does not end")


def links(url: str) -> list[Candidate]:
    number = int(url.rpartition("/")[2])
    numbers = [(number * LINKS + n * 7 + 1) % PAGES for n in range(LINKS)]
    return [Candidate(f"http://{n % SITES}.example/{n}", n % 5) for n in numbers]


@pytest.mark.parametrize("max_pages", [None, 50])
def test_workers_at_the_same_time(postgresql_engine: Engine, tmp_path: Path, max_pages: int | None) -> None:
    plans = [CrawlPlan("crawl", ("s",), tmp_path / folder, Canonical(()), 1_000, max_pages) for folder in FOLDERS]
    with ThreadPoolExecutor(len(plans)) as threads:
        counts = list(threads.map(lambda plan: crawl_to_the_end(postgresql_engine.url, plan), plans))
    check(postgresql_engine)
    assert sum(counts) == (max_pages or PAGES)
    assert set(written(tmp_path).values()) == {1}
    assert sum(written(tmp_path).values()) == sum(counts)
