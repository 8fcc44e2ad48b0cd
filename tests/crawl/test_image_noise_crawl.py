"""Images in whole crawls: adverts are never asked for, content is asked for once, and what was said is kept."""

import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import fork_server
import postgres
import pytest
from command_line import refusal_of_crawl, run_command
from rich.filesize import decimal
from sites import COUNTED, OPEN, Answer, Asked, Crawl, Site, command, crawl, environment, page, serving, serving_all

from crawler.demo.site import png
from crawler.noise.image_evidence import Evidence

PAGES = 12
# Numbers would make words that all images share; these are in one each.
NAMES = "heron otter beaver lynx marten badger weasel stoat raven magpie jackdaw plover".split()
STORY = """<article><h1>The {name}</h1><p>Whoever walks along the river in the early morning may meet the {name},
which is shy, and rarely seen by those who talk while they walk. It was common here until the mills were built.</p>
<figure><a href="/photos/{name}-large.png"><img src="/photos/{name}.png" alt="{name}" width="300" height="200"></a>
<figcaption>A {name} at the weir, in the last days of winter.</figcaption></figure><p>In recent years the {name} has
come back, first to the upper valley, then to the fields below the town, where people are glad of it.</p></article>"""
ADVERT = '<a href="/ads/click?id={n}"><img src="/ads/banner{n}.png" width="468" height="60"></a>'
# By their shares of the pages alone: what the images are called tells nothing here.
ONLY_REDUNDANCY = OPEN | {"IMAGE_NOISE_MODELS": "redundancy"}


def image(name: str, width: int = 300, height: int = 200) -> Answer:
    return Answer(png(name, width, height), content_type="image/png")


def zoo(pages: int = PAGES) -> dict[str, Any]:
    """A site of animals: each page shows one and its large image, the same two banners and a logo."""
    names = NAMES[:pages]
    links = {f"/{name}": f"The {name}" for name in names}
    routes: dict[str, Any] = {"/skin/frame.png": image("frame"), "/robots.txt": ""}
    for name in ["", *names]:
        adverts = "".join(ADVERT.format(n=n) for n in (1, 2))
        text = page(f"This is the {name}.", links=links)
        if name:
            text = text.replace(f"<p>This is the {name}.</p>", STORY.format(name=name))
        routes[f"/{name}"] = text + adverts + '<a href="/"><img src="/skin/frame.png"></a>'
        if name:
            routes[f"/photos/{name}.png"], routes[f"/photos/{name}-large.png"] = image(name), image(f"{name} large")
    for n in (1, 2):
        routes[f"/ads/banner{n}.png"] = image(f"banner {n}", 468, 60)
        routes[f"/ads/click?id={n}"] = page("Buy this.")
    return routes


def photos(names: list[str] = NAMES) -> list[str]:
    return sorted(f"/photos/{name}{size}.png" for name in names for size in ("", "-large"))


def rows(ended: Crawl | Path, query: str) -> list[Any]:
    folder = ended if isinstance(ended, Path) else ended.folder
    with closing(sqlite3.connect(folder / "output" / "crawl.db")) as database:
        return database.execute(query).fetchall()


def verdicts(ended: Crawl | Path) -> list[Any]:
    """What was said, without where and when the site was served."""
    columns = "kind, replace(url, rtrim(url, replace(url, '/', '')), ''), noise, probability, reasons, decided_by"
    return rows(ended, f"SELECT {columns} FROM verdict ORDER BY kind, url, target, key")


def without(site: Site, *starts: str) -> list[str]:
    return sorted(path for path in site.paths(without="/robots.txt") if path.startswith(starts))


def stats(ended: Crawl) -> dict[str, int]:
    """The counts under image_noise/."""
    lines = [line.strip(" {},") for line in ended.err.splitlines() if "'image_noise/" in line]
    return {name.strip(" '").removeprefix("image_noise/"): int(n) for name, n in (line.split(":") for line in lines)}


# What is asked for.


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, Crawl]:
    with serving(Site(zoo())) as site:
        ended = crawl(tmp_path_factory.mktemp("zoo"), {"seeds": site.url}, OPEN | {"STATS_DUMP": "True"})
    assert ended.status == 0
    return site, ended


def test_adverts_are_never_asked_for(crawled: tuple[Site, Crawl]) -> None:
    site, _ = crawled
    assert without(site, "/ads", "/skin") == []


