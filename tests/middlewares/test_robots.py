"""robots.txt: what it forbids is not asked for, and nothing is when it cannot be read."""

import asyncio
import json
import re
from contextlib import ExitStack, suppress
from itertools import accumulate
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import Response
from short_backoff import HURRIED
from sites import OPEN, Answer, Asked, Crawl, Route, Site, crawl, page, serving

from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.middlewares.robots import RobotsMiddleware
from crawler.rights.robots_file import MAX_SIZE
from crawler.settings import DOWNLOADER_MIDDLEWARES
from crawler.spiders.request_outcomes import Refusal
from crawler.store.batch.addresses import AddressKeys
from crawler.urls.canonical import Canonical

LINKS = {f"/{path}": path for path in ("open", "closed/a", "closed/but/b", "c", "only-others")}
PAGES: dict[str, Route] = {path: page(f"This is {path}.") for path in LINKS} | {"/": page("Hello.", links=LINKS)}
ALL = {"/", *LINKS}


def plain(text: str) -> Answer:
    return Answer(text, content_type="text/plain")


def crawled(folder: Path, *robots: Route, **settings: str) -> tuple[Crawl, list[Site]]:
    """A crawl of sites with the same pages, each with its own robots.txt."""
    with ExitStack() as served:
        sites = [served.enter_context(serving(Site(PAGES | {"/robots.txt": answer}))) for answer in robots]
        return crawl(folder, {"seeds": " ".join(site.url for site in sites)}, OPEN | settings), sites


RULES = {
    "User-agent: *\nDisallow:": ALL,
    "User-agent: *\nDisallow: /closed/": {"/", "/open", "/c", "/only-others"},
    "User-agent: *\nDisallow: /closed/\nAllow: /closed/but/": ALL - {"/closed/a"},
    "User-agent: *\nDisallow: /*/\nDisallow: /c$": {"/", "/open", "/only-others"},
    "User-agent: winnow\nDisallow: /open\n\nUser-agent: *\nDisallow: /": ALL - {"/open"},
    "User-agent: *\nDisallow: /\n\nUser-agent: Winnow\nDisallow: /open": ALL - {"/open"},
    "User-agent: Other\nDisallow: /": ALL,
    "\ufeffUser-agent: *\r\ndisallow: /closed # not yet": {"/", "/open", "/c", "/only-others"},
    "<html>Not what was asked for</html>": ALL,
    # one of half a megabyte is read to its end
    "User-agent: *\n" + "Allow: /allowed-at-length\n" * 15_000 + "Disallow: /c$\n": ALL - {"/c"},
    # of a longer one, what it begins with counts
    "User-agent: *\nDisallow: /c$\n" + "Allow: /allowed-at-length\n" * 30_000 + "Disallow: /\n": ALL - {"/c"},
}


def test_what_is_disallowed_is_not_asked_for(tmp_path: Path) -> None:
    ended, sites = crawled(tmp_path, *map(plain, RULES))
    for (rules, asked), site in zip(RULES.items(), sites, strict=True):
        assert site.paths()[0] == "/robots.txt", rules[:200]
        assert sorted(site.paths()[1:]) == sorted(asked), rules[:200]
    assert ended.counts() == {"refused by robots.txt": sum(len(ALL - asked) for asked in RULES.values())}
    assert len(re.findall(rf"robots.txt.* {MAX_SIZE} bytes", ended.err)) == 1
    assert ended.status == 0


def test_without_a_robots_txt_all_is_allowed(tmp_path: Path) -> None:
    ended, sites = crawled(tmp_path, *(Answer("User-agent: *\nDisallow: /", n) for n in (400, 401, 403, 404, 410)))
    assert all(site.paths()[0] == "/robots.txt" and set(site.paths()[1:]) == ALL for site in sites)
    assert (ended.status, ended.counts()) == (0, {})


def break_connection(asked: Asked) -> Answer:
    raise ConnectionAbortedError


UNREADABLE: dict[str, Route] = {
    "refused by robots.txt": plain("User-agent: *\nDisallow: /"),
    "robots.txt cannot be read: 500 Internal Server Error": Answer("", 500),
    "robots.txt cannot be read: 503 Service Unavailable": Answer("", 503),
    "robots.txt cannot be read: 429 Too Many Requests": Answer("", 429, headers={"Retry-After": "86400"}),
    "robots.txt cannot be read: connection lost": break_connection,
    "robots.txt cannot be read: response cut short": Answer([b"User-agent: *"], headers={"Content-Length": "900"}),
    "robots.txt cannot be read: redirected too often": Answer("", 302, headers={"Location": "/robots.txt"}),
    "robots.txt cannot be read: body larger than the limit": plain("User-agent: *\n" + "Allow: /a\n" * 1_100_000),
    "robots.txt asks for longer pauses than CRAWL_DELAY_LIMIT": plain("User-agent: *\nCrawl-delay: 61"),
}


