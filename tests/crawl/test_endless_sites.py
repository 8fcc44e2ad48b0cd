"""What a site may not do: keep the crawler for ever, with pages, addresses, silence or bytes that never end."""

import re
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from sites import COUNTED, Answer, Asked, Route, Site, crawl, page, serving

from crawler.outcomes import Code, Outcome
from crawler.page.html_tree import Cut

WIDE = COUNTED | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}


class Endless(Site):
    """A site where every address is answered with a page that links to more."""

    def __init__(self, links: list[str], routes: dict[str, Route] | None = None) -> None:
        super().__init__({"/robots.txt": Answer("", 404), **(routes or {})})
        self.links = links

    def answer(self, path: str, headers: dict[str, str]) -> Answer:  # type: ignore[override]
        number = int((re.findall(r"\d+", path) or ["0"])[-1])
        links = {link.format(next=number + 1): "on" for link in self.links}
        self.routes.setdefault(path, Answer(page(f"This is {path}.", links=links)))
        return super().answer(path, headers)


@pytest.mark.parametrize(
    "links",
    [
        ["/calendar?month={next}"],
        ["/{next}/a", "/{next}/b"],
        ["/page/{next}", "/page/{next}?sort=up", "/page/{next}?s=1"],
    ],
)
def test_an_endless_site_gets_its_budget_and_another_site_all_its_pages(tmp_path: Path, links: list[str]) -> None:
    others = {f"/{n}": page(f"This is {n}.") for n in range(4)}
    with (
        serving(Endless(links)) as endless,
        serving(Site({"/": page("Hello.", links=dict.fromkeys(others, "on")), **others}), "127.0.0.2") as other,
    ):
        ended = crawl(tmp_path, {"seeds": f"{endless.url} {other.url}"}, WIDE | {"SITE_PAGE_LIMIT": "5"})
    pages = [item["url"] for item in ended.items()]
    assert len([url for url in pages if url.startswith(endless.url)]) == 5
    assert len([url for url in pages if url.startswith(other.url)]) == 5
    assert len(endless.paths(without="/robots.txt")) == 5
    assert ended.outcomes()["site_budget_spent"] >= 1