def test_content_is_asked_for_once(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    assert without(site, "/photos") == photos()
    listed = ended.items("topic.images")
    assert sorted(one["url"].removeprefix(site.url) for one in listed) == [path[1:] for path in photos()]
    for one in listed:
        assert (ended.folder / one["path"]).stat().st_size == one["size"]


def test_the_closing_lines_say_what_was_skipped(crawled: tuple[Site, Crawl]) -> None:
    _, ended = crawled
    assert re.search("^Images: 24 .*topic.images.jsonl; 3 ", ended.closing(), re.MULTILINE)
    assert re.search("^2 links .* noise", ended.closing(), re.MULTILINE)


def test_the_counts_add_up(crawled: tuple[Site, Crawl]) -> None:
    _, ended = crawled
    counts = stats(ended)
    by_model = sum(n for name, n in counts.items() if name.startswith("skipped/"))
    assert (counts["kept"], counts["skipped"], counts["links"], by_model) == (24, 5, 2, 5)


def test_every_verdict_is_kept_with_its_reasons(crawled: tuple[Site, Crawl]) -> None:
    _, ended = crawled
    query = "SELECT noise, count(*), count(bytes), min(length(reasons)) > 2 FROM verdict GROUP BY noise"
    assert rows(ended, query) == [(0, 24, 24, 1), (1, 5, 0, 1)]
    assert not rows(ended, "SELECT 1 FROM verdict WHERE decided_at < '2026' OR site_id NOT IN (SELECT id FROM site)")


def test_the_commands_tell_of_it(crawled: tuple[Site, Crawl]) -> None:
    _, ended = crawled
    report = scrapy(ended.folder, "noise", "report", "topic")
    assert report.returncode == 0
    assert re.search("^topic: 27 .* 3 ", report.stdout, re.MULTILINE)
    sizes = [one["size"] for one in ended.items("topic.images")]
    saved = decimal(round(3 * sum(sizes) / 24))
    assert re.search(f": 5. .* {re.escape(saved)}, ", report.stdout)
    assert f": 24 images, {decimal(sum(sizes))}, " in report.stdout
    assert report.stdout.splitlines()[-1].split(maxsplit=4)[1:] == ["24", "0", "5", saved]
    assert re.search(f"; 3 .* {re.escape(saved)} ", ended.closing())
    assert "5 skipped as noise" in scrapy(ended.folder, "state", "topic").stdout


def test_a_report_of_nothing_is_refused(
    crawled: tuple[Site, Crawl], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawled[1].folder)
    rows = [
        ([], "no subcommand given"),
        (["x"], "there is no winnow noise 'x'; allowed are winnow noise judge, "),
        (["report", "x"], "there is no crawl 'x'; there are topic"),
        (["report", "a", "b"], "unrecognized arguments: b"),
        (["report", "--x"], "unrecognized arguments: --x"),
    ]
    for words, sentence in rows:
        status, out, err = run_command(capsys, "noise", *words)
        assert (status, out, err.count("\n")) == (2, "", 1), words
        assert sentence in err


def scrapy(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return fork_server.run(["scrapy", *words], folder, environment(), 60)


# When they are asked for.


@pytest.mark.parametrize(
    ("arguments", "min_pages", "pages"),
    [
        ({}, 5, 5),
        ({}, 99, 9),  # the crawl has run dry
        ({"max_pages": 6}, 99, 6),
    ],
)
def test_images_wait_for_their_site(tmp_path: Path, arguments: Mapping[str, Any], min_pages: int, pages: int) -> None:
    with serving(Site(zoo(8))) as site:
        settings = ONLY_REDUNDANCY | {"IMAGE_NOISE_MIN_PAGES": min_pages}
        ended = crawl(tmp_path, {"seeds": site.url, **arguments}, settings)
    order = site.paths(without="/robots.txt")
    first = next(at for at, path in enumerate(order) if path.startswith("/photos"))
    assert first >= pages
    shown = [item["url"].rpartition("/")[2] for item in ended.items() if not item["url"].endswith("/")]
    assert without(site, "/photos") == photos(shown)
    assert without(site, "/ads/banner", "/skin") == []


def test_links_behind_images_are_no_pages_that_are_left(tmp_path: Path) -> None:
    """The closing lines, the state and a second start tell the same."""
    with serving(Site(zoo())) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "images": "no", "max_pages": PAGES + 1}, OPEN)
        again = crawl(tmp_path, {"seeds": site.url, "images": "no", "max_pages": PAGES + 1}, OPEN)
    told = "2 links behind images were not judged yet"
    assert "still queued" not in ended.closing()
    assert told in ended.closing()
    state = scrapy(tmp_path, "state", "topic").stdout
    assert re.match(r"topic: finished on [-\d]+ [:\d]+ UTC\n", state)
    assert told in state
    assert re.search("max_pages .* images, -a refresh=all", again.err)


