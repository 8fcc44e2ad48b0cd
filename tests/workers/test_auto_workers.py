"""`workers=auto`: a second process joins a crawl of several hosts that keeps one processor busy, and no other crawl."""

import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from time import process_time

import pytest
from fault_injection import database, faults, left_by, prose, sqlite_url
from internet_server import Asked, Reply, Server, serving
from sites import OPEN, Crawl, crawl, page

from crawler import clean

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="a crawl of several loopback addresses"),
]

SENTENCES = 400
"""Of a page: reading them keeps a processor busy for 10 to 50 ms."""
SECONDS = 22
"""One process is busy with all pages for this time. A worker joins after 5 s at the earliest, if 10 s are left."""
SETTINGS = OPEN | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8", "CONCURRENT_REQUESTS_PER_DOMAIN": "1"}


@cache
def pages_in_all() -> int:
    """How many pages keep one process of this machine busy for `SECONDS`; a multiple of 8, for 8 hosts.

    A page takes a crawl some three times as long as `clean` needs to extract its text.
    """
    bodies = [page(*prose(number, SENTENCES)) for number in range(-40, 0)]
    begun = process_time()
    assert all(clean(body).text for body in bodies)
    seconds_of_a_page = 3 * (process_time() - begun) / len(bodies)
    return 8 * round(SECONDS / seconds_of_a_page / 8)


class Hosts:
    """Some hosts with the same number of pages each, where the first page names all others of its host."""

    def __init__(self, hosts: int) -> None:
        self.names = [f"127.0.0.{number}" for number in range(1, hosts + 1)]
        self.size = pages_in_all() // hosts
        self.requests: Counter[tuple[str, str]] = Counter()
        self.bodies = {
            (name, f"/{number}"): self._body(name, number).encode()
            for name in self.names
            for number in range(self.size)
        }
        self.server = Server(self.answer)

    def _body(self, name: str, number: int) -> str:
        others = range(1, self.size) if number == 0 else ()
        serial = self.names.index(name) * self.size + number
        return page(*prose(serial, SENTENCES), links={f"/{other}": f"page {other}" for other in others})

    def answer(self, asked: Asked) -> Reply:
        body = self.bodies.get((asked.host, asked.path))
        if body is None:
            return Reply(b"Nothing is here.", 404)
        self.requests[asked.host, asked.path] += 1
        return Reply(body)

    def url(self, name: str, path: str) -> str:
        return f"http://{name}:{self.server.port}{path}"


def crawl_of(hosts: Hosts, folder: Path, **settings: str) -> Crawl:
    """A crawl of all pages of these hosts, none of which is lost or stored twice."""
    with serving(hosts.server, hosts.names):
        seeds = ",".join(hosts.url(name, "/0") for name in hosts.names)
        ended = crawl(folder, {"seeds": seeds, "images": "no", "workers": "auto"}, SETTINGS | settings, timeout=300)
        assert ended.status == 0, ended.err
        pages = {hosts.url(*place) for place in hosts.bodies}
        assert faults(left_by(sqlite_url(folder), [folder / "output"]), pages) == []
    assert hosts.requests == Counter(dict.fromkeys(hosts.bodies, 1))
    assert ended.closing().count(f"{pages_in_all():,} pages crawled") == 1
    return ended


def pages_of_workers(folder: Path) -> dict[int, int]:
    with database(sqlite_url(folder)) as ask:
        return dict(ask("SELECT number, sum(pages) FROM sample GROUP BY number"))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_a_second_worker_joins_a_crawl_of_several_hosts_that_keeps_one_busy(tmp_path: Path) -> None:
    ended = crawl_of(Hosts(8), tmp_path)
    assert "worker 2 begins" in ended.err
    shares = pages_of_workers(tmp_path)
    assert sum(shares.values()) == pages_in_all()
    assert min(shares[1], shares[2]) > pages_in_all() / 10


@pytest.mark.parametrize(("hosts", "settings"), [(1, {}), (8, {"AUTO_WORKERS_LIMIT": "1"})])
def test_no_worker_joins(hosts: int, settings: dict[str, str], tmp_path: Path) -> None:
    ended = crawl_of(Hosts(hosts), tmp_path, **settings)
    assert "worker 2 begins" not in ended.err
    assert pages_of_workers(tmp_path) == {1: pages_in_all()}
