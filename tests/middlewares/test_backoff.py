"""Busy hosts: one that answers 429 or 503 rests as long as it asks, within limits, and its page is asked for again."""

from collections import Counter
from contextlib import ExitStack
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep, time

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from short_backoff import HURRIED
from sites import OPEN, Answer, Asked, Crawl, Site, crawl, page, serving
from wall_pages import WALLS

from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limits import LimitSettings
from crawler.middlewares.backoff import WALLS_OF_HOST, WALLS_OF_NEW_HOST, BackoffMiddleware
from crawler.outcomes import Code, Outcome
from crawler.spiders.request_outcomes import OF_SITE, PART_OF_PAGE, REFUSED_TIMES, ROBOTS, Refusal
from crawler.store.batch.addresses import AddressKeys
from crawler.urls.canonical import Canonical

TOLERANCE = 0.15  # of a machine with other things to do
BUSY = Outcome(Code.HTTP_STATUS, "503")
CLOSED = str(Outcome(Code.HOST_CLOSED).message)
LATE = 15.0  # the same, where it has very much else to do
ONE_AT_A_TIME = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1", "HURRIED_DELAY": "0.3"} | HURRIED


def busy(times: int, status: int = 503, header: str = "", pages: int = 3) -> Site:
    """A site that answers with a first page, then with refusals, then with pages; DATE is the moment in 2 seconds."""
    left = iter(range(times))

    def route(asked: Asked) -> Answer:
        if next(left, None) is None:
            return Answer(page(f"This is {asked.path}."))
        after = header.replace("DATE", formatdate(time() + 2, usegmt=True))
        return Answer("Not now.", status, headers={"Retry-After": after})

    links = {f"/{n}": f"page {n}" for n in range(pages)}
    return Site({"/": page("Hello.", links=links)} | dict.fromkeys(links, route))


def crawled(folder: Path, *sites: Site, **settings: str) -> Crawl:
    with ExitStack() as served:
        seeds = " ".join(served.enter_context(serving(site)).url for site in sites)
        return crawl(folder, {"seeds": seeds}, ONE_AT_A_TIME | settings)


def pauses(site: Site, times: int) -> list[float]:
    """The seconds after each of the first requests for pages that were refused."""
    return [after.at - before.at for before, after in pairwise(site.asked[2 : times + 3])]


# What the host says, and the pauses it gets.
PAUSES = {
    "429 once, for a second": ((1, 429, "1"), [1.0]),
    "503 once, for a second": ((1, 503, "1"), [1.0]),
    "503 twice, for a second": ((2, 503, " 1 "), [1.0, 1.0]),
    "503 until a date, which is in whole seconds": ((1, 503, "DATE"), [1.0]),
    "429 without a word": ((3, 429, ""), [0.3, 0.6, 1.2]),
    "503 with words that mean nothing": ((2, 503, "soon"), [0.3, 0.6]),
    "503 with a number that means nothing": ((1, 503, "-5"), [0.3]),
    "503 with a date that means nothing": ((1, 503, "Fri, 99 Foo 2026 25:61:61 GMT"), [0.3]),
    "429 for no time at all": ((2, 429, "0"), [0.0, 0.0]),
}


def test_a_busy_host_rests_and_all_its_pages_wait_while_other_hosts_go_on(tmp_path: Path) -> None:
    calm = busy(0, pages=10)
    sites = {words: busy(*said) for words, (said, _) in PAUSES.items()}
    ended = crawled(tmp_path, *sites.values(), calm)
    for words, site in sites.items():
        asked = PAUSES[words][1]
        assert site.paths()[:2] == ["/robots.txt", "/"], words
        assert len(site.paths()) == 5 + len(asked), words
        for pause, least in zip(pauses(site, len(asked)), asked, strict=True):
            assert least - TOLERANCE <= pause < least + LATE + 1.0 * ("date" in words), words
    resting = sites["503 twice, for a second"].asked
    assert sum(resting[2].at < asked.at < resting[4].at for asked in calm.asked) >= 5
    assert ended.status == 0
    assert sorted(item["url"] for item in ended.items()) == sorted(
        site.url + path
        for site, pages in [*((site, 3) for site in sites.values()), (calm, 10)]
        for path in ["", *map(str, range(pages))]
    )


GIVEN_UP = {
    "after so many pauses": (503, "", {"HURRIED_DELAY": "0.05", "HURRIED_TIMES": "3"}, 4),
    "after so many pauses of no time": (429, "0", {"HURRIED_TIMES": "3"}, 4),
    "when a pause would be too long": (503, "", {"HURRIED_DELAY": "0.1", "BACKOFF_LIMIT": "0.3"}, 3),
    "at once when it asks for a day": (503, "86400", {}, 1),
    "at once when it asks for eternity": (429, "9" * 400, {}, 1),
    "at once when it names a far date": (503, "Fri, 31 Dec 9999 23:59:59 GMT", {}, 1),
}


