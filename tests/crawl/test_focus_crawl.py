"""Crawls with a topic: what comes first, what is kept, when it ends, and what examples teach."""

import re
import sqlite3
import sys
import threading
import time
from contextlib import ExitStack, closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import chinese_site
import fork_server
import pytest
from command_line import refusal_of_crawl
from sites import COUNTED, Answer, Asked, Crawl, Site, crawl, environment, page, serving

from crawler.outcomes import Code, Outcome

ONE_BY_ONE = COUNTED | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
UNREADABLE = Outcome(Code.ROBOTS_UNREADABLE, Code.CONNECTION_REFUSED)
TWO_HOSTS = ONE_BY_ONE | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"}
BEES = "Honey bees make honey, and bees make wax in the hive of their colony."
HIVES = "The colony in the hive has one queen, and its workers make wax and honey."
CARS = "Cars run on roads, and their engines burn petrol in four strokes."


def share(on_topic: list[bool]) -> float:
    return sum(on_topic) / len(on_topic)


@pytest.mark.parametrize("topic", [pytest.param("蜜蜂", marks=pytest.mark.long), "file"])
def test_pages_on_the_topic_come_first(tmp_path: Path, topic: str) -> None:
    (tmp_path / "bees.toml").write_text(f'examples = ["{chinese_site.text("/bees/4")}"]', encoding="utf-8")
    with serving(Site(chinese_site.routes())) as site:
        asked = {"seeds": site.url, "topic": "bees.toml" if topic == "file" else topic}
        ended = crawl(tmp_path, asked, ONE_BY_ONE)
    order = [chinese_site.about(path) == "bees" for path in site.paths(without="/robots.txt")[1:]]
    assert len(order) == len(ended.items()) - 1 == chinese_site.BEES + chinese_site.OTHERS
    first = order[: 2 * chinese_site.BEES]
    assert sum(first) >= 0.8 * chinese_site.BEES
    assert share(order[len(order) // 2 :]) < 0.2
    relevance = {item["url"].removeprefix(site.url): item["relevance"] for item in ended.items()}
    about = [number for path, number in relevance.items() if path.startswith("bees/")]
    other = [number for path, number in relevance.items() if path and not path.startswith("bees/")]
    assert min(about) > max(other)


@pytest.mark.long
def test_the_demo_site(tmp_path: Path) -> None:
    ended = crawl(tmp_path, {"seeds": "demo", "topic": "蜜蜂"}, {})
    order = ["蜂" in item["title"] for item in ended.items()]
    half = len(order) // 2
    assert share(order[:half]) > 2 * share(order[half:]) > 0


def chain(*bodies: str) -> dict[str, str]:
    """Pages of which each leads to the next."""
    paths = ["/", *(f"/{n}" for n in range(1, len(bodies)))]
    links = [{after: "on"} for _, after in pairwise(paths)] + [{}]
    return {path: page(body, links=link) for path, body, link in zip(paths, bodies, links, strict=True)}


@pytest.mark.parametrize(("least", "kept"), [("0.01", 2), ("1", 0), (None, 4)])
def test_min_relevance(tmp_path: Path, least: str | None, kept: int) -> None:
    arguments = {} if least is None else {"min_relevance": least}
    with serving(Site(chain(BEES, CARS, CARS + " More.", BEES + " More."))) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "topic": "honey bees", **arguments}, ONE_BY_ONE)
    assert ended.status == 0
    assert len(ended.items()) == kept
    assert site.paths(without="/robots.txt") == ["/", "/1", "/2", "/3"]
    assert ended.outcomes() == ({} if kept == 4 else {"off_topic": 4 - kept})
    assert all(item["relevance"] >= float(least or 0) for item in ended.items())
    again = crawl(tmp_path, {"seeds": site.url, "topic": "honey bees", **arguments}, ONE_BY_ONE)
    assert "is finished" in again.err


@pytest.mark.long
def test_a_crawl_ends_when_its_harvest_is_small(tmp_path: Path) -> None:
    with serving(Site(chain(BEES, *(f"{CARS} Page {n}." for n in range(420))))) as site:
        # Without a least chance: a chain that leads away from the topic would end before 200 pages.
        arguments = {"seeds": site.url, "topic": "honey bees", "stop_when": "harvest<0.004", "min_chance": "0"}
        first = crawl(tmp_path, arguments, ONE_BY_ONE)
        pages = len(first.items())
        second = crawl(tmp_path, arguments, ONE_BY_ONE)
    said = first.closing()
    assert first.status == second.status == 0
    assert re.search("Stopped: .* 0% .* 200 .*stop_when=harvest<0.004", said)
    assert re.search(f": 1 of {pages} .*{1 / pages:.0%}.* 0% .* 200", said)
    assert 201 <= pages <= 202
    assert pages + 200 <= len(second.items()) <= pages + 201


