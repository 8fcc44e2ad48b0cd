"""What sites say about the use of their pages, in crawls for different purposes."""

import hashlib
import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from sites import COUNTED, Answer, Crawl, Site, crawl, page, serving, serving_all

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROBOTS = """User-agent: *
Allow: /
Content-Usage: /usage train-ai=n
Content-Signal: /signal ai-train=no, search=yes
License: {url}license.xml

User-agent: GPTBot
Disallow: /collectors
"""
RSL = (
    '<rsl xmlns="https://rslstandard.org/rsl">'
    '<content url="/rsl"><license><prohibits type="usage">ai-train</prohibits></license></content>'
    "</rsl>"
)
PAGE_RSL = RSL.replace('url="/rsl"', 'url=""').replace("ai-train", "search")
TDM = json.dumps([{"location": "/tdm", "tdm-reservation": 1}])
BEFORE = {
    "/usage": "content_usage",
    "/signal": "content_signal",
    "/collectors": "training_crawlers",
    "/rsl": "rsl",
    "/tdm": "tdm_reservation",
}
"""Pages that are reserved by files of the site, each with the signal."""
AFTER = {
    "/header-usage": "content_usage",
    "/header-signal": "content_signal",
    "/header-tdm": "tdm_reservation",
    "/header-noai": "noai",
    "/meta-tdm": "tdm_reservation",
    "/meta-noai": "noai",
    "/script-rsl": "rsl",
}
"""Pages whose response or source reserves them."""
HEADERS = {
    "/header-usage": {"Content-Usage": "train-ai=n"},
    "/header-signal": {"Content-Signal": "ai-train=no"},
    "/header-tdm": {"tdm-reservation": "1", "tdm-policy": "https://a.example/policy"},
    "/header-noai": {"X-Robots-Tag": "noai"},
    "/link-rsl": {"Link": '</page-license.xml>; rel="license"; type="application/rsl+xml"'},
}
HEADS = {
    "/meta-tdm": '<meta name="tdm-reservation" content="1">',
    "/meta-noai": '<meta name="robots" content="noai, noimageai">',
    "/script-rsl": f'<script type="application/rsl+xml">{PAGE_RSL.replace("search", "ai-train")}</script>',
    "/free": '<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">',
    "/malformed": '<meta name="tdm-reservation" content="yes">',
    "/image": '<meta name="robots" content="noimageai">',
}
FREE = ("/", "/free", "/malformed", "/link-rsl", "/image")
PATHS = (*FREE, *BEFORE, *AFTER)
NO_SETTINGS: Mapping[str, str] = {}
PICTURE = '<img src="{}.png" alt="A bee on a flower">'


def text(path: str) -> str:
    return " ".join(f"In hive {path} number {n} the bees carry home their pollen." for n in range(12))


def unruled_site() -> Site:
    """The site without its robots.txt."""
    links = {path: f"bees {path}" for path in PATHS}
    routes = {
        path: Answer(
            page(text(path), links=links, head=HEADS.get(path, "")).replace("</p>", "</p>" + PICTURE.format(path), 1),
            headers=HEADERS.get(path, {}),
        )
        for path in PATHS
    }
    files = {"/license.xml": RSL, "/page-license.xml": PAGE_RSL, "/.well-known/tdmrep.json": TDM}
    return Site(routes | {path: Answer(body, content_type="text/plain") for path, body in files.items()})


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(unruled_site()) as served:
        say(served, ROBOTS.format(url=served.url))
        yield served


def say(site: Site, robots: str) -> None:
    """Change the site's robots.txt."""
    site.routes["/robots.txt"] = Answer(robots, content_type="text/plain")


def run(site: Site, folder: Path, settings: Mapping[str, str] = NO_SETTINGS, **arguments: str) -> Crawl:
    site.asked.clear()
    return crawl(folder, {"seeds": site.url, "images": "no", **arguments}, COUNTED | dict(settings))