def test_nothing_is_asked_for_that_robots_txt_forbids_or_while_it_cannot_be_read(tmp_path: Path) -> None:
    ended, sites = crawled(tmp_path, *UNREADABLE.values(), **HURRIED, HURRIED_DELAY="0.05", HURRIED_TIMES="2")
    for why, site in zip(UNREADABLE, sites, strict=True):
        assert set(site.paths()) == {"/robots.txt"}, why
        # Few fetches, each with a few tries or redirects: usually 9 or 11 requests, on a slow machine one fetch more.
        assert len(site.paths()) <= 16, why
        assert f"{site.url}: {why}\n" in ended.closing()
    assert ended.counts() == dict.fromkeys(UNREADABLE, 1)
    assert ended.status == 1


def test_robots_txt_is_asked_for_again_after_a_failure(tmp_path: Path) -> None:
    ended, [site] = crawled(tmp_path, lambda asked: plain("") if asked.times == 2 else break_connection(asked))
    assert (ended.status, site.paths()[:3], set(site.paths()[3:])) == (0, ["/robots.txt"] * 3, ALL)


def test_a_redirected_robots_txt_counts_for_the_host_that_redirected_it(tmp_path: Path) -> None:
    away = plain("User-agent: *\nDisallow: /closed/")
    with serving(Site({"/rules": away}), "127.0.0.2") as other:
        moved = Answer("", 301, headers={"Location": f"{other.url}rules"})
        ended, [site] = crawled(tmp_path, moved, ALLOWED_PRIVATE_HOSTS="127.0.0.0/8")
    assert other.paths() == ["/rules"]
    assert sorted(site.paths()) == sorted(["/robots.txt", "/", "/open", "/c", "/only-others"])
    assert ended.status == 0


def test_each_host_has_its_own_robots_txt_which_is_asked_for_once(tmp_path: Path) -> None:
    with serving(Site(PAGES | {"/robots.txt": plain("User-agent: *\nDisallow: /open")}), "127.0.0.2") as other:
        links = {f"{other.url}{path}": path for path in ("open", "c")} | {"/c": "c"}
        with serving(Site(PAGES | {"/": page("Hello.", links=links)})) as site:
            settings = OPEN | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}
            ended = crawl(tmp_path, {"seeds": site.url, "scope": "any"}, settings)
    assert site.paths() == ["/robots.txt", "/", "/c"]
    assert other.paths() == ["/robots.txt", "/c"]
    assert ended.counts() == {"refused by robots.txt": 1}


def test_a_crawl_that_does_not_obey_does_not_ask(tmp_path: Path) -> None:
    ended, [site] = crawled(tmp_path, plain("User-agent: *\nDisallow: /"), ROBOTSTXT_OBEY="False")
    assert sorted(site.paths()) == sorted(ALL)
    assert ended.status == 0


