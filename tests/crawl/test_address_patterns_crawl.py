"""Crawls of a small wiki and a forum find out which kinds of addresses bring nothing, and go on without them."""

import re
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest
from sites import OPEN, Answer, Asked, Route, Site, crawl, page, serving

from crawler.frontier.put_off_rule import ENOUGH, FIRST_AUDIT

ARTICLES = 60
NAMES = [f"{'bcdfghklmn'[number // 10]}a{'bcdfghklmn'[number % 10]}o" for number in range(ARTICLES)]
ONE_AT_A_TIME = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
LAG = 6
"""Requests that a fast server answers until the counts of those before are committed."""
UNNAMED = 5
"""Copies that are requested before enough links have made `print` a name of the site."""
ACTIONS = {"edit": "Edit", "history": "History", "login": "Log in"}


def article(number: int) -> str:
    name, onward = NAMES[number], [NAMES[n % ARTICLES] for n in (number + 1, 2 * number + 1, 3 * number + 1)]
    said = f"The bee {name} lives in a hive of its own and dances the dance {name} for all who come from {onward[0]}. "
    words = " ".join(f"It is seen with {name}{letter} in the garden of {letter}{name}." for letter in "abcdefgh")
    links = "".join(f'<p>See <a href="/wiki/{one}">{one}</a>.</p>' for one in onward)
    tools = "".join(f'<li><a href="/wiki?do={do}&id={name}">{text}</a></li>' for do, text in ACTIONS.items())
    menu = f'<nav><ul>{tools}<li><a href="/wiki/{name}/print">Print</a></li></ul></nav>'
    return (
        f"<html><title>{name}</title><body><main><h1>{name}</h1><p>{said}{words}</p>{links}</main>{menu}</body></html>"
    )


def wiki() -> Site:
    routes: dict[str, Route] = {"/": article(0)}
    for number, name in enumerate(NAMES):
        routes[f"/wiki/{name}"] = article(number)
        routes[f"/wiki/{name}/print"] = re.sub("<nav>.*</nav>|</?a[^>]*>", "", article(number))  # a copy without links
        routes[f"/wiki?do=edit&id={name}"] = f"<meta name=robots content=noindex><body><p>{name}</p></body>"
        routes[f"/wiki?do=login&id={name}"] = "<title>Log in</title><form>Name <input><input type=password></form>"
        routes[f"/wiki?do=history&id={name}"] = Answer("<p>No.</p>", 403)
    return Site(routes)


def kinds(site: Site) -> Mapping[str, int]:
    """How often each kind of page was requested."""
    names = {"edit": "do=edit", "login": "do=login", "history": "do=history", "print": "/print"}
    found = (
        next((name for name, part in names.items() if part in path), "article") for path in site.paths("/robots.txt")
    )
    return Counter(found)


@pytest.mark.parametrize("stops", [pytest.param(False, marks=pytest.mark.long), True])
def test_kinds_of_addresses_that_bring_nothing_are_put_off(tmp_path: Path, stops: bool) -> None:
    arguments = {"topic": "bees", "images": "no"}
    with serving(wiki()) as site:
        if stops:
            crawl(tmp_path, arguments | {"seeds": site.url, "max_pages": 2 * ARTICLES // 3}, ONE_AT_A_TIME)
        before = kinds(site)
        ended = crawl(tmp_path, arguments | {"seeds": site.url}, ONE_AT_A_TIME)
        asked = kinds(site)
    originals = {item["title"] for item in ended.items() if not item["duplicate_of"]}
    assert originals == set(NAMES)
    for kind in ("edit", "login", "history", "print"):
        audited = 1  # the 50th of those put off
        enough = ENOUGH + UNNAMED if kind == "print" else ENOUGH
        assert 2 <= asked[kind] <= enough + LAG + audited, kind
        if stops and before[kind] >= enough:
            assert asked[kind] - before[kind] <= audited, kind
    assert asked["edit"] + asked["login"] + asked["history"] >= ENOUGH
    put_off = 3 * ARTICLES + ARTICLES - sum(asked[kind] for kind in ("edit", "login", "history", "print"))
    assert put_off > 3 * FIRST_AUDIT
    if not stops:
        said = ended.closing()
        assert f" ({put_off}): " in said
        assert "/wiki?do=login&id=* (" in said
        copies = len(ended.items()) - ARTICLES
        assert f" of {ARTICLES + copies} pages read (" in said


def blog(listed: int) -> Site:
    """A blog with an archive of each day and a tag of each post; its sitemap lists so many posts, and all tags.

    The guides are in no sitemap; a post links to the next one and to a guide.
    """
    routes: dict[str, Route] = {}
    for number, name in enumerate(NAMES):
        text = " ".join(
            f"The bee {name} meets {name}{letter} in the garden of {letter}{name}." for letter in "abcdefgh"
        )
        after = NAMES[(number + 1) % ARTICLES]
        links = {f"/post/{after}": after, f"/guide/{name}": "a guide", f"/tag/{name}": "a tag"}
        links[f"/2024/{number % 12 + 1}/{number % 28 + 1}"] = "a day"
        routes[f"/post/{name}"] = page(text, links=links)
        routes[f"/guide/{name}"] = page(f"A guide to the gardens. {text.replace('meets', 'and its guests look for')}")
        listing = f"<body class='archive tag'><h1>{name}</h1><h2><a href='/post/{name}'>{name}</a></h2></body>"
        routes |= dict.fromkeys((f"/tag/{name}", *(url for url in links if url.startswith("/2024"))), listing)
    paths = [f"/post/{name}" for name in NAMES[:listed]] + [f"/tag/{name}" for name in NAMES]
    site = Site({"/": page("Bees dance.", links={"/post/" + NAMES[0]: "the first"})} | routes)

    def sitemap(_: Asked) -> Answer:
        urls = "".join(f"<url><loc>{site.url.rstrip('/')}{path}</loc></url>" for path in paths)
        return Answer(f"<urlset>{urls}</urlset>", content_type="application/xml")

    site.routes["/sitemap.xml"] = sitemap
    site.routes["/robots.txt"] = lambda _: Answer(f"Sitemap: {site.url}sitemap.xml\n", content_type="text/plain")
    return site


@pytest.mark.parametrize("listed", [ARTICLES, 5])
def test_archives_of_a_blog_with_a_sitemap_are_put_off(tmp_path: Path, listed: int) -> None:
    with serving(blog(listed)) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "topic": "bees", "images": "no"}, ONE_AT_A_TIME)
    pages = {path for path in site.routes if path.startswith(("/post/", "/guide/"))}
    asked = site.paths()
    assert pages <= set(asked)
    assert sum(path.startswith("/tag/") for path in asked) <= ENOUGH + LAG + 1
    assert sum(path.startswith("/2024/") for path in asked) <= ENOUGH + LAG + 1
    assert len(ended.items()) >= len(pages)


