"""The demo site stays where a crawl of it has its pages, and is for one worker."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from sites import Crawl, crawl
from sqlalchemy.engine import URL, make_url

from crawler import demo
from crawler.errors import StateError
from crawler.frontier.page_result import AddressKind, Candidate
from crawler.reports.crawls import read_state
from crawler.spiders.demo_site import check_demo
from crawler.store.database import open_database
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical


def session(url: URL, folder: Path) -> WorkerSession:
    return WorkerSession(open_database(url), CrawlPlan("bees", ("demo",), folder, Canonical(()), 10_000))


def at(folder: Path) -> URL:
    return URL.create("sqlite", database=str(folder / "crawl.db"))


@pytest.fixture
def taken() -> Iterator[int]:
    """A port at which somebody else is."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def ports(ended: Crawl) -> set[str]:
    return set(re.findall(r"http://127\.0\.0\.1:(\d+)/", " ".join(str(item["url"]) for item in ended.items())))


@pytest.mark.long
def test_a_crawl_that_goes_on_has_its_pages_at_one_port(tmp_path: Path) -> None:
    with demo.serving() as elsewhere:  # its usual port is taken, if not by this then by another
        first = crawl(tmp_path, {"seeds": "demo", "max_pages": "4"}, {})
        assert (first.status, len(ports(first))) == (0, 1)
        assert f":{ports(first).pop()}/" not in elsewhere
    second = crawl(tmp_path, {"seeds": "demo"}, {})
    assert (second.status, ports(second)) == (0, ports(first))
    assert len({item["url"] for item in second.items()}) == len(second.items()) > 4
    assert "address is not public" not in second.closing()


@pytest.mark.long
def test_a_crawl_of_the_demo_that_cannot_go_on_or_need_not(tmp_path: Path) -> None:
    with demo.serving():  # so that its port is not the usual one
        (port,) = ports(crawl(tmp_path, {"seeds": "demo", "max_pages": "2"}, {}))
    with socket.create_server(("127.0.0.1", int(port))):
        refused = crawl(tmp_path, {"seeds": "demo"}, {})
    assert refused.status == 2
    assert re.fullmatch(f"crawl: .* {port} .*'topic'.*\n", refused.err)
    assert crawl(tmp_path, {"seeds": "demo"}, {}).status == 0
    with socket.create_server(("127.0.0.1", int(port))):
        finished = crawl(tmp_path, {"seeds": "demo"}, {})
    assert finished.status == 0
    assert "'topic' is finished" in finished.err


def test_a_first_crawl_may_have_any_port(tmp_path: Path) -> None:
    one = session(at(tmp_path), tmp_path)
    assert one.known_seed() is None
    check_demo(one)
    one.leave()


def test_a_port_that_is_taken_ends_the_crawl_before_it_begins(tmp_path: Path, taken: int) -> None:
    one = session(at(tmp_path), tmp_path)
    one.seed([Candidate(f"http://127.0.0.1:{taken}/", kind=AddressKind.SEED)])
    assert one.known_seed() == f"http://127.0.0.1:{taken}/"
    with pytest.raises(StateError, match=f" {taken} .*'bees'"):
        check_demo(one)
    assert read_state(at(tmp_path)).crawls[0].workers == ()
    with pytest.raises(OSError, match="in use"), demo.serving(taken, exact=True):
        pass


def test_another_crawls_seed_is_not_this_ones(tmp_path: Path, taken: int) -> None:
    other = WorkerSession(open_database(at(tmp_path)), CrawlPlan("wasps", ("demo",), tmp_path, Canonical(()), 10_000))
    other.seed([Candidate(f"http://127.0.0.1:{taken}/", kind=AddressKind.SEED)])
    other.leave()
    one = session(at(tmp_path), tmp_path)
    check_demo(one)
    one.leave()


def test_the_demo_is_for_one_worker(tmp_path: Path, postgres_server: postgres.Server) -> None:
    url = make_url(postgres_server.database())
    first = session(url, tmp_path / "one")
    check_demo(first)
    second = session(url, tmp_path / "two")
    with pytest.raises(StateError, match="'bees' has another worker"):
        check_demo(second)
    assert len(read_state(url).crawls[0].workers) == 1
    first.leave()
    third = session(url, tmp_path / "two")
    check_demo(third)
    third.leave()
