"""robots.txt: what it forbids is not asked for, and nothing is when it cannot be read."""

from pathlib import Path

import pytest
from sites import OPEN, Answer, Asked, Crawl, Route, Site, crawl, page, serving

LINKS = {f"/{path}": path for path in ("open", "closed/a", "closed/but/b", "c", "only-others")}
PAGES: dict[str, Route] = {path: page(f"This is {path}.") for path in LINKS} | {"/": page("Hello.", links=LINKS)}
ALL = {"/", *LINKS}


def plain(text: str) -> Answer:
    return Answer(text, content_type="text/plain")


def crawled(folder: Path, robots: Route | None, **settings: str) -> tuple[Crawl, list[str]]:
    """A crawl of a site with this robots.txt, and the paths asked for, in order."""
    routes = PAGES if robots is None else PAGES | {"/robots.txt": robots}
    with serving(Site(routes)) as site:
        return crawl(folder, {"seeds": site.url}, OPEN | settings), site.paths()


@pytest.mark.parametrize(
    ("rules", "asked"),
    [
        ("User-agent: *\nDisallow:", ALL),
        ("User-agent: *\nDisallow: /closed/", {"/", "/open", "/c", "/only-others"}),
        ("User-agent: *\nDisallow: /closed/\nAllow: /closed/but/", ALL - {"/closed/a"}),
        ("User-agent: *\nDisallow: /*/\nDisallow: /c$", {"/", "/open", "/only-others"}),
        ("User-agent: winnow\nDisallow: /open\n\nUser-agent: *\nDisallow: /", ALL - {"/open"}),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Winnow\nDisallow: /open", ALL - {"/open"}),
        ("User-agent: Other\nDisallow: /", ALL),
        ("\ufeffUser-agent: *\r\ndisallow: /closed # not yet", {"/", "/open", "/c", "/only-others"}),
        ("<html>Not what was asked for</html>", ALL),
    ],
)
def test_what_is_disallowed_is_not_asked_for(tmp_path: Path, rules: str, asked: set[str]) -> None:
    ended, paths = crawled(tmp_path, plain(rules))
    assert paths[0] == "/robots.txt"
    assert sorted(paths[1:]) == sorted(asked)
    assert ended.counts().get("refused by robots.txt", 0) == len(ALL - asked)
    assert ended.status == 0


def test_a_seed_that_is_disallowed_fails_the_crawl_with_the_reason(tmp_path: Path) -> None:
    ended, paths = crawled(tmp_path, plain("User-agent: *\nDisallow: /"))
    assert paths == ["/robots.txt"]
    assert "/: refused by robots.txt" in ended.closing()
    assert ended.status == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_without_a_robots_txt_all_is_allowed(tmp_path: Path, status: int) -> None:
    ended, paths = crawled(tmp_path, Answer("User-agent: *\nDisallow: /", status))
    assert (ended.status, paths[0], set(paths[1:])) == (0, "/robots.txt", ALL)


def hang_up(asked: Asked) -> Answer:
    raise ConnectionAbortedError


@pytest.mark.parametrize(
    ("robots", "said"),
    [
        (Answer("", 500), "robots.txt cannot be read: 500"),
        (Answer("", 503), "robots.txt cannot be read: 503"),
        (Answer("", 429, headers={"Retry-After": "86400"}), "robots.txt cannot be read: 429"),
        (hang_up, "robots.txt cannot be read: connection lost"),
        (Answer([b"User-agent: *\nDisallow:\n#"], headers={"Content-Length": "900"}), "robots.txt cannot be read"),
        (Answer("", 302, headers={"Location": "/robots.txt"}), "robots.txt cannot be read: max redirections reached"),
    ],
)
def test_nothing_is_asked_for_while_robots_txt_cannot_be_read(tmp_path: Path, robots: Route, said: str) -> None:
    ended, paths = crawled(tmp_path, robots, BACKOFF_DELAY="0.05", BACKOFF_TIMES="2")
    assert set(paths) == {"/robots.txt"}
    assert len(paths) <= 11
    assert f"/: {said}" in ended.closing()
    assert ended.status == 1


def test_robots_txt_is_asked_for_again_after_a_failure(tmp_path: Path) -> None:
    ended, paths = crawled(tmp_path, lambda asked: plain("") if asked.times == 2 else hang_up(asked))
    assert (ended.status, paths[:4], set(paths[3:])) == (0, ["/robots.txt"] * 3 + ["/"], ALL)


def test_a_redirected_robots_txt_counts_for_the_host_that_redirected_it(tmp_path: Path) -> None:
    away = plain("User-agent: *\nDisallow: /closed/")
    with serving(Site({"/rules": away}), "127.0.0.2") as other:
        moved = Answer("", 301, headers={"Location": f"{other.url}rules"})
        ended, paths = crawled(tmp_path, moved, ALLOWED_PRIVATE_HOSTS="127.0.0.0/8")
    assert other.paths() == ["/rules"]
    assert sorted(paths) == sorted(["/robots.txt", "/", "/open", "/c", "/only-others"])
    assert ended.status == 0


def test_a_long_robots_txt(tmp_path: Path) -> None:
    """One of half a megabyte is read to its end; a longer one may not be what the host wants: nothing is asked for."""
    rules = "User-agent: *\nDisallow: /open\n" + "Allow: /allowed-at-length\n" * 15_000 + "Disallow: /c$\n"
    ended, paths = crawled(tmp_path, plain(rules))
    assert (ended.status, set(paths[1:])) == (0, ALL - {"/open", "/c"})


def test_a_robots_txt_of_a_megabyte_is_obeyed_or_nothing_is_asked_for(tmp_path: Path) -> None:
    rules = "User-agent: *\nDisallow: /open\n" + "Allow: /allowed-at-length\n" * 40_000
    ended, paths = crawled(tmp_path, plain(rules))
    assert "/open" not in paths
    assert ended.status == 0 or "/: robots.txt cannot be read: body larger than the limit" in ended.closing()


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
    ended, paths = crawled(tmp_path, plain("User-agent: *\nDisallow: /"), ROBOTSTXT_OBEY="False")
    assert sorted(paths) == sorted(ALL)
    assert ended.status == 0