def test_a_crawl_that_has_not_seen_enough_goes_on(tmp_path: Path) -> None:
    with serving(Site(chain(*[CARS] * 6))) as site:
        arguments = {"seeds": site.url, "topic": "honey bees", "stop_when": "harvest<0.1"}
        ended = crawl(tmp_path, arguments, ONE_BY_ONE)
    assert len(ended.items()) == 6
    assert "Stopped" not in ended.closing()


def test_the_progress_says_the_harvest(tmp_path: Path) -> None:
    def slow(asked: Asked) -> Answer:
        time.sleep(0.3)
        return Answer(page(CARS))

    with serving(Site(chain(BEES, BEES) | {"/1": page(BEES, links={"/2": "on"}), "/2": slow})) as site:
        settings = ONE_BY_ONE | {"LOGSTATS_INTERVAL": "0.1"}
        ended = crawl(tmp_path, {"seeds": site.url, "topic": "honey bees"}, settings)
    assert ", 0 failed, harvest 100%\n" in ended.err
    assert re.search("^On topic: 2 of 3 .*67%", ended.closing(), re.MULTILINE)


@pytest.mark.parametrize(
    ("vectors", "level", "words"),
    [
        ("bees 1 0\nhoney 1 0\nwasps 0.9 0.1\nhive 0.5 0.5\n", "INFO", ": 2; wasps, hive"),
        ("bees 1 0\nhoney 1 0\nwasps 0 1\n", "WARNING", "no words similar"),
        ("wasps 1 0\n", "WARNING", "none of the words"),
    ],
)
def test_the_log_names_the_words_that_vectors_add(tmp_path: Path, vectors: str, level: str, words: str) -> None:
    (tmp_path / "vectors.txt").write_text(vectors)
    with serving(Site({"/": page(BEES)})) as site:
        settings = ONE_BY_ONE | {"FOCUS_VECTORS": "vectors.txt"}
        ended = crawl(tmp_path, {"seeds": site.url, "topic": "honey bees"}, settings)
    (line,) = [line for line in ended.err.splitlines() if "] " in line and "FOCUS_VECTORS" in line]
    assert level in line
    assert words in line


def with_topic(folder: Path, source: str) -> str:
    (folder / "topic.toml").write_text(source, encoding="utf-8")
    return "topic.toml"


def state_of(folder: Path) -> str:
    """What `scrapy state` says of the crawl, in one line."""
    line = [sys.executable, "-m", "scrapy", "state", "topic"]
    return " ".join(fork_server.run(line, folder, environment(), 60).stdout.split())


def relevance(ended: Crawl, site: Site) -> dict[str, float]:
    return {"/" + item["url"].removeprefix(site.url): item["relevance"] for item in ended.items()}


def test_pages_of_examples_teach_and_are_not_kept(tmp_path: Path) -> None:
    routes = chain("Welcome to the home page of this site.", HIVES + " Welcome.", CARS + " Welcome.")
    with serving(Site(routes)) as site, serving(Site({}), "127.0.0.2") as far:
        far.routes |= {"/good": page(BEES, links={"/more": "more", site.url + "secret": "more"})}
        far.routes |= {"/bad": Answer("", 302, headers={"Location": "/moved"}), "/moved": page(CARS)}
        source = f'examples = ["{far.url}good", "{far.url}gone"]\nagainst = ["{far.url}bad"]'
        arguments: dict[str, Any] = {"seeds": site.url, "topic": with_topic(tmp_path, source)}
        ended = crawl(tmp_path, arguments, TWO_HOSTS)
        asked = [(one.at, one.path) for one in far.asked]
        again = crawl(tmp_path, arguments | {"max_pages": "100"}, TWO_HOSTS)
    assert ended.status == 0
    assert sorted(far.paths()) == ["/bad", "/gone", "/good", "/moved", "/robots.txt"]
    assert site.paths(without="/robots.txt") == list(routes)
    assert min(asked)[0] < site.asked[-1].at
    found = relevance(ended, site)
    assert set(found) == set(routes)
    assert found["/1"] > found["/2"]
    assert re.search("3 pages, 1 redirect, 1 example.*, 1 counterexample, 1 failed", state_of(tmp_path))
    assert re.search(f"^Examples .*: {far.url}gone .404 ", ended.closing(), re.MULTILINE)
    assert ended.outcomes() == {"http_status/404": 1}
    assert "is finished" in again.err