def by_path(ended: Crawl) -> dict[str, dict[str, dict[str, str]]]:
    return {"/" + item["url"].split("/", 3)[3]: item["rights"] for item in ended.items()}


def test_pages_are_labelled(site: Site, tmp_path: Path) -> None:
    ended = run(site, tmp_path)
    rights = by_path(ended)
    assert rights.keys() == set(PATHS)
    assert not {"/.well-known/tdmrep.json", "/license.xml", "/page-license.xml"}.intersection(site.paths())
    asked_for = ("/rsl", "/tdm")  # are known by files that are asked for only when they are wanted
    reserved = {path for path, found in rights.items() if found["uses"]["ai-train"] == "disallowed"}
    assert reserved == {*BEFORE, *AFTER}.difference(asked_for)
    assert rights["/free"]["licence"] == "CC-BY-4.0"
    assert rights["/signal"]["uses"] == {"search": "allowed", "ai-input": "unknown", "ai-train": "disallowed"}
    assert rights["/malformed"]["uses"]["ai-train"] == "malformed"
    (robots, usage) = rights["/usage"]["evidence"]
    assert robots | {"where": ""} == {
        "signal": "robots_txt",
        "where": "",
        "says": "Allow: /",
        "read_at": robots["read_at"],
    }
    assert (usage["signal"], usage["says"]) == ("content_usage", "Content-Usage: /usage train-ai=n")
    sent = ROBOTS.format(url=site.url).encode()
    assert usage["where"] == f"{site.url}robots.txt#sha256={hashlib.sha256(sent).hexdigest()}"
    with closing(sqlite3.connect(tmp_path / "output" / "crawl.db")) as state:
        ((digest, url, body),) = state.execute("SELECT digest, first_url, body FROM robots_file")
    assert usage["where"] == f"{url}#sha256={digest}"
    assert zstd.decompress(body) == sent


def test_what_is_disallowed_is_left_out(site: Site, tmp_path: Path) -> None:
    ended = run(site, tmp_path, purpose="ai-train", images="yes")
    assert by_path(ended).keys() == set(FREE)
    paths = site.paths()
    assert not set(BEFORE).intersection(paths)
    assert set(AFTER) < set(paths)
    files = ("/robots.txt", "/.well-known/tdmrep.json", "/license.xml", "/page-license.xml")
    assert [paths.count(path) for path in files] == [1, 1, 1, 1]
    names = {
        "content_usage": 2,
        "content_signal": 2,
        "tdm_reservation": 3,
        "rsl": 2,
        "noai": 2,
        "training_crawlers": 1,
    }
    counts = {code: count for code, count in ended.outcomes().items() if code.startswith("rights_reserved")}
    assert counts == {f"rights_reserved/{name}": count for name, count in names.items()}
    # Images of pages that are left out, and of those that say noimageai, are left out as well.
    assert {path for path in paths if path.endswith(".png")} <= {f"{path}.png" for path in FREE} - {"/image.png"}


def test_files_are_read_for_a_label(site: Site, tmp_path: Path) -> None:
    rights = by_path(run(site, tmp_path, purpose="label,ai-train"))
    assert rights.keys() == set(PATHS)
    assert {path for path, found in rights.items() if found["uses"]["ai-train"] == "disallowed"} == {*BEFORE, *AFTER}
    assert rights["/link-rsl"]["uses"]["search"] == "disallowed"
    (tdm,) = (one for one in rights["/tdm"]["evidence"] if one["signal"] == "tdm_reservation")
    assert tdm["where"] == f"{site.url}.well-known/tdmrep.json"


def test_a_purpose_asks_for_what_is_about_it_only(site: Site, tmp_path: Path) -> None:
    rights = by_path(run(site, tmp_path, purpose="search"))
    assert rights.keys() == set(PATHS) - {"/link-rsl"}
    assert "/.well-known/tdmrep.json" not in site.paths()


