"""A finished crawl comes back: what changed, what is new and what is gone, on a real site that changes meanwhile."""

import json
import re
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fork_server
import pytest
from postgres import Server, connect
from sites import COUNTED, OPEN, Answer, Asked, Crawl, Site, command, crawl, page, serving, serving_all
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

BEES = "Bees dance in the dark of the hive, and the others follow the dancer with their feelers to learn the way. "
HONEY = "Honey is made of nectar, which the foragers carry home and the house bees fan until it is thick and keeps. "
QUEEN = "A queen lays two thousand eggs on a day in May, more than she weighs, and is fed all the while by the young. "
WAX = (
    "Wax comes out of eight small glands under the belly, and is chewed until it can be drawn into the walls of cells. "
)
SOON = COUNTED | {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"}
"""Every page is due at once."""
FIRST = ["/", "/dance", "/honey", "/queen"]
"""The pages of the first round."""
VALIDATED = {"/honey": '"honey"', "/queen": '"queen"'}


class Garden:
    """A site whose pages can be made to change, with ETags on some of them."""

    def __init__(self) -> None:
        self.texts = {"/dance": BEES * 3, "/honey": HONEY * 3, "/queen": QUEEN * 3}
        self.date = "1 May"
        self.gone: set[str] = set()
        self.site = Site({"/": self.home, **dict.fromkeys(self.texts, self.article)})

    def home(self, asked: Asked) -> Answer:
        return Answer(
            page("A garden of bees, in which there is much to read on them.", links=dict.fromkeys(self.texts, "a page"))
        )

    def article(self, asked: Asked) -> Answer:
        if asked.path in self.gone:
            return Answer("<p>It is gone.</p>", 404)
        tag = VALIDATED.get(asked.path)
        if tag and asked.headers.get("If-None-Match") == tag:
            return Answer(status=304)
        text = self.texts[asked.path]
        menu = f"<nav><ul><li><a href='/'>All the news of {self.date}</a></li></ul></nav>"
        footer = f"<footer><p>Printed on {self.date}, all rights reserved.</p></footer>"
        article = f"<article><p>{text}</p></article>"
        html = f"<html lang='en'><head><title>On bees</title></head><body>{menu}{article}{footer}</body></html>"
        return Answer(html, headers={"ETag": tag} if tag else {})

    def add(self, path: str, text: str) -> None:
        self.texts[path] = text
        self.site.routes[path] = self.article


@pytest.fixture
def garden() -> Iterator[Garden]:
    garden = Garden()
    with serving(garden.site):
        yield garden


def run(folder: Path, garden: Garden, **more: str) -> Crawl:
    ended = crawl(folder, {"seeds": garden.site.url, "topic": "bees", **more}, SOON)
    assert ended.status == 0, ended.err
    return ended


def paths(items: list[dict[str, Any]]) -> list[str]:
    return ["/" + item["url"].split("/", 3)[3] for item in items]


def round_of(ended: Crawl) -> str:
    """What the closing lines say of the round."""
    return next((line for line in ended.closing().splitlines() if line.startswith("Round ")), "")


def changes(ended: Crawl) -> dict[str, int]:
    """How many pages of the round were new, changed and so on."""
    return {name[8:]: count for name, count in ended.statistics().items() if name.startswith("recrawl/")}


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "output" / "crawl.db")) as connection:
        return connection.execute(query).fetchall()