TOPICS, POSTS = 24, 6


def coded(*of: object) -> str:
    """An address that tells nothing."""
    return "/x/" + "".join(chr(ord("a") + int(digit, 16)) for digit in sha256(repr(of).encode()).hexdigest()[:12])


def forum() -> Site:
    titles = [f"What the keeper of hive {NAMES[n]} saw in the long winter" for n in range(TOPICS)]
    entries = "".join(f"<li><a href='{coded('topic', n)}'>{title}</a></li>" for n, title in enumerate(titles))
    routes: dict[str, Route] = {"/": f"<body><h1>Bees</h1><ul>{entries}</ul></body>"}
    for n, title in enumerate(titles):
        posts = []
        for m in range(POSTS):
            said = f"Hive {n} of {NAMES[n + m]} lost {m * n + 3} bees, and the others danced for {NAMES[2 * n + m]}. "
            links = {word: coded(word, n, m) for word in ("Reply", "Report")}
            tools = "".join(f"<a href='{url}'>{word}</a>" for word, url in links.items())
            posts.append(f"<div><p>{said * 3}</p><p class='tools'>{tools}</p></div>")
            routes |= dict.fromkeys(links.values(), "<title>Log in</title><form>Name <input type=password></form>")
        routes[coded("topic", n)] = f"<title>{title}</title><body><h1>{title}</h1>{''.join(posts)}</body>"
    return Site(routes)


def test_links_of_a_name_are_put_off_where_all_addresses_look_alike(tmp_path: Path) -> None:
    with serving(forum()) as site:
        arguments = {"seeds": site.url, "topic": "bees", "images": "no"}
        ended = crawl(tmp_path, arguments, ONE_AT_A_TIME)
    asked = set(site.paths())
    assert {coded("topic", n) for n in range(TOPICS)} <= asked
    assert len(asked) < TOPICS + 2 * (ENOUGH + LAG) + 14
    assert '/x/* "reply" (' in ended.closing()
    assert '/x/* "report" (' in ended.closing()


FILTERS = {
    "view": ("day", "week", "month", "list"),
    "kind": ("talk", "walk", "fair", "tour"),
    "place": ("north", "south", "east", "west"),
    "order": ("old", "new", "long", "short"),
}
EMPTY_DAY = " ".join(f"The keepers of hive {name} have nothing in their calendar, and rest." for name in NAMES[:30])
BACKSTOP = 300
"""Pages at which a crawl that does not leave the calendar is stopped."""


class Calendar(Site):
    """A site with some articles and a calendar, each page of which can be filtered in more ways and has a next day.

    Of three of its pages one has a text of its own.
    """

    def __init__(self) -> None:
        articles = {f"/{name}": page(f"Only the bee {name} knows the way to {name[::-1]}.") for name in NAMES[:10]}
        links = dict.fromkeys((*articles, "/calendar?day=1"), "a page")
        super().__init__({"/": page("Bees dance.", links=links), **articles})

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        if path.startswith("/calendar?") and path not in self.routes:
            self.routes[path] = self.day
        return super().answer(path, headers)

    def day(self, asked: Asked) -> Answer:
        query = dict(parse_qsl(asked.path.partition("?")[2]))
        number, digest = int(query["day"]), sha256(asked.path.encode()).hexdigest()
        own = " ".join(f"A bee of {digest[at : at + 4]} meets {digest[at + 2 : at + 6]}." for at in range(0, 58, 2))
        queries = [query | {name: values[int(digest[at], 16) % 4]} for at, (name, values) in enumerate(FILTERS.items())]
        queries += [query | {"day": str(number + 1)}, {"day": str(number + 2)}]
        links = {f"/calendar?{urlencode(sorted(each.items()))}": f"day {at}" for at, each in enumerate(queries)}
        return Answer(page(EMPTY_DAY if int(digest, 16) % 3 else own, links=links))


def test_a_part_of_a_site_that_has_no_end_is_left(tmp_path: Path) -> None:
    with serving(Calendar()) as site:
        arguments = {"seeds": site.url, "topic": "bees", "images": "no", "max_pages": BACKSTOP}
        ended = crawl(tmp_path, arguments, ONE_AT_A_TIME)
    asked = Counter(path.startswith("/calendar?") for path in site.paths("/robots.txt"))
    assert len(ended.items()) < BACKSTOP, asked
    assert asked[False] == 11
    line = next(line for line in ended.closing().splitlines() if line.startswith("Endless parts of sites"))
    assert "/calendar?* (" in line
