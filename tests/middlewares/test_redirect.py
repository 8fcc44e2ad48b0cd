"""Redirects: followed as a link would be, a limited number of times, within the scope, to web addresses only."""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
from sites import OPEN, STUB, Answer, Asked, Crawl, Route, Site, crawl, page, serving, stubbed

from crawler.outcomes import Code, Outcome

KNOWN = str(Outcome(Code.REDIRECT_TO_KNOWN).message)
NOTHING = str(Outcome(Code.REDIRECT_TO_NOTHING).message)
WIDE = OPEN | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}


def to(location: str, status: int = 302) -> Answer:
    return Answer("<p>Elsewhere.</p>", status, headers={"Location": location})


def refresh(location: str, seconds: int = 0) -> Answer:
    head = f'<meta http-equiv="refresh" content="{seconds}; url={location}">'
    return Answer(page(f"Wait {seconds} s.", head=head))


Redirect = Callable[[str], Answer]
REDIRECTS = (to, refresh)


def crawled(folder: Path, routes: dict[str, Route], **arguments: Any) -> tuple[Crawl, Site]:
    """A crawl of a site whose first page links to all these routes."""
    links = {path: f"to {path}" for path in routes}
    with serving(Site({"/": page("Hello.", links=links)} | routes)) as site:
        return crawl(folder, {"seeds": site.url, **arguments}, WIDE | STUB, env=stubbed(folder)), site


def test_an_item_holds_the_address_asked_for_and_the_one_that_answered(tmp_path: Path) -> None:
    routes: dict[str, Route] = {}
    for status in (301, 302, 303, 307, 308):
        routes |= {f"/{status}": to(f"/{status}/between", status), f"/{status}/between": to("new?a=b", status)}
    links = {path: "old" for path in routes if "between" not in path}
    there = {f"{path}/new?a=b": page("Here it is.") for path in links}
    with serving(Site({"/": page("Hello.", links=links), **routes, **there})) as site:
        items = {item["url"]: item for item in crawl(tmp_path, {"seeds": site.url}, OPEN).items()}
    assert len(items) == 6
    for path in links:
        found = items[f"{site.url[:-1]}{path}/new?a=b"]
        assert (found["requested_url"], found["parent"], found["depth"]) == (f"{site.url[:-1]}{path}", site.url, 1)
        assert found["text"] == "Here it is."


def endless(asked: Asked) -> Answer:
    """A redirect to the next page: by HTTP from every third, by the page itself from others."""
    number = int(asked.path.partition("?")[2] or 0)
    return (refresh if number % 3 else to)(f"/endless?{number + 1}")