class Engine:
    """Answers with these statuses in turn, and every body is a refusal of /a."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.engine = self

    async def download_async(self, request: Request) -> Response:
        return Response(request.url, self.statuses.pop(0), body=b"User-agent: *\nDisallow: /a")


DAY, FAILURE = 86_400.0, RobotsMiddleware.failure_seconds
PAUSES = [5.0, 10.0, 20.0, 40.0, 80.0]
"""Seconds after each of the first failures."""


@pytest.mark.parametrize(
    ("statuses", "times", "left"),
    [
        # The robots.txt of a host is read again after a day.
        ((200, 200), (0.0, DAY - 1), 1),
        ((200, 200), (0.0, DAY), 0),
        ((404, 200), (0.0, DAY - 1), 1),
        ((404, 200), (0.0, DAY), 0),
        # After a failure it is read again soon; after several in a row later.
        ((500, 200), (0.0, 4.9), 1),
        ((500, 200), (0.0, 5.0), 0),
        ((500, 500, 200), (0.0, 5.0, 14.9), 1),
        ((500, 500, 200), (0.0, 5.0, 15.0), 0),
        ((500,) * 6 + (200,), (*accumulate(PAUSES, initial=0.0), sum(PAUSES) + FAILURE - 1), 1),
        ((500,) * 6 + (200,), (*accumulate(PAUSES, initial=0.0), sum(PAUSES) + FAILURE), 0),
        # A success ends the row.
        ((500, 200, 500, 200), (0.0, 5.0, 5.0 + DAY, 9.9 + DAY), 1),
        ((500, 200, 500, 200), (0.0, 5.0, 5.0 + DAY, 10.0 + DAY), 0),
    ],
)
def test_when_robots_txt_is_read_again(statuses: tuple[int, ...], times: tuple[float, ...], left: int) -> None:
    engine = Engine(*statuses)
    hosts = Frontier(AddressKeys(1, Canonical(())), LimitSettings()).hosts
    robots = RobotsMiddleware(engine, hosts, 60.0)  # type: ignore[arg-type]
    now = 0.0
    robots.answers.clock = lambda: now

    async def read() -> None:
        nonlocal now
        for at in times:
            now = at
            request = Request("http://a.example/b")
            answer = None
            with suppress(Refusal):
                answer = await robots.process_request(request)
            # While the host is paused, its addresses wait.
            assert (answer is None) is (hosts.limits.rest_ends_at("a.example") <= now)
        assert len(engine.statuses) == left

    asyncio.run(read())


OBEYED = {
    "version": "User-agent: Winnow/1.0\nDisallow: /",
    "two words": "User-agent: Winnow bot\nDisallow: /",
    "words in brackets": "User-agent: Winnow (focused crawler)\nDisallow: /",
    "unknown record": "User-agent: winnow\nFoo: bar\nUser-agent: *\nDisallow: /",
    "delay": "User-agent: winnow\nCrawl-delay: 0.1\nUser-agent: *\nDisallow: /",
    "bare address": "User-agent: winnow\nhttps://a.example/sitemap.xml\nUser-agent: *\nDisallow: /",
    "many rules": "User-agent: *\n" + "".join(f"Allow: /{n}\n" for n in range(10_000)) + "Disallow: /",
    "prefix of the name": "User-agent: Win\nDisallow:\n\nUser-agent: *\nDisallow: /",
    "star and words": "User-agent: * all robots\nDisallow: /",
    "line separator": "User-agent: *\nDisallow: /\n#\u2028Allow: /",
}


def test_odd_files_are_obeyed(tmp_path: Path) -> None:
    with ExitStack() as served:
        sites = [
            served.enter_context(serving(Site(PAGES | {"/robots.txt": plain(text)}), f"127.0.0.{number}"))
            for number, text in enumerate(OBEYED.values(), start=1)
        ]
        seeds = " ".join(site.url for site in sites)
        ended = crawl(tmp_path, {"seeds": seeds}, OPEN | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"})
    assert [site.paths() for site in sites] == [["/robots.txt"]] * len(OBEYED)
    assert ended.counts() == {"refused by robots.txt": len(OBEYED)}


def test_addresses_wait_for_a_robots_txt_that_fails(tmp_path: Path) -> None:
    def failing(times: int) -> Route:
        return lambda asked: Answer("", 500) if asked.times < times else plain("User-agent: *\nDisallow: /closed/")

    tries = (3, 9)  # each failure is one of the request and of its two retries
    ended, sites = crawled(tmp_path, *map(failing, tries), **HURRIED, HURRIED_DELAY="0.05", HURRIED_TIMES="3")
    for times, site in zip(tries, sites, strict=True):
        assert site.paths()[: times + 1] == ["/robots.txt"] * (times + 1)
        assert sorted(site.paths()[times + 1 :]) == ["/", "/c", "/only-others", "/open"]
    assert ended.status == 0


@pytest.mark.long
def test_a_robots_txt_that_was_dropped_is_asked_for_again(tmp_path: Path) -> None:
    forgetful = DOWNLOADER_MIDDLEWARES | {
        "crawler.middlewares.robots.RobotsMiddleware": None,
        "small_robots_cache.ForgetfulRobots": 100,
    }
    robots = plain("User-agent: *\nDisallow: /closed/\nCrawl-delay: 0.3")
    ended, [site] = crawled(tmp_path, robots, DOWNLOADER_MIDDLEWARES=json.dumps(forgetful))
    assert site.paths().count("/robots.txt") > 2
    assert sorted(site.paths("/robots.txt")) == sorted(ALL - {"/closed/a", "/closed/but/b"})
    assert (ended.status, len(ended.items())) == (0, 4)