def test_a_stopped_crawl_goes_on_with_its_purpose(site: Site, tmp_path: Path) -> None:
    assert len(run(site, tmp_path, purpose="ai-train", max_pages="2").items()) == 2
    ended = run(site, tmp_path, purpose="ai-train")
    assert by_path(ended).keys() == set(FREE)
    assert not set(BEFORE).intersection(site.paths())


def test_workers_share_a_purpose(site: Site, tmp_path: Path, emptied_database: str) -> None:
    ended = run(site, tmp_path, {"STATE_URL": emptied_database}, purpose="ai-train", workers="2")
    lines = [line for file in tmp_path.glob("output/*.jsonl") for line in file.read_text(encoding="utf-8").splitlines()]
    assert sorted(json.loads(line)["url"] for line in lines) == sorted(site.url + path[1:] for path in FREE)
    assert ended.outcomes()["rights_reserved/tdm_reservation"] == 3
    assert site.paths().count("/.well-known/tdmrep.json") <= 2


def test_a_site_that_reserves_everything(site: Site, tmp_path: Path) -> None:
    say(site, "User-agent: *\nContent-Signal: ai-train=no")
    ended = run(site, tmp_path, purpose="ai-train")
    assert site.paths() == ["/robots.txt", "/.well-known/tdmrep.json"]
    assert ended.status == 1
    assert "use is reserved: Content-Signal" in ended.closing()


def test_files_are_asked_for_by_the_rules_of_robots_txt(tmp_path: Path) -> None:
    sites = {path: unruled_site() for path in ("/.well-known/tdmrep.json", "/license.xml")}
    with serving_all(sites.values()) as seeds:
        for refused, site in sites.items():
            say(site, f"User-agent: *\nDisallow: {refused}\nLicense: {site.url}license.xml")
        arguments = {"seeds": seeds, "images": "no", "purpose": "ai-train", "max_depth": "0"}
        ended = crawl(tmp_path, arguments, COUNTED)
    for refused, site in sites.items():
        assert ended.paths_of(site) == ["/"]
        assert sites.keys() & set(site.paths()) == sites.keys() - {refused}


def test_rights_are_those_of_the_last_visit(site: Site, tmp_path: Path) -> None:
    run(site, tmp_path)
    say(site, "User-agent: *\nContent-Usage: train-ai=n")
    run(site, tmp_path, refresh="all")
    with closing(sqlite3.connect(tmp_path / "output" / "crawl.db")) as state:
        found = [json.loads(rights) for (rights,) in state.execute("SELECT rights FROM page")]
        digests = {digest for (digest,) in state.execute("SELECT digest FROM robots_file")}
    assert {one["where"].partition("=")[2] for rights in found for one in rights["evidence"][:1]} < digests
    assert len(found) == len(PATHS)
    assert {rights["uses"]["ai-train"] for rights in found} == {"disallowed"}


def test_what_cannot_be_parsed_stops_nothing(site: Site, tmp_path: Path) -> None:
    named = f"License: {site.url}license.xml\n"
    say(site, f"User-agent: *\nContent-Usage: train-ai=n;;\nLicense: /relative\n{named * 9}")
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 20 if n else "x" * 20}">' for n in range(9))
    site.routes["/license.xml"] = Answer(f"<!DOCTYPE r [{entities}]>{RSL.replace('ai-train', '&e8;')}")
    site.routes["/.well-known/tdmrep.json"] = Answer("[" * 100_000)
    odd = {
        "Content-Usage": '"' * 9_000,
        "Content-Signal": "=," * 4_000,
        "tdm-reservation": "x" * 9_000,
        "Link": "<" * 9_000,
    }
    site.routes["/"] = Answer(page(text("/")), headers=odd)
    ended = run(site, tmp_path, purpose="label,ai-train", max_depth="0")
    (item,) = ended.items()
    assert item["rights"]["uses"]["ai-train"] == "malformed"
    assert len(json.dumps(item["rights"])) < 20_000
    assert ended.status == 0
    assert "Traceback" not in ended.err