def test_three_rounds(tmp_path: Path, garden: Garden) -> None:
    """A change, a page that vanishes, a new one, and dates that change everywhere."""
    first = run(tmp_path, garden)
    assert sorted(paths(first.items())) == FIRST
    assert round_of(first) == ""

    garden.date = "2 May"
    garden.texts["/dance"] = BEES * 2 + WAX
    garden.gone = {"/queen"}
    garden.add("/wax", WAX * 3)
    second = run(tmp_path, garden)
    assert sorted(paths(second.items()[4:])) == ["/dance", "/wax"]
    assert re.findall("[0-9]+", round_of(second)) == ["2", "1", "1", "0", "2", "1", "304"]
    assert changes(second) == {"changed": 1, "new": 1, "unchanged": 2, "not_modified": 1}
    changed = next(item for item in second.items()[4:] if item["url"].endswith("/dance"))
    assert WAX.strip() in changed["text"]
    versions = {(*paths([one]), one["change"], one["round"]) for one in second.items()}
    assert versions == {*((path, "new", 1) for path in FIRST), ("/dance", "changed", 2), ("/wax", "new", 2)}
    assert all(item["first_seen"] == item["fetched_at"] for item in second.items()[:4])
    assert changed["first_seen"] == next(item["fetched_at"] for item in first.items() if item["url"] == changed["url"])
    assert rows(tmp_path, "SELECT text FROM page_version") == [((BEES * 3).strip(),)]
    ((distance, at, fetched),) = rows(
        tmp_path, "SELECT change_distance, changed_at, fetched_at FROM page WHERE changes > 0"
    )
    assert 0.2 < distance < 0.9
    assert at == fetched

    third = run(tmp_path, garden)
    assert len(third.items()) == 6
    assert changes(third) == {"gone": 1, "unchanged": 4, "not_modified": 1}
    assert rows(tmp_path, "SELECT gone_round, text FROM page WHERE gone_at IS NOT NULL") == [(3, (QUEEN * 3).strip())]

    asked = garden.site.paths().count("/queen")
    fourth = run(tmp_path, garden)
    assert garden.site.paths().count("/queen") == asked + 1
    assert changes(fourth).keys() == {"unchanged", "not_modified"}
    assert changes(fourth)["unchanged"] == 4

    garden.gone = set()
    fifth = run(tmp_path, garden)
    assert garden.site.paths().count("/queen") == asked + 2
    assert changes(fifth).keys() == {"unchanged", "not_modified"}
    assert changes(fifth)["unchanged"] == 5
    assert rows(tmp_path, "SELECT count(*) FROM page WHERE gone_at IS NOT NULL") == [(0,)]
    assert len(fifth.items()) == 6


def test_a_new_title_is_a_change_and_noindex_and_notices_are_no_texts(tmp_path: Path, garden: Garden) -> None:
    """Three pages answer 200 all the while: one has another title, one noindex, and one says that it was deleted.

    A fourth one has never been there.
    """
    garden.add("/lost", "")
    garden.site.routes["/lost"] = page("404 - Not Found")
    first = run(tmp_path, garden)
    assert sorted(paths(first.items())) == FIRST
    assert first.outcomes() == {"missing": 1}
    head = "<meta name=robots content=noindex>"
    garden.site.routes["/dance"] = page(BEES * 3, head="<title>On dances</title>").replace("<title>A page</title>", "")
    garden.site.routes["/honey"] = page("This topic does not exist yet.", head=head)
    garden.site.routes["/queen"] = page("This page has been deleted.")
    second = run(tmp_path, garden)
    assert [(path, one["change"]) for one in second.items()[4:] for path in paths([one])] == [("/dance", "changed")]
    assert second.items()[-1]["title"] == "On dances"
    assert changes(second) == {"changed": 1, "noindex": 1, "unchanged": 1}
    third = run(tmp_path, garden)
    assert len(third.items()) == 5
    assert changes(third) == {"gone": 1, "noindex": 1, "unchanged": 2}
    left = "SELECT gone_round, noindex, text FROM page WHERE gone_at IS NOT NULL ORDER BY gone_round"
    assert rows(tmp_path, left) == [(2, 1, (HONEY * 3).strip()), (3, 0, (QUEEN * 3).strip())]


def test_a_page_that_a_fresh_crawl_does_not_reach_becomes_new_in_the_next_round(tmp_path: Path, garden: Garden) -> None:
    """Its text is another by then; a second page says that it was deleted, and a third one is as it was."""
    run(tmp_path, garden)
    texts = garden.texts
    garden.texts = {}
    fresh = run(tmp_path, garden, fresh="yes")
    assert paths(fresh.items()) == ["/"]
    garden.texts = texts | {"/dance": BEES * 2 + WAX}
    garden.site.routes["/"] = page("A garden of bees, in which there is much to read on them.")
    garden.site.routes["/queen"] = page("This page has been deleted.")
    second = run(tmp_path, garden)
    assert {(*paths([item]), item["change"]) for item in second.items()[1:]} == {("/dance", "new"), ("/honey", "new")}
    assert rows(tmp_path, "SELECT text, gone_count FROM page WHERE url LIKE '%/queen'") == [((QUEEN * 3).strip(), 1)]
    third = run(tmp_path, garden)
    assert changes(third)["gone"] == 1


def test_another_method_renews(tmp_path: Path, garden: Garden) -> None:
    """Its texts are in the database, and the file has no second line of a page that did not change."""
    run(tmp_path, garden)
    second = run(tmp_path, garden, extractor="leaf-tags")
    assert sorted(paths(second.items())) == FIRST
    assert rows(tmp_path, "SELECT DISTINCT change, round, first_round, last_round FROM page") == [("renewed", 2, 1, 2)]
    assert rows(tmp_path, "SELECT count(*) FROM page WHERE first_seen > fetched_at") == [(0,)]