def test_an_example_may_be_a_page_of_the_crawl(tmp_path: Path) -> None:
    routes = chain("Welcome.", HIVES)
    with serving(Site(routes)) as site:
        topic = with_topic(tmp_path, f'examples = ["{site.url}1", "{site.url}"]')
        ended = crawl(tmp_path, {"seeds": site.url, "topic": topic}, ONE_BY_ONE)
    assert sorted(site.paths(without="/robots.txt")) == ["/", "/", "/1", "/1"]
    assert set(relevance(ended, site)) == {"/", "/1"}
    assert len(ended.items()) == 2


def test_examples_are_asked_for_as_politely_as_pages(tmp_path: Path) -> None:
    with serving(Site({"/": page(BEES)})) as site, serving(Site({}), "127.0.0.2") as far:
        far.routes |= {"/robots.txt": Answer("User-agent: *\nDisallow: /", content_type="text/plain")}
        far.routes |= {"/pdf": Answer(b"%PDF", content_type="application/pdf")}
        source = f'words = ["bees"]\nexamples = ["{far.url}good", "http://127.0.0.3:1/"]'
        ended = crawl(tmp_path, {"seeds": site.url, "topic": with_topic(tmp_path, source)}, TWO_HOSTS)
    assert far.paths() == ["/robots.txt"]
    assert ended.status == 0
    assert len(ended.items()) == 1
    said = ended.closing()
    assert f"{far.url}good ({Outcome(Code.ROBOTS_FORBIDS).message})" in said
    assert f"http://127.0.0.3:1/ ({UNREADABLE.message})" in said


def test_an_example_that_failed_is_asked_for_again_by_the_next_run(tmp_path: Path) -> None:
    with serving(Site(chain(HIVES, CARS))) as site, serving(Site({}), "127.0.0.2") as far:
        far.routes["/"] = Answer("<p>Gone.", 404)
        arguments = {"seeds": site.url, "topic": with_topic(tmp_path, f'examples = ["{far.url}"]')}
        first = crawl(tmp_path, arguments | {"max_pages": "1"}, TWO_HOSTS)
        far.routes["/"] = page(BEES)
        second = crawl(tmp_path, arguments, TWO_HOSTS)
    assert "could not be used" in first.closing()
    assert "could not be used" not in second.closing()
    assert far.paths() == ["/robots.txt", "/", "/robots.txt", "/"]


def test_a_later_run_knows_what_examples_taught(tmp_path: Path) -> None:
    with serving(Site(chain("Welcome.", HIVES, CARS))) as site, serving(Site({"/": page(BEES)}), "127.0.0.2") as far:
        arguments = {"seeds": site.url, "topic": with_topic(tmp_path, f'examples = ["{far.url}"]')}
        crawl(tmp_path, arguments | {"max_pages": "1"}, TWO_HOSTS)
        ended = crawl(tmp_path, arguments, TWO_HOSTS)
    assert far.paths() == ["/robots.txt", "/"]
    found = relevance(ended, site)
    assert found["/1"] > found["/2"]


def test_when_only_examples_answer_the_crawl_has_failed(tmp_path: Path) -> None:
    with serving(Site({"/bees": page(BEES)})) as site:
        topic = with_topic(tmp_path, f'examples = ["{site.url}bees"]')
        ended = crawl(tmp_path, {"seeds": site.url, "topic": topic}, ONE_BY_ONE)
    assert ended.status == 1
    assert "Every seed failed:" in ended.closing()


def test_domains_to_leave_out(tmp_path: Path) -> None:
    with serving(Site({"/": page(BEES)}), "127.0.0.2") as shop, serving(Site({})) as site:
        site.routes |= {"/": page(BEES, links={shop.url: "shop", "/a": "a", "/to": "to"}), "/a": page(HIVES)}
        site.routes |= {"/to": Answer("", 302, headers={"Location": shop.url})}
        source = 'words = ["bees"]\n[domains]\navoid = ["127.0.0.2"]'
        arguments = {"seeds": site.url, "scope": "any", "topic": with_topic(tmp_path, source)}
        ended = crawl(tmp_path, arguments, TWO_HOSTS)
    assert shop.asked == []
    assert len(ended.items()) == 2
    assert ended.outcomes() == {"avoided_domain": 1, "redirect_refused/avoided_domain": 1}