def test_without_a_judge_all_images_are_asked_for(tmp_path: Path) -> None:
    with serving(Site(zoo(3))) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN | {"IMAGE_NOISE_ENABLED": "False"})
    asked = ["/ads/banner1.png", "/ads/banner2.png", "/ads/click?id=1", "/ads/click?id=2", "/skin/frame.png"]
    assert without(site, "/ads", "/skin") == asked
    assert rows(ended, "SELECT count(*) FROM verdict UNION ALL SELECT count(*) FROM evidence") == [(0,), (0,)]


def test_without_images_links_behind_them_are_judged(tmp_path: Path) -> None:
    with serving(Site(zoo())) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "images": "no"})
    assert without(site, "/ads", "/skin", "/photos") == []
    assert [row[0] for row in verdicts(ended)] == ["link", "link"]
    assert "Images" not in ended.closing()
    assert "Bytes saved" not in scrapy(tmp_path, "noise", "report").stdout
    assert "2 links not followed" in ended.closing()


@pytest.mark.long
def test_robots_txt_of_a_host_of_adverts_is_not_asked_for(tmp_path: Path) -> None:
    with serving(Site({})) as adverts, serving(Site(zoo())) as site:
        for path, body in site.routes.items():
            if isinstance(body, str):
                site.routes[path] = body.replace("/ads/banner", f"{adverts.url}ads/banner")
        crawl(tmp_path, {"seeds": site.url})
    assert adverts.asked == []


def test_images_of_other_hosts_are_asked_for_if_there_can_be_such_a_host(tmp_path: Path) -> None:
    impossible = f'<img src="http://a..b/heron.png"><img src="http://{"a" * 64}.example/otter.png">'
    with serving(Site({"/robots.txt": "User-agent: *\nDisallow: /secret"})) as cdn, serving(Site({})) as site:
        images = f'<img src="{cdn.url}heron.png"><img src="{cdn.url}secret/otter.png">'
        site.routes["/"] = page("Hello.") + images + impossible
        cdn.routes["/heron.png"] = image("heron")
        ended = crawl(tmp_path, {"seeds": site.url}, ONLY_REDUNDANCY)
    assert cdn.paths() == ["/robots.txt", "/heron.png"]
    assert "refused by robots.txt (1)" in ended.closing()
    (item,) = ended.items()
    assert [image["url"] for image in item["images"]] == [f"{cdn.url}heron.png", f"{cdn.url}secret/otter.png"]
    assert (ended.status, "Traceback" in ended.err) == (0, False)


@pytest.mark.long
def test_what_is_skipped_costs_no_pause(tmp_path: Path) -> None:
    """With half a second between two requests, five skipped ones would take two and a half."""
    slow = OPEN | {"DOWNLOAD_DELAY": "0.5", "RANDOMIZE_DOWNLOAD_DELAY": "False", "CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
    body = page("Hello.") + "".join(f'<img src="/ads/banner{n}.png">' for n in range(40)) + '<img src="/heron.png">'
    with serving(Site({"/": body, "/heron.png": image("heron")})) as site:
        started = time.monotonic()
        crawl(tmp_path, {"seeds": site.url}, slow | {"IMAGE_NOISE_MODELS": "keyword"})
        assert time.monotonic() - started < 15
    asked = [one.at for one in site.asked]
    assert [one.path for one in site.asked][1:] == ["/", "/heron.png"]
    assert asked[-1] - asked[-2] > 0.4


@pytest.mark.long
@pytest.mark.parametrize("max_pages", [{}, {"max_pages": PAGES + 1}])
def test_images_that_wait_are_left_to_a_run_that_wants_them(tmp_path: Path, max_pages: dict[str, Any]) -> None:
    routes = {path: slowed({path: body}, 0.2)[path] if "/photos" in path else body for path, body in zoo().items()}
    with serving(Site(routes)) as site:
        arguments = {"seeds": site.url, **max_pages}
        # Until all pages are stored no image is asked for, or a run without images would fetch the rest of them.
        settings = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "2", "IMAGE_NOISE_MIN_PAGES": PAGES + 1}
        with running(tmp_path, site.url, settings):
            until(lambda: len(without(site, "/photos")) >= 3)
        asked = without(site, "/photos")
        assert asked
        bare = crawl(tmp_path, arguments | {"images": "no"}, OPEN)
        assert (bare.status, without(site, "/photos")) == (0, asked)
        ended = crawl(tmp_path, arguments | {"images": "yes"}, OPEN)
        again = crawl(tmp_path, arguments | {"images": "no"}, OPEN)
    assert (ended.status, again.status) == (0, 0)
    assert sorted({one["url"].removeprefix(site.url[:-1]) for one in ended.items("topic.images")}) == photos()
    assert "is finished" in again.err


