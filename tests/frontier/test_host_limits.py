"""Manners: who asks, what is sent along, what is kept of a page that asks not to be, and how fast it goes."""

import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL, Popen

import pytest
from sites import (
    COUNTED,
    OPEN,
    Answer,
    Asked,
    Crawl,
    Route,
    Site,
    command,
    crawl,
    environment,
    page,
    serving,
    serving_all,
)

KEPT_BY_BROWSERS = {"Set-Cookie": "id=1; Path=/", "ETag": '"1"', "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"}
GIVING: dict[str, Route] = {
    "/": Answer(page("Hello.", links={"/moved": "moved"}), headers=KEPT_BY_BROWSERS),
    "/moved": Answer("", 302, headers=KEPT_BY_BROWSERS | {"Location": "/there"}),
    "/there": page("This is there."),
}


@pytest.mark.parametrize(
    ("arguments", "settings", "agent", "languages"),
    [
        ({"lang": "en,zh"}, {"CONTACT": "ops@example.org"}, " (+ops@example.org)", "en, zh"),
        ({}, {"CONTACT": "https://example.org/bot", "USER_AGENT": "Mozilla"}, "Mozilla", "*"),
    ],
)
def test_a_request_says_who_asks_and_for_what(
    tmp_path: Path, arguments: dict[str, str], settings: dict[str, str], agent: str, languages: str
) -> None:
    with serving(Site({"/": page("Hello.")})) as site:
        crawl(tmp_path, {"seeds": site.url, **arguments}, OPEN | settings)
    assert site.paths() == ["/robots.txt", "/"]
    for asked in site.asked:
        assert agent in asked.headers["User-Agent"]
        assert asked.headers["User-Agent"].startswith("Winnow/") or "USER_AGENT" in settings
        assert asked.headers["Accept-Language"] == languages


def robots(name: str, content: str) -> str:
    return f'<meta name="{name}" content="{content}">'


# What a page asks of robots in its head and headers -> whether it is kept, and whether its links are followed.
ASKED = {
    "nothing": ("", "", True, True),
    "noindex": (robots("robots", "noindex"), "", False, True),
    "nofollow": (robots("robots", "NoFollow"), "", True, False),
    "both": (robots("robots", "noindex, nofollow"), "", False, False),
    "none": (robots("ROBOTS", "none"), "", False, False),
    "of-us": (robots("winnow", "noindex"), "", False, True),
    "of-us-too": (robots("robots", "nofollow") + robots("Winnow", "noindex"), "", False, False),
    "of-another": (robots("otherbot", "none"), "", True, True),
    "other-words": (robots("robots", "noarchive, max-snippet:-1"), "", True, True),
    "header": ("", "noindex", False, True),
    "header-nofollow": ("", "noarchive, nofollow", True, False),
    "header-of-us": ("", "winnow: none", False, False),
    "header-of-another": ("", "otherbot: noindex, nofollow", True, True),
    "header-with-values": ("", "unavailable_after: 25 Jun 2010 15:00:00 PST", True, True),
}


RELS = {"": True, "nofollow": False, "noopener NOFOLLOW": False, "ugc": True, "next": True}
"""What a link says of itself, and whether it is followed."""


def asking_site() -> Site:
    """A site whose pages and links ask for what `ASKED` and `RELS` have."""
    routes: dict[str, Route] = {}
    for name, (head, header, _, _) in ASKED.items():
        body = page(f"This is {name}.", links={f"/below/{name}": "on"}, head=head)
        routes |= {f"/{name}": Answer(body, headers={"X-Robots-Tag": header}), f"/below/{name}": page("Below.")}
    anchors = "".join(f'<a rel="{rel}" href="/rel/{n}">rel</a>' for n, rel in enumerate(RELS))
    anchors += "".join(f'<a href="/{name}">on</a>' for name in ASKED)
    routes |= {f"/rel/{n}": page("Linked.") for n in range(len(RELS))}
    return Site({"/": page(f"Hello. {anchors}"), **routes})


@dataclass(frozen=True)
class Manners:
    """One crawl of three sites, with the usual settings."""

    giving: Site
    asking: Site
    odd: Site
    """Its links are no web addresses."""
    secret: Path
    """A file of this machine, to which it links."""
    ended: Crawl