@pytest.mark.long
@pytest.mark.parametrize("words", GIVEN_UP)
def test_a_host_that_is_busy_for_too_long_is_left_alone(tmp_path: Path, words: str) -> None:
    status, header, settings, times = GIVEN_UP[words]
    site, calm = busy(1_000, status, header, pages=8), busy(0)
    ended = crawled(tmp_path, site, calm, **settings)
    assert len(site.paths()) == 2 + times
    assert len(calm.paths()) == 5
    refused = {why: count for why, count in ended.counts().items() if why.startswith(("429 ", "503 "))}
    assert list(refused.values()) == [1]
    assert ended.counts() == refused | {CLOSED: 7}
    assert ended.status == 0


def test_a_host_is_given_up_after_its_last_pause() -> None:
    hosts = Frontier(AddressKeys(1, Canonical(())), LimitSettings()).hosts
    backoff = BackoffMiddleware(hosts, lambda name: None, limit=10.0)
    backoff.first_pause = 0.0
    may_come_again = [backoff.pause_or_close("a.example", BUSY, None) for _ in range(backoff.max_pauses + 1)]
    assert may_come_again == [True] * backoff.max_pauses + [False]
    assert [backoff.pause_or_close(f"{seconds}.example", BUSY, seconds) for seconds in (9.0, 11.0)] == [True, False]


def test_a_host_that_is_left_alone_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    hosts = Frontier(AddressKeys(1, Canonical(())), LimitSettings()).hosts
    backoff = BackoffMiddleware(hosts, lambda name: None, limit=10.0)
    assert [backoff.pause_or_close(name, BUSY, 3600.0) for name in ("a.example", "a.example", "b.example")] == [
        False
    ] * 3
    assert [message.split()[0] for message in caplog.messages] == ["a.example", "b.example"]


@pytest.mark.parametrize("name", ["cloudflare 403", "akamai denied", "baidu redirect"])
@pytest.mark.parametrize("meta", [{}, {ROBOTS: True}, {OF_SITE: True}, {PART_OF_PAGE: True}])
def test_a_wall_pauses_its_host_and_goes_no_further(name: str, meta: dict[str, bool]) -> None:
    service, wall = WALLS[name]
    hosts, counts = Frontier(AddressKeys(1, Canonical(())), LimitSettings()).hosts, Counter[str]()
    backoff = BackoffMiddleware(hosts, lambda name: counts.update([name]), limit=10.0)
    request = Request("http://a.example/robots.txt", meta=meta)
    headers = {"Content-Type": wall.content_type, **wall.headers}
    response = HtmlResponse(request.url, wall.status, headers, wall.body.encode())
    if meta:  # these have no place in the queue
        with pytest.raises(Refusal) as refusal:
            backoff.process_response(request, response)
        assert (refusal.value.outcome, refusal.value.response) == (Outcome(Code.WALLED, service), response)
    else:
        assert isinstance(backoff.process_response(request, response), Request)
    assert hosts.is_resting("a.example", monotonic())
    assert counts == {"backoff/walled": 1}


def test_walls_with_a_status_of_success_are_of_their_address_at_first() -> None:
    service, wall = WALLS["cloudflare 200"]
    hosts = Frontier(AddressKeys(1, Canonical(())), LimitSettings()).hosts
    backoff = BackoffMiddleware(hosts, lambda name: None, limit=10.0)

    def walls_until_pause(name: str) -> int:
        for number in range(1, 100):
            request = Request(f"http://{name}/{number}")
            again = backoff.process_response(request, HtmlResponse(request.url, body=wall.body.encode()))
            assert isinstance(again, Request)
            if hosts.is_resting(name, monotonic()):
                return number
        return 0

    again = Request("http://a.example/", meta={REFUSED_TIMES: 1})
    with pytest.raises(Refusal) as refusal:
        backoff.process_response(again, HtmlResponse(again.url, body=wall.body.encode()))
    assert refusal.value.outcome == Outcome(Code.WALLED, service)
    backoff.process_response(Request("http://open.example/"), HtmlResponse("http://open.example/", body=b"<p>Bees."))
    assert walls_until_pause("open.example") == WALLS_OF_HOST
    assert walls_until_pause("new.example") == WALLS_OF_NEW_HOST


