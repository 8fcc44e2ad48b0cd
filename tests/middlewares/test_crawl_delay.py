"""Crawl-delay: a host that asks for pauses gets them, whatever the settings, and no other host waits for it."""

from itertools import pairwise
from pathlib import Path

import pytest
from sites import OPEN, Answer, Route, Site, crawl, page, serving, serving_all

from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.middlewares.robots import RobotsMiddleware
from crawler.outcomes import Code, Outcome
from crawler.rights.robots_file import read_robots
from crawler.store.batch.addresses import AddressKeys
from crawler.urls.canonical import Canonical

DELAY = 0.6
TOLERANCE = 0.15  # of a machine with other things to do
BOTH = OPEN | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}


def asking_for(rules: str, pages: int) -> dict[str, Route]:
    """Routes of a small site with these rules."""
    links = {f"/{n}": f"page {n}" for n in range(pages)}
    robots = Answer(f"User-agent: *\n{rules}", content_type="text/plain")
    return {"/robots.txt": robots, "/": page("Hello.", links=links)} | {
        path: page(f"This is {path}.") for path in links
    }


def gaps(site: Site) -> list[float]:
    """The seconds between the requests for pages."""
    times = [asked.at for asked in site.asked if asked.path != "/robots.txt"]
    return [after - before for before, after in pairwise(times)]


def test_pauses_are_kept_and_another_host_does_not_wait(tmp_path: Path) -> None:
    with (
        serving(Site(asking_for("Disallow:", 30)), "127.0.0.2") as quick,
        serving(Site(asking_for(f"Crawl-delay: {DELAY}", 5))) as slow,
    ):
        ended = crawl(tmp_path, {"seeds": f"{slow.url} {quick.url}"}, BOTH)
    assert len(ended.items()) == 6 + 31
    assert len(gaps(slow)) == 5
    assert min(gaps(slow)) >= DELAY - TOLERANCE
    # However busy the machine is: all of the one is asked for before the pauses of the other are over.
    assert quick.asked[-1].at < slow.asked[-1].at


@pytest.mark.long
def test_pauses_are_kept_between_seeds_retries_and_redirects_too(tmp_path: Path) -> None:
    """They are on their way, or come back, while robots.txt is only being read."""
    routes = asking_for(f"Crawl-delay: {DELAY}", 3)
    routes["/0"] = lambda asked: Answer("", 500 if asked.times == 0 else 200)
    routes["/1"] = Answer("", 302, headers={"Location": "/moved"})
    routes["/moved"] = page("This is where it is now.")
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": " ".join(site.url + path for path in ("0", "1", "2"))}, OPEN)
    assert ended.status == 0
    assert sorted(site.paths()) == sorted(["/robots.txt", "/0", "/0", "/1", "/moved", "/2"])
    assert min(gaps(site)) >= DELAY - TOLERANCE


def test_a_host_that_asks_for_longer_pauses_than_the_limit_is_left_alone(tmp_path: Path) -> None:
    sites = [Site(asking_for(f"Crawl-delay: {delay}", 2)) for delay in ("0.3", "0.31")]
    with serving_all(sites) as seeds:
        ended = crawl(tmp_path, {"seeds": seeds}, OPEN | {"CRAWL_DELAY_LIMIT": "0.3"})
    assert [len(site.paths(without="/robots.txt")) for site in sites] == [3, 0]
    assert ended.counts() == {str(Outcome(Code.CRAWL_DELAY_TOO_LONG).message): 1}


@pytest.mark.long
def test_the_pauses_of_the_group_that_speaks_to_this_crawler_count(tmp_path: Path) -> None:
    with serving(Site(asking_for("Crawl-delay: 50\n\nUser-agent: winnow\nCrawl-delay: 0.3", 3))) as site:
        crawl(tmp_path, {"seeds": site.url}, OPEN)
    assert len(gaps(site)) == 3
    assert 0.3 - TOLERANCE <= min(gaps(site)) <= max(gaps(site)) < 10


@pytest.mark.parametrize(("delay", "interval"), [("1e-320", 0.0), ("0.0009", 0.0), ("0.001", 0.001), ("-1", 0.0)])
def test_a_delay_below_a_millisecond_is_none(delay: str, interval: float, caplog: pytest.LogCaptureFixture) -> None:
    hosts = Frontier(AddressKeys(1, Canonical(())), LimitSettings()).hosts
    rules = read_robots(f"User-agent: *\nCrawl-delay: {delay}".encode(), "", "")
    with caplog.at_level("INFO"):
        assert RobotsMiddleware(None, hosts, 60.0).slow_down("a.example", rules) is rules  # type: ignore[arg-type]
    assert hosts.interval("a.example") == interval
    assert len([one for one in caplog.records if one.name.startswith("crawler.")]) == bool(interval)