def test_redirects_end(tmp_path: Path) -> None:
    routes = {"/a": to("/b"), "/b": to("/a"), "/self": to("/self"), "/endless": endless}
    routes |= {f"/endless?{n}": endless for n in range(1, 30)}
    routes |= {f"/ten?{n}": to(f"/ten?{n + 1}") for n in range(10)} | {"/ten?10": page("The tenth redirect.")}
    links = dict.fromkeys(("/a", "/self", "/endless", "/ten?0"), "round")
    with serving(Site({"/": page("Hello.", links=links), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN)
    assert len([path for path in site.paths() if path.startswith("/endless")]) == 11
    assert [site.paths().count(path) for path in ("/a", "/b", "/self")] == [1, 1, 1]
    assert [item["url"] for item in ended.items()] == [site.url, f"{site.url}ten?10"]
    assert ended.counts() == {KNOWN: 2, "redirected too often": 1}


# What a Location says, and what comes of it.
NOWHERE = {
    "file:///etc/passwd": NOTHING,
    "javascript:alert(1)": NOTHING,
    "ftp://127.0.0.1/file": NOTHING,
    "data:text/html,<p>Here": NOTHING,
    "": NOTHING,
    "http://user:password@127.0.0.1/": NOTHING,
    "http://[::1": NOTHING,
    "http://127.0.0.1:99999/": NOTHING,
    "http://127.0.0.1:port/": NOTHING,
    "http://": KNOWN,
    "\x00\x01": KNOWN,
    "\xff\xfe": "404 Not Found",
    "http://127.0.0.1/" + "a." * 3000: "redirected: address too long",
    "http://" + "a." * 3000: NOTHING,
    "http://" + "a" * 64 + ".test/": NOTHING,
    "http://a b/": NOTHING,
    "http://nowhere.test/": "robots.txt cannot be read: host name not found",
}


def test_a_redirect_to_nowhere_costs_nothing_but_its_page(tmp_path: Path) -> None:
    # Letters, not numbers: the crawl stops asking for addresses of one pattern that bring nothing.
    routes: dict[str, Route] = {
        f"/{letter}": to(where) for letter, where in zip(ascii_lowercase, NOWHERE, strict=False)
    }
    routes |= {"/none": Answer("", 302), "/fine": page("This is fine.")}
    ended, site = crawled(tmp_path, routes, scope="any")
    assert [item["url"] for item in ended.items()] == [site.url, f"{site.url}fine"]
    assert ended.counts() == Counter([NOTHING, *NOWHERE.values()])
    assert {line.split()[0] for line in (tmp_path / "connections").read_text().splitlines()} == {"127.0.0.1"}
    assert "Traceback" not in ended.err


def test_a_page_moves_within_the_scope_only_and_to_a_page_not_known_yet(tmp_path: Path) -> None:
    with serving(Site({"/": page("Hello from elsewhere.")}), "127.0.0.2") as other:
        routes: dict[str, Route] = {
            "/away": to(other.url),
            "/home": to("/"),
            "/one": to("/two"),
            "/two": page("This is two."),
            "/three": to("/two"),
            "/image": to("/image.jpg"),
            "/away/page": refresh(other.url),
            "/image/page": refresh("/image.jpg"),
            "/trap": to("/t/t/t/t/t"),
        }
        ended, site = crawled(tmp_path, routes)
    assert other.asked == []
    assert sorted(site.paths()) == sorted(["/robots.txt", "/", *routes])
    assert [item["url"] for item in ended.items()] == [site.url, f"{site.url}two"]
    assert ended.counts() == {
        KNOWN: 3,
        "redirected: outside the scope": 2,
        "redirected: not HTML: .jpg": 2,
        "redirected: path repeats itself": 1,
    }


@pytest.mark.parametrize("scope", ["host", "site"])
def test_a_seed_that_moves_takes_the_crawl_with_it(tmp_path: Path, scope: str) -> None:
    sites = {redirect: (Site({}), Site({})) for redirect in REDIRECTS}
    with ExitStack() as served:
        for redirect, (old, new) in sites.items():
            served.enter_context(serving(old))
            served.enter_context(serving(new, "127.0.0.2"))
            old.routes |= {"/": redirect(new.url), "/here": page("This is here.")}
            new.routes["/"] = page("Hello.", links={"/there": "there"})
            new.routes["/there"] = page("This is there.", links={f"{old.url}here": "back"})
        seeds = " ".join(old.url for old, _ in sites.values())
        ended = crawl(tmp_path, {"seeds": seeds, "scope": scope}, WIDE)
    requested = {item["url"]: item["requested_url"] for item in ended.items()}
    expected = {}
    for old, new in sites.values():
        there, here = f"{new.url}there", f"{old.url}here"
        expected |= {new.url: old.url, there: there, here: here}
    assert requested == expected
    assert ended.status == 0


def test_only_the_last_of_the_addresses_of_a_seed_is_a_home(tmp_path: Path) -> None:
    sites = {redirect: (Site({}), Site({"/": page("Hello.")})) for redirect in REDIRECTS}
    with ExitStack() as served:
        for redirect, (site, between) in sites.items():
            served.enter_context(serving(site))
            served.enter_context(serving(between, "127.0.0.2"))
            site.routes |= {"/": redirect(between.url), "/end": page("The end.", links={f"{between.url}on": "on"})}
            between.routes["/"] = redirect(f"{site.url}end")
        ended = crawl(tmp_path, {"seeds": " ".join(site.url for site, _ in sites.values())}, WIDE)
    for site, between in sites.values():
        assert between.paths("/robots.txt") == ["/"]
        assert ended.paths_of(site) == ["/end"]
    assert ended.counts() == {"outside the scope": len(sites)}


@pytest.mark.long
@pytest.mark.parametrize("redirect", REDIRECTS)
def test_a_seed_that_moves_without_end_fails_the_crawl(tmp_path: Path, redirect: Redirect) -> None:
    """Two hosts send it to each other, always to another address; links to them are not followed."""
    with serving(Site({}), "127.0.0.2") as there, serving(Site({})) as here, serving(Site({}), "127.0.0.3") as calm:
        for one, other in ((here, there), (there, here)):
            one.routes |= {f"/{n or ''}": redirect(f"{other.url}{n + 1}") for n in range(30)}
        calm.routes["/"] = page("Hello.", links={f"{there.url}elsewhere": "elsewhere"})
        ended = crawl(tmp_path, {"seeds": f"{here.url} {calm.url}"}, WIDE)
        alone = crawl(tmp_path, {"seeds": here.url, "name": "alone"}, WIDE)
    assert len(here.paths("/robots.txt")) + len(there.paths("/robots.txt")) == 2 * 11
    assert ended.counts() == {"redirected too often": 1, "outside the scope": 1}
    assert alone.counts() == {"redirected too often": 1}
    assert (ended.status, alone.status) == (0, 1)


def test_a_page_that_sends_its_reader_on_soon_is_a_redirect(tmp_path: Path) -> None:
    routes: dict[str, Route] = {
        "/soon": refresh("/soon/there", 3),
        "/late": refresh("/late/there", 4),
        "/renewed": refresh("/renewed", 5),
        "/itself": refresh("/itself?utm_source=itself"),
        "/script": refresh("javascript:alert(1)"),
        "/round": refresh("/round/round"),
        "/round/round": refresh("/round"),
        "/home": refresh("/"),
        "/again": refresh("/again"),
    }
    there: dict[str, Route] = {"/soon/there": page("There."), "/late/there": page("There.")}
    with serving(Site({"/": page("Hello.", links=dict.fromkeys(routes, "on")), **routes, **there})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN)
    kept = ["", "again", "itself", "late", "renewed", "script", "soon/there"]
    assert sorted(item["url"] for item in ended.items()) == [site.url + path for path in kept]
    assert ended.counts() == {KNOWN: 3}
    others = ["/home", "/round", "/round/round", "/soon"]
    assert sorted(site.paths("/robots.txt")) == sorted([f"/{path}" for path in kept] + others)
    (found,) = (item for item in ended.items() if item["url"] == f"{site.url}soon/there")
    assert (found["requested_url"], found["depth"], found["parent"]) == (f"{site.url}soon", 1, site.url)