# Pages behind images.

TEASER = '<a href="/story"><img src="/ads/teaser.png"></a>'
FURTHER = "<p>Hello there, this is a page.</p>"


def teasing(body: str) -> Site:
    """A site whose first page may lead to a story."""
    return Site({"/": FURTHER + body, "/next": FURTHER + '<a href="/story">The story</a>', "/story": page("Once.")})


def test_a_page_behind_an_image(tmp_path: Path) -> None:
    rows = [
        (teasing(TEASER), False),  # words of adverts
        (teasing(TEASER + '<a href="/story">The story</a>'), True),
        (teasing(TEASER + '<a href="/next">Next</a>'), True),  # the next page has words for it
        (teasing(TEASER.replace("/ads/teaser", "/photos/heron")), True),
    ]
    with serving_all(site for site, _ in rows) as seeds:
        crawl(tmp_path, {"seeds": seeds, "images": "no"})
    for site, is_followed in rows:
        assert ("/story" in site.paths()) is is_followed, site.routes["/"]


def test_a_thumbnail_that_is_noise_by_the_spread_of_its_words_leads_to_a_story_of_its_site(tmp_path: Path) -> None:
    with serving(teasing(TEASER)) as site:
        crawl(tmp_path, {"seeds": site.url, "images": "no"}, OPEN | {"IMAGE_NOISE_MODELS": "entropy:0"})
    assert "/story" in site.paths()


# What a crash costs: nothing.


@contextmanager
def running(folder: Path, url: str, settings: Mapping[str, Any]) -> Iterator[fork_server.Forked]:
    process = fork_server.common()(command({"seeds": url}, settings), folder, folder / "log")
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def until(reached: Callable[[], bool]) -> None:
    """Return when something is so, or will not be any more."""
    last = time.monotonic() + fork_server.PATIENCE
    while not reached() and time.monotonic() < last:
        time.sleep(0.02)