@pytest.mark.long
def test_nothing_is_due(tmp_path: Path, garden: Garden) -> None:
    given = {"seeds": garden.site.url, "topic": "bees"}
    assert crawl(tmp_path, given).status == 0
    asked = len(garden.site.asked)
    again = crawl(tmp_path, given)
    assert (again.status, len(garden.site.asked)) == (0, asked)
    assert re.search("'topic' is finished: 4 pages.* in 2.*refresh=all", again.err)
    everything = crawl(tmp_path, given | {"refresh": "all"}, COUNTED)
    assert changes(everything) == {"unchanged": 4, "not_modified": 2}
    assert "'topic' is finished" in crawl(tmp_path, given).err


@pytest.mark.long
def test_intervals_grow_and_shrink(tmp_path: Path, garden: Garden) -> None:
    given = {"seeds": garden.site.url, "topic": "bees", "refresh": "all"}
    seen = []
    for number in range(4):
        garden.texts["/dance"] = BEES * 3 + (WAX if number % 2 else QUEEN)
        assert crawl(tmp_path, given).status == 0
        seen.append(dict(rows(tmp_path, "SELECT url, interval / 86400 FROM page")))
    url = garden.site.url
    assert [found[f"{url}honey"] for found in seen] == [1.0, 1.5, 2.25, 3.375]
    assert [found[f"{url}dance"] for found in seen] == [1.0, 0.5, 0.25, 0.125]


@pytest.mark.long
def test_servers_that_say_304_to_everything(tmp_path: Path) -> None:
    """Who does so unasked has failed; each tenth look asks for the page whole, whatever the server says."""
    texts = {"/always": BEES * 3, "/once": HONEY * 3}

    def article(asked: Asked) -> Answer:
        told = "If-None-Match" in asked.headers
        if told or (asked.path == "/always" and asked.times):
            return Answer(status=304)
        return Answer(page(texts[asked.path]), headers={"ETag": '"the same for all"'})

    with serving(Site(dict.fromkeys(texts, article))) as site:
        seeds = f"{site.url}always {site.url}once"
        for _ in range(12):
            ended = crawl(tmp_path, {"seeds": seeds, "topic": "bees"}, SOON)
            assert ended.status == 0
            texts = {"/always": QUEEN * 3, "/once": WAX * 3}
    assert sorted(paths(ended.items())) == ["/always", "/once", "/once"]
    for path in texts:
        assert any("If-None-Match" not in asked.headers for asked in site.asked if asked.path == path and asked.times)


@dataclass(frozen=True)
class TwoRounds:
    """Two rounds of a crawl of three sites."""

    rewritten: Site
    """One page with another text in each round."""
    tagged: Site
    """One page with an ETag that is new each time, and a Last-Modified that is no date."""
    moved: Site
    """A page that leads to another one in the second round."""
    first: Crawl
    second: Crawl


@pytest.fixture(scope="module")
def two_rounds(tmp_path_factory: pytest.TempPathFactory) -> TwoRounds:
    def tagged_page(asked: Asked) -> Answer:
        return Answer(page(BEES * 3), headers={"ETag": f'"{asked.times}"', "Last-Modified": "x" * 3_000})

    def moving_page(asked: Asked) -> Answer:
        if asked.times:
            return Answer(status=301, headers={"Location": "/new"})
        return Answer(page(QUEEN * 3), headers={"ETag": '"old"'})

    home = page("A garden of bees.", links={"/old": "a page"})
    rewritten = Site({"/": lambda asked: Answer(page((WAX, HONEY)[asked.times]))})
    tagged, moved = Site({"/": tagged_page}), Site({"/": home, "/old": moving_page, "/new": page(HONEY * 3)})
    folder = tmp_path_factory.mktemp("rounds")
    with serving_all((rewritten, tagged, moved)) as seeds:
        first, second = (crawl(folder, {"seeds": seeds, "topic": "bees"}, SOON) for _ in range(2))
    return TwoRounds(rewritten, tagged, moved, first, second)


def test_items_of_a_later_round_are_new_ones(two_rounds: TwoRounds) -> None:
    """The file has those of earlier rounds as well."""
    assert re.search("^4 items in ", two_rounds.first.closing(), re.M)
    assert re.search("^2 new items in ", two_rounds.second.closing(), re.M)
    assert two_rounds.second.paths_of(two_rounds.rewritten) == ["/", "/"]


def test_wrong_etags(two_rounds: TwoRounds) -> None:
    """One that is new each time costs a download and no more; one that is no header is never sent."""
    assert two_rounds.second.paths_of(two_rounds.tagged) == ["/"]
    last = two_rounds.tagged.asked[-1].headers
    assert last["If-None-Match"] == '"0"'
    assert last["If-Modified-Since"] == "x" * 1_000