def test_without_a_topic_ten_pages_say_what_it_is(tmp_path: Path) -> None:
    urls = "".join(f"<url><loc>/{n}</loc></url>" for n in range(15))
    routes = {f"/{n}": page(f"{BEES} This is page {n}.") for n in range(15)}
    with serving(Site({"/": Answer(f"<urlset>{urls}</urlset>", content_type="text/xml"), **routes})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, ONE_BY_ONE)
    with closing(sqlite3.connect(tmp_path / "output" / "crawl.db")) as database:
        (shared_examples,) = database.execute("SELECT count(*) FROM shared_example WHERE kind = 'example'").fetchone()
    assert shared_examples == 10
    assert len(ended.items()) == 15
    assert "On topic: " in ended.closing()


def test_a_wrong_topic_file_is_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for source in ("words = [", 'word = ["bees"]'):
        arguments = {"seeds": "demo", "topic": with_topic(tmp_path, source)}
        assert "topic='topic.toml'" in refusal_of_crawl(capsys, arguments, {})
    assert [path.name for path in tmp_path.iterdir()] == ["topic.toml"]


def pages_about(text: str, words: str, count: int, site: int = 0) -> Site:
    """A front page that links to so many pages with this text, each of which links to the next."""
    names = [f"{'abcdefghij'[number // 10]}{'klmnopqrst'[number % 10]}" for number in range(count)]
    own_words = {name: " ".join(f"{name}{letter}{site}" for letter in ascii_lowercase) for name in names}
    routes = {
        f"/{name}": page(f"{text} {own_words[name]}.", links={f"/{after}": words}) for name, after in pairwise(names)
    }
    routes[f"/{names[-1]}"] = page(f"{text} {own_words[names[-1]]}.")
    return Site({"/": page("Contents.", links={f"/{name}": words for name in names}), **routes})


def in_step(leader: Site, followers: list[Site]) -> None:
    """Make each follower answer its n-th page only after the leader was asked for n pages: on a busy machine a crawl
    would otherwise know many pages of one site and none of another.
    """
    turns = [threading.Semaphore(0) for _ in followers]

    def lead(asked: Asked, body: str) -> Answer:
        for turn in turns:
            turn.release()
        if len(leader.asked) > len(leader.routes) - 10:
            time.sleep(0.15)  # so that the crawl lasts until it counts the links that wait: it does so once a second
        return Answer(body)

    def follow(asked: Asked, body: str, turn: threading.Semaphore) -> Answer:
        assert turn.acquire(timeout=60)
        return Answer(body)

    leader.routes = {path: partial(lead, body=body) for path, body in leader.routes.items()}
    for site, turn in zip(followers, turns, strict=True):
        site.routes = {path: partial(follow, body=body, turn=turn) for path, body in site.routes.items()}


@pytest.mark.parametrize("min_chance", ["", "0"])
def test_a_host_that_brings_nothing_waits(tmp_path: Path, min_chance: str) -> None:
    bees = pages_about(BEES, "honey bees", 30)
    cars = [pages_about(CARS, "cars", 30, number) for number in (1, 2)]
    in_step(bees, cars)
    with ExitStack() as servers:
        for number, site in enumerate((bees, *cars), 2):
            servers.enter_context(serving(site, f"127.0.0.{number}"))
        seeds = " ".join(site.url for site in (bees, *cars))
        arguments = {"seeds": seeds, "topic": "honey bees", "images": "no", "min_chance": min_chance}
        ended = crawl(tmp_path, arguments, TWO_HOSTS | {"LOGSTATS_INTERVAL": "0.1"})
        requests = [len(site.paths(without="/robots.txt")) for site in cars]
        again = crawl(tmp_path, arguments, TWO_HOSTS) if not min_chance else ended
    assert len(bees.paths(without="/robots.txt")) == 31
    waiting = sum(len(site.routes) for site in cars) - sum(requests)
    counted = re.findall(r"(\d+) queued, (\d+) of them unlikely, ", ended.err)
    assert bool(counted) is not bool(min_chance)
    assert all(0 < int(unlikely) <= int(queued) for queued, unlikely in counted)
    if min_chance:
        assert waiting == 0
        assert "min_chance" not in ended.closing()
    else:
        assert max(requests) <= 20
        assert re.search(f"^{waiting:,} .* unlikely", ended.closing(), re.MULTILINE)
        assert "min_chance=0" in again.err
        assert [len(site.paths(without="/robots.txt")) for site in cars] == requests