def slowed(routes: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The routes, each answered a little later."""

    def late(route: Any) -> Any:
        def answer(asked: Asked) -> Answer:
            time.sleep(seconds)
            return Answer(route) if isinstance(route, str) else route

        return answer

    return {path: late(route) for path, route in routes.items()}


def evidence(records: list[str]) -> Evidence:
    found = Evidence()
    for record in records:
        found.add(Evidence.of(record))
    return found


def evidence_in(ended: Crawl | Path) -> Evidence:
    return evidence([row for (row,) in rows(ended, "SELECT counts FROM evidence")])


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_crawl_that_was_killed_judges_as_one_that_was_not(tmp_path: Path) -> None:
    settings = OPEN | {"IMAGE_NOISE_MIN_PAGES": 99, "CONCURRENT_REQUESTS_PER_DOMAIN": "2"}
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    with serving(Site(slowed(zoo(), 0.1))) as site:
        whole = crawl(tmp_path / "whole", {"seeds": site.url}, settings)
        assert whole.status == 0
        site.asked.clear()
        for many in (5, 14, 22):  # among the pages, and twice among the images
            with running(tmp_path / "killed", site.url, settings):
                until(lambda many=many: len(site.asked) >= many)
                assert len(site.asked) >= many
        killed = crawl(tmp_path / "killed", {"seeds": site.url}, settings)
    assert killed.status == 0
    one, other = evidence_in(whole), evidence_in(killed)
    assert (one.pages, one.links, one.pages_by_address, one.word_counts) == (
        other.pages,
        other.links,
        other.pages_by_address,
        other.word_counts,
    )
    assert one.pages == PAGES + 1
    assert verdicts(whole) == verdicts(killed)
    assert sorted(one["url"] for one in killed.items("topic.images")) == sorted(
        one["url"] for one in whole.items("topic.images")
    )


def test_where_an_image_moved_it_is_still_known_how_it_is_shown(tmp_path: Path) -> None:
    routes = {
        "/": page("Hello.") + '<img src="/heron.png">',
        "/heron.png": Answer("", 302, headers={"Location": "/moved.png"}),
    }
    routes |= slowed({"/moved.png": image("heron")}, 3)
    with serving(Site(routes)) as site, running(tmp_path, site.url, ONLY_REDUNDANCY):
        until(lambda: "/moved.png" in site.paths())
    query = "SELECT sight IS NOT NULL, shown_on IS NOT NULL FROM address WHERE url LIKE '%/moved.png'"
    assert rows(tmp_path, query) == [(True, True)]


@pytest.mark.long
def test_what_two_workers_counted_adds_up(tmp_path: Path, postgres_server: postgres.Server) -> None:
    database = postgres_server.database()
    settings = OPEN | {"STATE_URL": database, "IMAGE_NOISE_MIN_PAGES": 99, "CONCURRENT_REQUESTS_PER_DOMAIN": "4"}
    folders = [tmp_path / name for name in ("one", "two", "alone")]
    for folder in folders:
        folder.mkdir()
    with serving(Site(slowed(zoo(), 0.1))) as site:
        with running(folders[0], site.url, settings) as one:
            until(lambda: len(site.asked) >= 2)
            with running(folders[1], site.url, settings) as two:
                assert [one.wait(60), two.wait(60)] == [0, 0]
        assert without(site, "/photos") == photos()
        assert without(site, "/ads", "/skin") == []
        alone = crawl(folders[2], {"seeds": site.url}, OPEN | {"IMAGE_NOISE_MIN_PAGES": 99})
    with postgres.connect(database) as connection:
        counts = [row for (row,) in connection.execute("SELECT counts FROM evidence").fetchall()]
        said = connection.execute("SELECT noise, count(*) FROM verdict GROUP BY noise ORDER BY noise").fetchall()
    together, expected = evidence(counts), evidence_in(alone)
    assert (together.pages, together.links, together.pages_by_address) == (
        expected.pages,
        expected.links,
        expected.pages_by_address,
    )
    assert together.word_counts == expected.word_counts
    assert said == [(False, 24), (True, 5)]


# The audit.


@pytest.mark.parametrize(("share", "fetched"), [pytest.param(0, 0, marks=pytest.mark.long), (1, 30)])
def test_a_share_of_the_noise_is_fetched_all_the_same(tmp_path: Path, share: float, fetched: int) -> None:
    sizes = {n: (300, 200) if n < 10 else (468, 60) for n in range(30)}
    body = page("Hello.") + "".join(f'<img src="/ads/{n}.png">' for n in sizes)
    routes = {"/": body} | {f"/ads/{n}.png": image(str(n), *size) for n, size in sizes.items()}
    settings = OPEN | {"IMAGE_NOISE_AUDIT": share, "IMAGE_NOISE_MODELS": "keyword"}
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, settings)
    assert len(without(site, "/ads")) == fetched
    query = "SELECT noise, audited, bytes_are_measured, mistaken, count(*) FROM verdict GROUP BY mistaken"
    assert rows(ended, query) == ([(1, 1, 1, 0, 20), (1, 1, 1, 1, 10)] if share else [(1, 0, 0, None, 30)])
    said = scrapy(tmp_path, "noise", "report").stdout
    assert ("Error rate: 10 of 30 images (33.3%)" in said) is bool(share)
    by_site = said.splitlines()[-1].split(maxsplit=4)[1:]
    assert by_site == (["0", "30", "0", "0 bytes"] if share else ["0", "0", "30", "unknown"])
    skipped = "" if share else "; 30 skipped as noise, bytes saved unknown, as no image was downloaded"
    assert f"Images: none kept{skipped}.\n" in ended.closing()


@pytest.mark.long
def test_what_was_chosen_is_not_always_fetched(tmp_path: Path) -> None:
    """One image and one page are refused by robots.txt, one of each is missing, one of each is found elsewhere."""
    banners = "".join(f'<img src="/ads/{n}.png">' for n in ("good", "moved", "missing", "refused"))
    links = "".join(f'<a href="/ads/{n}"><img src="/ads/banner.png"></a>' for n in ("a", "b", "c", "d"))
    routes: dict[str, Any] = {"/": page("Hello.") + banners + links, "/ads/good.png": image("good")}
    routes |= {"/robots.txt": "User-agent: *\nDisallow: /ads/refused\nDisallow: /ads/d", "/ads/a": page("Buy this.")}
    routes |= {"/ads/moved.png": Answer(status=302, headers={"Location": "/new.png"}), "/new.png": image("new")}
    routes |= {"/ads/b": Answer(status=302, headers={"Location": "/b"}), "/b": page("Buy that.")}
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN | {"IMAGE_NOISE_AUDIT": 1, "IMAGE_NOISE_MODELS": "keyword"})
    size = decimal(sum(one["size"] for one in ended.items("topic.images")))
    said = scrapy(tmp_path, "noise", "report").stdout
    assert re.search("^Audit: 9 ", said, re.MULTILINE)
    assert re.search(f": 2 images .{re.escape(size)}, .*, 2 pages", said)
    assert re.search("9 skipped .* audit, 2 images ", ended.closing())


@pytest.mark.long
def test_what_is_saved_is_told_by_what_is_kept(tmp_path: Path) -> None:
    """The noise that is fetched all the same is larger, and changes nothing."""
    names = [f"/ads/{n}.png" for n in range(40)]
    body = page("Hello.") + "".join(f'<img src="{name}">' for name in ["/heron.png", *names])
    large = {name: Answer(png(name, 9, 9) + bytes(9_000), content_type="image/png") for name in names}
    routes = {"/": body, "/heron.png": image("heron"), **large}
    with serving(Site(routes)) as site:
        settings = OPEN | {"IMAGE_NOISE_AUDIT": 0.5, "IMAGE_NOISE_MODELS": "keyword"}
        ended = crawl(tmp_path, {"seeds": site.url}, settings)
    fetched = len(without(site, "/ads"))
    saved = f"about {decimal((40 - fetched) * len(routes['/heron.png'].body))}"
    assert 0 < fetched < 40
    assert re.search(f"^Images: 1 .*; {40 - fetched} .* {re.escape(saved)} ", ended.closing(), re.MULTILINE)
    said = scrapy(tmp_path, "noise", "report").stdout
    assert f"Bytes saved: {saved}, by" in said
    assert "Downloaded: 1 image, " in said
    assert said.splitlines()[-1].split()[1:4] == ["1", str(fetched), str(40 - fetched)]


# What is kept of what was downloaded.

PNG = png("a", 9, 9)


def test_what_is_no_image_is_not_kept(tmp_path: Path) -> None:
    """It is what its bytes say, whatever its address and its server do."""
    rows = [
        (PNG, ""),
        (PNG[:40], ""),
        (PNG[:39], "image_too_small"),
        (PNG + b" ", "body_too_large"),
        (b"<html><img src=x></html>", "not_an_image/html"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not_an_image/svg"),
        (b"", "not_an_image/empty"),
    ]
    bodies = {f"/..%2Fheron{number}.html": Answer(body) for number, (body, _) in enumerate(rows)}
    first = page("Hello.") + "".join(f'<img src="{name}">' for name in bodies)
    with serving(Site({"/": first, **bodies})) as site:
        settings = COUNTED | {"IMAGE_NOISE_ENABLED": "False", "IMAGE_MAX_BYTES": len(PNG)}
        ended = crawl(tmp_path, {"seeds": site.url}, settings)
    assert ended.outcomes() == {why: 1 for _, why in rows if why}
    files = [path for path in (tmp_path / "output" / "images").rglob("*") if path.is_file()]
    assert {path.read_bytes() for path in files} == {body for body, why in rows if not why}
    assert all(path.suffix == ".png" and path.parent.parent.name == "images" for path in files)


# Settings.


WRONG_SETTINGS = [
    (
        "IMAGE_NOISE_MODELS",
        "magic",
        "'magic' is not known; allowed are learned, size, keyword, redundancy, entropy",
    ),
    ("IMAGE_NOISE_MODELS", ",", "is wrong"),
    ("IMAGE_NOISE_MIN_PAGES", "-1", "a whole number from 0 to 100,000,000"),
    ("IMAGE_NOISE_MIN_PAGES", "99999999999999999999", "a whole number from 0 to 100,000,000"),
    ("IMAGE_NOISE_MODELS", "learned:1.1", "the limit of 'learned' must be a number from 0 to 1, not '1.1'"),
    ("IMAGE_NOISE_MODELS", "keyword:x", "the limit of 'keyword' must be a number, not 'x'"),
    ("IMAGE_NOISE_MODELS", "size,redundancy:", "the limit of 'redundancy' must be a number from 0 to 1, not ''"),
    ("IMAGE_NOISE_MODELS", "entropy:-0.1", "the limit of 'entropy' must be a number from 0 to 1, not '-0.1'"),
    ("IMAGE_NOISE_MODELS", "size:1", "'size' has no limit"),
    ("IMAGE_NOISE_AUDIT", "2", "a number from 0 to 1"),
    ("IMAGE_NOISE_ENABLED", "maybe", "True or False"),
    ("IMAGE_NOISE_WEIGHTS", "wrong.txt", "'wrong.txt' holds no weights of images"),
    ("IMAGE_NOISE_LISTS", "missing.txt", "setting IMAGE_NOISE_LISTS is wrong"),
    ("FOCUS_VECTORS", "missing.txt", "setting FOCUS_VECTORS is wrong"),
    ("FOCUS_VECTORS", ".", "'.' has no model.safetensors"),
    ("IMAGE_MAX_BYTES", "0", "a whole number from 1 to 1,000,000,000,000"),
]


def test_wrong_settings_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.txt").write_text("banner -1\n")
    for setting, value, sentence in WRONG_SETTINGS:
        refusal = refusal_of_crawl(capsys, {"seeds": "http://127.0.0.1:1/"}, {setting: value})
        assert f"setting {setting}" in refusal
        assert sentence in refusal
    assert not Path("output").exists()


@pytest.mark.long
def test_of_a_page_so_many_images_are_looked_at(tmp_path: Path) -> None:
    shown = "".join(f'<img src="/{n}.png">' for n in range(502))
    with serving(Site({"/": page("Hello.") + shown, "/499.png": image("a"), "/500.png": image("b")})) as site:
        ended = crawl(
            tmp_path,
            {"seeds": site.url},
            COUNTED | ONLY_REDUNDANCY | {"CONCURRENT_REQUESTS_PER_DOMAIN": "32", "IMAGE_PAGE_LIMIT": "1000"},
        )
    assert "/499.png" in site.paths()
    assert "/500.png" not in site.paths()
    assert ended.outcomes()["images_cut"] == 2


SHOTS = "".join(f"<td><img src='/shots/{{name}}-{step}.png' alt='The window of the {{name}}'></td>" for step in "abc")
NOTE = """<div class="note"><table summary="Note"><tr><td rowspan="2" align="center" valign="top" width="25">
<img alt="[Note]" src="/images/note.png"></td><th align="left">Note</th></tr><tr><td align="left" valign="top">
<p>The {name} may be elsewhere in the menu of older versions.</p></td></tr></table></div>"""


def manual() -> dict[str, Any]:
    """A manual: each page has three figures in a row of a table, and every third a note with its sign."""
    routes: dict[str, Any] = {"/": page("This is the manual.", links={f"/{name}": f"The {name}" for name in NAMES})}
    routes |= {"/robots.txt": "", "/images/note.png": image("note", 24, 24)}
    for at, name in enumerate(NAMES):
        table = f"<table><tr>{SHOTS}</tr></table>" + NOTE * (at % 3 == 0)
        routes[f"/{name}"] = page("").replace("<p></p>", (STORY.partition("<figure>")[0] + table).format(name=name))
        routes |= {f"/shots/{name}-{step}.png": image(f"{name} {step}", 640, 480) for step in "abc"}
    return routes


def test_figures_in_a_row_are_fetched_and_signs_in_the_text_are_not(tmp_path: Path) -> None:
    with serving(Site(manual())) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "name": "manual"}, OPEN)
        figures = sorted(f"/shots/{name}-{step}.png" for name in NAMES for step in "abc")
        assert without(site, "/shots/", "/images/") == figures
        items = {item["url"].removeprefix(site.url): item["images"] for item in ended.items("manual")}
    for name in NAMES:
        listed = {one["url"].removeprefix(site.url): one["noise"] for one in items[name]}
        assert {f"shots/{name}-{step}.png" for step in "abc"} <= set(listed)
        assert all(0 < noise < 1 for noise in listed.values())