def test_where_a_page_leads_is_asked_for_whole(two_rounds: TwoRounds) -> None:
    """What is known of a page says nothing of another, and its place is kept."""
    site = two_rounds.moved
    headers = {asked.path: asked.headers for asked in site.asked}
    assert headers["/old"]["If-None-Match"] == '"old"'
    assert "If-None-Match" not in headers["/new"]
    assert two_rounds.second.paths_of(site) == ["/", "/old", "/new"]
    query = "SELECT url, last_round FROM page WHERE url LIKE '%/old'"
    assert rows(two_rounds.second.folder, query) == [(f"{site.url}old", 1)]


@pytest.mark.long
def test_a_sitemap_says_what_changed(tmp_path: Path) -> None:
    """Pages that are not due are asked for when their lastmod is later than the last look, once a round."""
    lastmod = {"/a": "2024-05-06", "/b": "2024-05-06"}
    texts = {"/a": BEES * 3, "/b": HONEY * 3}

    def sitemap(asked: Asked) -> Answer:
        entries = "".join(
            f"<url><loc>{site.url}{path[1:]}</loc><lastmod>{when}</lastmod></url>" for path, when in lastmod.items()
        )
        return Answer(f"<urlset>{entries}</urlset>", content_type="text/xml")

    site = Site({"/map.xml": sitemap, **{path: lambda asked: Answer(page(texts[asked.path])) for path in texts}})
    settings = OPEN | {"RECRAWL_LEAST": "0.001"}
    with serving(site):
        given = {"seeds": f"{site.url}map.xml", "topic": "bees"}
        first = crawl(tmp_path, given, settings)
        assert len(first.items()) == 2
        ((interval,),) = rows(tmp_path, f"SELECT interval FROM page WHERE url = '{site.url}a'")
        assert interval > 86_400 * 2  # a tenth of its age
        asked = len(site.asked)
        crawl(tmp_path, given, settings)
        assert [one.path for one in site.asked[asked:] if one.path != "/robots.txt"] == ["/map.xml"]
        time.sleep(1.1)
        texts["/a"], lastmod["/a"] = WAX * 3, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        lastmod["/b"] = "2999-01-01"
        asked = len(site.asked)
        third = crawl(tmp_path, given, settings)
    assert [one.path for one in site.asked[asked:] if one.path != "/robots.txt"] == ["/map.xml", "/a"]
    assert paths(third.items())[2:] == ["/a"]


def test_menus_and_dates_are_no_change_to_methods_that_learn(tmp_path: Path, garden: Garden) -> None:
    run(tmp_path, garden, extractor="template")
    garden.date = "a day in June"
    second = run(tmp_path, garden, extractor="template")
    assert changes(second) == {"unchanged": 4, "not_modified": 2}
    assert len(second.items()) == 4


@pytest.mark.long
def test_another_method_changes_no_page(tmp_path: Path, garden: Garden) -> None:
    """Its texts are in the database, and no items, also of pages that have an ETag; a change after that is one."""
    run(tmp_path, garden)
    second = run(tmp_path, garden, extractor="template")
    assert len(second.items()) == 4
    assert changes(second) == {"unchanged": 4}
    assert {method for (method,) in rows(tmp_path, "SELECT extractor FROM page")} == {"template"}
    ((text,),) = rows(tmp_path, "SELECT text FROM page WHERE url LIKE '%/dance'")
    assert "rights reserved" in text
    assert rows(tmp_path, "SELECT count(*) FROM page_version") == [(0,)]
    garden.texts["/dance"] = WAX * 3
    assert paths(run(tmp_path, garden, extractor="template").items()[4:]) == ["/dance"]