def test_a_budget_counts_pages_and_not_the_redirects_and_failures_on_the_way(tmp_path: Path) -> None:
    def route(asked: Asked) -> Answer:
        if asked.path.endswith("/moved"):
            return Answer(page("This is where it is."))
        failed = asked.times == 0 and asked.path == "/3"
        return Answer("", 500) if failed else Answer("", 302, headers={"Location": f"{asked.path}/moved"})

    moving = [f"/{n}" for n in range(6)]
    routes = dict.fromkeys([*moving, *(f"{path}/moved" for path in moving)], route)
    links = dict.fromkeys(["/gone", *moving], "on")
    with serving(Site({"/": page("Hello.", links=links), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED | {"SITE_PAGE_LIMIT": "8"})
    assert len(ended.items()) == 7
    assert ended.outcomes() == {"http_status/404": 1}


@pytest.mark.long
def test_a_site_that_never_answers_with_a_page_gets_ten_times_its_budget_of_requests(tmp_path: Path) -> None:
    # Addresses and links without a name in common: 20 of such a pattern are requested before it is put off.
    names = ["".join(letters) for letters in product("bdfg", "aeiou", "kmn")]
    with serving(Site({"/": page("Hello.", links={f"/{name}": name for name in names})})) as site:
        settings = COUNTED | {"SITE_PAGE_LIMIT": "2", "CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
        ended = crawl(tmp_path, {"seeds": site.url}, settings)
    assert len(site.paths(without="/robots.txt")) == 20
    assert ended.outcomes() == {"http_status/404": 19, "site_budget_spent": 41}


def test_addresses_that_grow_are_not_followed(tmp_path: Path) -> None:
    routes = {
        "/" + "x" * 50: page("This is short enough."),
        "/" + "x" * 51: page("This is too long."),
        "/a/b/a/b/a/": page("This is not yet a circle."),
        "/a/b/a/b/a/a/": page("This is a circle."),
        "/d?a/a/a/a/a/a/a": page("A query may hold anything."),
    }
    with serving(Site({"/": page("Hello.", links=dict.fromkeys(routes, "on")), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED | {"URLLENGTH_LIMIT": str(len(site.url) + 50)})
    short, _, line, _, query = routes
    assert sorted(site.paths(without="/robots.txt")) == sorted(["/", short, line, query])
    assert ended.outcomes() == {"address_too_long": 1, "path_repeats": 1}


def test_a_link_that_grows_in_circles_ends(tmp_path: Path) -> None:
    """As of a relative link in a template that every address is answered with."""
    with serving(Endless(["a/"])) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED)
    assert site.paths(without="/robots.txt") == ["/", "/a/", "/a/a/", "/a/a/a/"]
    assert ended.outcomes() == {"path_repeats": 1}


def silent(asked: Asked) -> Answer:
    time.sleep(10)
    return Answer("")


def dripping(asked: Asked) -> Answer:
    def drip() -> Iterator[bytes]:
        for _ in range(100):
            yield b"<p>"
            time.sleep(0.1)

    return Answer(drip())


def cut(asked: Asked) -> Answer:
    raise ConnectionAbortedError


@pytest.mark.long
def test_a_server_that_is_stuck_is_given_up_while_other_hosts_go_on(tmp_path: Path) -> None:
    stuck: dict[str, Route] = {
        "/silent": silent,
        "/dripping": dripping,
        "/cut": cut,
        "/short": Answer([b"<p>Some"], headers={"Content-Length": "900"}),
        "/fine": page("This is fine."),
    }
    links = {f"/{n}": "on" for n in range(5)}
    calm = {path: page("This is calm.") for path in links} | {"/": page("Hello.", links=links)}
    with (
        serving(Site({"/": page("Hello.", links=dict.fromkeys(stuck, "on")), **stuck})) as site,
        serving(Site(calm), "127.0.0.2") as other,
    ):
        settings = WIDE | {"DOWNLOAD_TIMEOUT": "1", "RETRY_TIMES": "1"}
        ended = crawl(tmp_path, {"seeds": f"{site.url} {other.url}"}, settings)
    assert [min(site.paths().count(path), 2) for path in stuck] == [2, 2, 2, 2, 1]
    assert site.paths().count("/cut") <= 4, "Twisted asks once more by itself where a connection was kept open"
    assert {item["url"] for item in ended.items()} == {
        site.url,
        f"{site.url}fine",
        *(other.url + path[1:] for path in calm),
    }
    assert ended.outcomes() == {"timeout": 2, "connection_lost": 1, "answer_cut": 1}
    assert other.asked[-1].at < max(asked.at for asked in site.asked if asked.path == "/silent")
    assert ended.status == 0


def test_a_seed_that_is_silent_fails_the_crawl_with_the_reason(tmp_path: Path) -> None:
    settings = COUNTED | {"DOWNLOAD_TIMEOUT": "0.5", "RETRY_TIMES": "0"}
    with serving(Site({"/": silent})) as late, serving(Site({"/robots.txt": silent})) as later:
        ended = crawl(tmp_path, {"seeds": f"{late.url} {later.url}"}, settings)
    assert f"{late.url}: {Outcome(Code.TIMEOUT).message}\n" in ended.closing()
    assert f"{later.url}: {Outcome(Code.ROBOTS_UNREADABLE, Code.TIMEOUT).message}\n" in ended.closing()
    assert ended.status == 1


@pytest.mark.long
def test_what_is_not_read_of_a_page_too_large_is_counted(tmp_path: Path) -> None:
    large = page("Bees dance.", links={"/deep": "on"}) + "<p>x" * 60_000
    deep = page("Bees dance.") + "<div>" * 3_000
    with serving(Site({"/": Answer(large), "/deep": Answer(deep)})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED)
    assert len(ended.items()) == 2
    assert {f"page_cut/{cut.value}": 1 for cut in (Cut.TAGS, Cut.DEPTH)}.items() <= ended.outcomes().items()


def test_what_is_not_html_is_counted_by_type_and_not_downloaded(tmp_path: Path) -> None:
    sent: list[str] = []

    def slow(kind: str) -> Route:
        def pieces() -> Iterator[bytes]:
            for _ in range(50):
                sent.append(kind)
                yield b"x" * 100_000
                time.sleep(0.1)

        return lambda asked: Answer(pieces(), content_type=kind)

    kinds = ["application/octet-stream", "application/pdf", "image/png", "text/css", "application/json"]
    routes: dict[str, Route] = {f"/{n}": slow(kind) for n, kind in enumerate(kinds)}
    routes |= {"/none": Answer("Some text.", content_type=""), "/a.pdf": Answer("%PDF")}
    with serving(Site({"/": page("Hello.", links=dict.fromkeys(routes, "on")), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED)
    assert max(map(sent.count, kinds)) < 10
    assert "/a.pdf" not in site.paths()
    assert [item["url"] for item in ended.items()] == [site.url]
    assert ended.outcomes() == {"not_html": 1} | {f"not_html/{kind}": 1 for kind in [*kinds, ".pdf"]}