@pytest.fixture(scope="module")
def manners(tmp_path_factory: pytest.TempPathFactory) -> Manners:
    folder = tmp_path_factory.mktemp("manners")
    secret = folder / "secret.html"
    secret.write_text(page("This is secret."))
    links = [secret.as_uri(), f"file://localhost{secret}", "ftp://127.0.0.1/", "javascript:alert(1)"]
    links += ["data:text/html,Hi", "mailto:a@example.org", "about:blank", "view-source:http://127.0.0.1/"]
    links += ["s3://bucket/key", "//", "http://"]
    giving, asking = Site(GIVING), asking_site()
    odd = Site({"/": page("Hello.", links=dict.fromkeys(links, "on"))})
    with serving_all((giving, asking, odd)) as seeds:
        ended = crawl(folder, {"seeds": seeds, "scope": "any"}, COUNTED)
    return Manners(giving, asking, odd, secret, ended)


def test_nothing_a_site_gives_the_crawler_to_keep_is_sent_back(manners: Manners) -> None:
    assert manners.giving.paths() == ["/robots.txt", *GIVING]
    sent = {name.lower() for asked in manners.giving.asked for name in asked.headers}
    assert sent <= {"host", "connection", "accept", "accept-language", "accept-encoding", "user-agent", "referer"}
    for asked in manners.giving.asked:
        assert asked.headers["User-Agent"].startswith("Winnow/")
        assert asked.headers["Accept-Language"] == "*"
        assert "text/html" in asked.headers["Accept"]


def test_pages_are_kept_and_links_followed_as_the_page_asks(manners: Manners) -> None:
    kept = [f"/{name}" for name, (_, _, keep, _) in ASKED.items() if keep]
    followed = [f"/below/{name}" for name, (_, _, _, follow) in ASKED.items() if follow]
    linked = [f"/rel/{n}" for n, follow in enumerate(RELS.values()) if follow]
    assert set(manners.ended.paths_of(manners.asking)) == {"/", *kept, *followed, *linked}
    requested = {path for path in manners.asking.paths() if path.startswith(("/below", "/rel"))}
    assert requested == {*followed, *linked}
    assert manners.ended.outcomes() == {
        "noindex": len(ASKED) - len(kept),
        "nofollow": len(ASKED) - len(followed) + len(RELS) - len(linked),
    }


def test_links_that_are_no_web_addresses_are_not_followed(manners: Manners, tmp_path: Path) -> None:
    assert manners.odd.paths() == ["/robots.txt", "/"]
    assert manners.ended.paths_of(manners.odd) == ["/"]
    assert "Traceback" not in manners.ended.err
    assert crawl(tmp_path, {"seeds": manners.secret.as_uri()}, OPEN).status == 2


def test_a_proxy_of_the_environment_is_not_used(tmp_path: Path) -> None:
    """It would find the addresses of names by itself, and connect to those that are not public too."""
    with serving(Site({}), "127.0.0.2") as proxy, serving(Site({"/": page("Hello.")})) as site:
        env = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"), proxy.url)
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN, env=env | {"no_proxy": "", "NO_PROXY": ""})
    assert (ended.status, proxy.asked, site.paths()) == (0, [], ["/robots.txt", "/"])


def listening(pid: int) -> list[str]:
    """The sockets of a process that others can connect to."""
    own = {path.readlink().name for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()}
    tables = [Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:] for kind in ("tcp", "tcp6")]
    rows = [row.split() for table in tables for row in table]
    return [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own]


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="sockets are read from Linux's /proc")
def test_nobody_can_connect_to_a_crawl(tmp_path: Path) -> None:
    found: list[list[str]] = []

    def route(asked: Asked) -> Answer:
        found.append(listening(process.pid))
        return Answer(page("Hello."))

    with serving(Site({"/": route})) as site:
        line = command({"seeds": site.url}, OPEN)
        process = Popen(line, cwd=tmp_path, env=environment(), stdout=DEVNULL, stderr=DEVNULL)
        assert process.wait(30) == 0
    assert found == [[]]


@pytest.mark.long
def test_by_default_a_host_is_asked_one_page_at_a_time_with_pauses(tmp_path: Path) -> None:
    lock, at_once = threading.Lock(), []

    def route(asked: Asked) -> Answer:
        at_once.append(lock.acquire(blocking=False))
        time.sleep(1.7 if asked.path in ("/0", "/1") else 0.1)  # a pause is 1.5 s at most
        if at_once[-1]:
            lock.release()
        return Answer(page(f"This is {asked.path}."))

    links = {f"/{n}": f"page {n}" for n in range(4)}
    routes = {"/": page("Hello.", links=links)} | dict.fromkeys(links, route)
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, {"ALLOWED_PRIVATE_HOSTS": "127.0.0.1"})
    gaps = [after.at - before.at for before, after in pairwise(site.asked)]
    assert len(ended.items()) == 5
    assert at_once == [True] * 4
    assert min(gaps) >= 0.35
    assert sum(gaps) / len(gaps) >= 0.7