def test_a_round_that_is_killed_goes_on(tmp_path: Path) -> None:
    """kill -9 within a round: the next run is of the same round, and asks for what is left of it alone."""
    slow = [False]

    def article(asked: Asked) -> Answer:
        if slow[0]:
            time.sleep(0.05)
        return Answer(page(f"{asked.path} {WAX if asked.times else BEES}" * 4))

    leaves = {f"/{n}": f"page {n}" for n in range(40)}
    site = Site({"/": page("A list of pages.", links=leaves), **dict.fromkeys(leaves, article)})
    with serving(site):
        given = {"seeds": site.url, "topic": "bees"}
        settings = SOON | {"CONCURRENT_REQUESTS_PER_DOMAIN": "2", "RECRAWL_MOST": "60", "RECRAWL_LEAST": "60"}
        assert len(crawl(tmp_path, given, settings).items()) == 41
        with closing(sqlite3.connect(tmp_path / "output" / "crawl.db")) as connection, connection:
            connection.execute("UPDATE page SET due_at = 0")
        slow[0] = True
        asked = len(site.asked)
        process = fork_server.common()(command(given, settings), tmp_path, tmp_path / "log")
        until = time.monotonic() + 60
        while len(site.asked) < asked + 15 and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        slow[0] = False
        ended = crawl(tmp_path, given, settings)
    assert ended.status == 0
    items = paths(ended.items()[41:])
    assert sorted(items) == sorted(leaves)
    assert [round_of(ended).count(part) for part in ("2: 40 ", " 1 unchanged")] == [1, 1]
    assert rows(tmp_path, "SELECT count(*) FROM page_version") == [(40,)]


@pytest.mark.long
def test_two_workers_share_a_round(tmp_path: Path, postgres_server: Server) -> None:
    """One begins it, the other joins; each page is asked for once."""
    url = make_url(postgres_server.database())
    leaves = {f"/{n}": f"page {n}" for n in range(60)}

    def article(asked: Asked) -> Answer:
        time.sleep(0.02)
        return Answer(page(f"{asked.path} {WAX if asked.times else BEES}" * 4))

    site = Site({"/": page("A list of pages.", links=leaves), **dict.fromkeys(leaves, article)})
    settings = SOON | {
        "STATE_URL": url.render_as_string(hide_password=False),
        "RECRAWL_MOST": "60",
        "RECRAWL_LEAST": "60",
    }
    with serving(site):
        given = {"seeds": site.url, "topic": "bees"}
        folders = [tmp_path / name for name in ("one", "two")]
        for folder in folders:
            folder.mkdir()
        for number in range(2):
            asked = len(site.asked)
            workers = [
                fork_server.common()(command(given, settings), folder, folder / f"log{number}") for folder in folders
            ]
            assert [worker.wait(120) for worker in workers] == [0, 0]
            pages = [one.path for one in site.asked[asked:] if one.path != "/robots.txt"]
            assert sorted(pages) == sorted({"/", *leaves})
            if number == 0:
                with connect(url.render_as_string(hide_password=False)) as connection:
                    connection.execute("UPDATE page SET due_at = 0")
    found = [
        json.loads(line)
        for folder in folders
        for path in (folder / "output").glob("*[!s].jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    assert sorted(paths(found)) == sorted(["/", *leaves, *leaves])
    engine = create_engine(url)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT round, pages FROM crawl").one() == (2, 61)
        assert connection.exec_driver_sql("SELECT count(*), min(last_round) FROM page").one() == (61, 2)
        assert connection.exec_driver_sql("SELECT count(*) FROM page_version").scalar_one() == 60
    engine.dispose()


def test_mirrors_within_and_across_rounds(tmp_path: Path, garden: Garden) -> None:
    text = " ".join(f"{word} {number}" for number, word in enumerate((BEES + HONEY + QUEEN + WAX).split()))
    garden.texts = {"/dance": text, "/honey": f"{text} Printed in May."}
    garden.site.routes["/honey"] = garden.article
    first = run(tmp_path, garden).items()
    copies = {path: item["duplicate_of"] for path, item in zip(paths(first), first, strict=True)}
    original = garden.site.url + "dance" if copies["/dance"] is None else garden.site.url + "honey"
    assert sorted(filter(None, copies.values())) == [original]
    garden.add("/print", f"For print. {text}")
    (new,) = run(tmp_path, garden).items()[len(first) :]
    assert (paths([new]), new["duplicate_of"]) == (["/print"], original)


@pytest.mark.long
def test_max_pages_are_those_of_a_round(tmp_path: Path) -> None:
    """What a round had no room for is asked for by the next, with what is due."""
    leaves = {f"/{number}": f"page {number}" for number in range(6)}
    routes = {"/": page("A list of pages.", links=leaves), **{path: page(f"{path} {BEES}") for path in leaves}}
    with serving(Site(routes)) as site:
        for number in range(1, 4):
            asked = len(site.asked)
            assert crawl(tmp_path, {"seeds": site.url, "topic": "bees", "max_pages": "4"}, SOON).status == 0
            assert len([one for one in site.asked[asked:] if one.path != "/robots.txt"]) == 4
            assert rows(tmp_path, "SELECT round, pages FROM crawl") == [(number, 4)]
        crawl(tmp_path, {"seeds": site.url, "topic": "bees", "max_pages": "9"}, SOON)
    assert rows(tmp_path, "SELECT count(*) FROM page") == [(7,)]
