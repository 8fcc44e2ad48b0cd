"""Crawls of sites whose pages are behind a wall, and whose feed has their texts with it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from sites import OPEN, Answer, Crawl, Route, Site, crawl, page, serving
from wall_pages import WALLS

TEXT = [
    f"The keeper of the {which} hive wrote down each morning what the bees brought home, and how heavy its combs were."
    for which in ("first", "second", "third", "fourth")
]
TEASER = "Read on as a subscriber: the keeper of the hives wrote down what the bees brought home."
CONTENT = "".join(f"<p>{text}</p>" for text in TEXT) + "<p><a href='/linked'>Another hive</a></p>"


def entry(path: str, content: str = CONTENT) -> str:
    return (
        f"<entry><title>Of {path}</title><link href='{path}'/><published>2024-05-02T09:00:00Z</published>"
        f"<author><name>Ann</name></author><content type='html'><![CDATA[{content}]]></content></entry>"
    )


def site_of(routes: Mapping[str, Route], *entries: str, robots: str = "") -> Site:
    feed = f"<feed xmlns='http://www.w3.org/2005/Atom'>{''.join(entries)}</feed>"
    lists = {
        "/feed": Answer(feed, content_type="application/atom+xml"),
        "/robots.txt": Answer(robots, content_type="text/plain"),
    }
    return Site(lists | dict(routes))


def crawled(folder: Path, site: Site, **arguments: str) -> Crawl:
    ended = crawl(folder, {"seeds": f"{site.url}feed", "images": "no", "render": "never"} | arguments, OPEN)
    assert "Traceback" not in ended.err
    return ended


def item_at(ended: Crawl, site: Site, path: str) -> dict[str, Any] | None:
    return next((item for item in ended.items() if item["url"] == site.url[:-1] + path), None)


LOGIN = page("Members only.", head="<title>Log in</title>").replace("<nav>", "<input type=password><nav>")
ROUTES: dict[str, Route] = {
    **{f"/{status}": Answer("<p>No.</p>", status) for status in (401, 402, 403, 451)},
    "/wall200": Answer(WALLS["imperva 200"][1].body),
    "/wall403": Answer(WALLS["cloudflare 403"][1].body, 403),
    "/404": Answer("<p>No.</p>", 404),
    "/login": LOGIN.replace("<title>A page</title>", ""),
    "/teaser": page(TEASER, links={"/more": "More about the bees"}),
    "/whole": page(*TEXT, "And a last sentence that the feed leaves out."),
    "/moved": Answer(status=302, headers={"Location": "/login?next=moved"}),
    "/login?next=moved": LOGIN,
    "/noindex": page(TEASER, head="<meta name=robots content=noindex>"),
    "/linked": page("A page of the site about another hive of bees."),
    "/more": page("More about the bees of the keeper of the hives."),
    "/forbidden": page(TEASER),
    "/short": Answer("<p>No.</p>", 403),
}
UNLISTED = ("/short", "/login?next=moved", "/linked", "/more")
ENTRIES = [entry(path) for path in ROUTES if path not in UNLISTED] + [entry("/short", "<p>A summary of the text.</p>")]


def test_pages_behind_a_wall_have_the_text_of_their_feed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(site_of(ROUTES, *ENTRIES, robots="User-agent: *\nDisallow: /forbidden")) as site:
        ended = crawled(tmp_path, site)
    for path in ("/401", "/402", "/403", "/451", "/wall200", "/wall403", "/login", "/teaser"):
        found = item_at(ended, site, path)
        assert found is not None, path
        assert found["made_from"] == "feed", path
        assert found["text"].splitlines()[-5:-1] == TEXT, path
        assert (found["title"], found["author"], found["extractor"]) == (f"Of {path}", "Ann", "document")
        assert (found["published"], found["published_source"]) == ("2024-05-02", "feed")
        assert found["raw_digest"] is None
        assert path == "/login" or site.paths().count(path) == 1, path
    for path in ("/404", "/moved", "/login?next=moved", "/noindex", "/forbidden", "/short"):
        assert item_at(ended, site, path) is None, path
    for path in ("/whole", "/linked", "/more"):
        found = item_at(ended, site, path)
        assert found is not None, path
        assert found["made_from"] == "html", path
    assert "/forbidden" not in site.paths()
    output = ("-s", f"OUTPUT_DIR={tmp_path / 'output'}")
    status, _, err = run_command(capsys, "clean", "--stored", "topic", *output)
    assert (status, "Unchanged: 8 pages" in err) == (0, True)
    exported = tmp_path / "exported.jsonl"
    assert run_command(capsys, "export", "--name", "topic", "-o", str(exported), *output)[0] == 0
    left = {line["url"]: line["text"] for line in map(json.loads, exported.read_text("utf-8").splitlines())}
    assert left == {item["url"]: item["text"] for item in ended.items()}