def test_a_page_that_is_always_busy_does_not_cost_the_others(tmp_path: Path) -> None:
    """Other pages are answered in between, so the host as a whole is not given up."""
    site = busy(0, pages=20)
    site.routes["/7"] = Answer("Not now.", 503)
    ended = crawled(tmp_path, site, HURRIED_DELAY="0.05", HURRIED_TIMES="3")
    assert site.paths().count("/7") == 4
    assert len(ended.items()) == 20
    assert ended.counts() == {"503 Service Unavailable": 1}


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "delay", "times", "moved"),
    [
        (3, "0.05", 3, False),
        pytest.param(3, "0.05", 3, True, id="what else there is has moved to another site"),
        pytest.param(1, "2.3", 2, False, id="what waits goes back to the database meanwhile"),
    ],
)
def test_the_best_pages_are_always_busy_and_do_not_cost_the_others(
    tmp_path: Path, count: int, delay: str, times: int, moved: bool
) -> None:
    rivers, others = [f"/river{n}" for n in range(count)], [f"/{n}" for n in range(20)]
    site = Site({"/": page("Hello, river.", links=dict.fromkeys(rivers, "the river") | dict.fromkeys(others, "page"))})
    pages = {path: page(f"It is {path}.") for path in others}
    site.routes |= dict.fromkeys(rivers, Answer("Not now.", 503)) | pages
    with serving(site) as here, serving(Site({"/": page("Elsewhere.")} | pages)) as there:
        if moved:
            to = {path: f"{there.url}{path[1:]}" for path in others}
            site.routes |= {path: Answer("", 302, headers={"Location": to[path]}) for path in others}
        settings = {"HURRIED_DELAY": delay, "HURRIED_TIMES": str(times)}
        ended = crawl(tmp_path, {"seeds": f"{here.url} {there.url}"}, ONE_AT_A_TIME | settings)
    assert [site.paths().count(path) for path in rivers] == [times + 1] * count
    assert len(ended.items()) == 22
    assert ended.counts() == {"503 Service Unavailable": count}


def test_a_page_that_was_busy_comes_first_again_after_another_failure(tmp_path: Path) -> None:
    site = busy(0, pages=20)
    answers = [Answer("Not now.", 503), Answer("Alas.", 500), Answer(page("It is here."))]
    site.routes["/0"] = lambda asked: answers[asked.times]
    ended = crawled(tmp_path, site, HURRIED_DELAY="0.05")
    assert len(ended.items()) == 21
    assert site.paths()[2:17].count("/0") == 3  # long before the last of the others


def test_a_seed_that_stays_busy_fails_the_crawl_with_the_reason(tmp_path: Path) -> None:
    site = Site({"/": Answer("Not now.", 503, headers={"Retry-After": "3600"})})
    ended = crawled(tmp_path, site)
    assert site.paths() == ["/robots.txt", "/"]
    assert f"{site.url}: 503 Service Unavailable\n" in ended.closing()
    assert ended.status == 1


@pytest.mark.long
@pytest.mark.parametrize("settings", [{}, {"DOWNLOAD_DELAY_JITTER": "0.9"}])
@pytest.mark.parametrize(("status", "header", "times"), [(503, "2", 1), (429, "2", 1), (503, "3600", 2)])
def test_a_request_that_waits_for_its_pause_is_not_sent_to_a_busy_host(
    tmp_path: Path, status: int, header: str, times: int, settings: dict[str, str]
) -> None:
    """Two requests wait for robots.txt together, so that one is sent at once and the other after a pause."""
    site = busy(times, status, header, pages=4)
    site.routes["/robots.txt"] = lambda asked: sleep(0.8) or Answer("", 404)  # type: ignore[func-returns-value]
    two = ONE_AT_A_TIME | {"CONCURRENT_REQUESTS_PER_DOMAIN": "2", "DOWNLOAD_DELAY": "0.4"} | settings
    with serving(site):
        ended = crawl(tmp_path, {"seeds": " ".join(f"{site.url}{n}" for n in range(4))}, two)
    if header == "2":
        assert site.asked[2].at - site.asked[1].at >= 2.0 - TOLERANCE
        assert len(ended.items()) == 4
    else:
        assert len(site.asked) == 2
        assert ended.counts() == {f"{status} Service Unavailable": 1, CLOSED: 3}


@pytest.mark.long
def test_a_busy_robots_txt_is_asked_for_again(tmp_path: Path) -> None:
    rules = Answer("User-agent: *\nDisallow: /1", content_type="text/plain")
    site = busy(0)
    site.routes["/robots.txt"] = lambda asked: rules if asked.times else Answer("", 503, headers={"Retry-After": "1"})
    ended = crawled(tmp_path, site)
    assert site.paths() == ["/robots.txt", "/robots.txt", "/", "/0", "/2"]
    assert site.asked[1].at - site.asked[0].at >= 1.0 - TOLERANCE
    assert ended.status == 0
