"""Crawls of applications: pages whose text only their scripts make."""

import os
import re
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import browser
import fork_server
import missing
import pytest
from applications import APPLICATIONS, data, script, shell
from command_line import run_command
from process_tree import descendants, left_after
from sites import (
    COUNTED,
    STUB,
    Answer,
    Asked,
    Crawl,
    Site,
    command,
    crawl,
    page,
    serving,
    serving_all,
    stubbed,
)

from crawler.contrib.browser.foreign_requests import MOST_HOSTS
from crawler.contrib.browser.page_load import MOST_REQUESTS

SETTINGS: Mapping[str, Any] = COUNTED | {"LOG_LEVEL": "INFO"}
TEXT = "The keeper of this hive wrote down each morning what the bees brought home, and how heavy the combs had become."


@pytest.fixture(autouse=True)
def _has_browser() -> None:
    missing.skip(browser.missing())


def crawled(folder: Path, *sites: Site, settings: Mapping[str, Any] = SETTINGS, **arguments: str) -> Crawl:
    seeds = ",".join(site.url for site in sites)
    ended = crawl(folder, {"seeds": seeds, "images": "no", "listings": "yes"} | arguments, settings)
    assert ended.status == 0, ended.err
    assert "Traceback" not in ended.err
    assert "never retrieved" not in ended.err
    return ended


WALL = "<h1>Before we continue</h1><p>Press and hold the button until it is filled.</p><div id=px-captcha></div>"
NOTES = 20


def walled_site() -> Site:
    """A page in whose place a script puts a wall."""
    return Site(
        {
            "/": page(TEXT, links={"/walled": "walled"}),
            "/walled": shell(body="<div id='root'></div><script src='/wall.js'></script>"),
            "/wall.js": script(f"document.getElementById('root').innerHTML = '{WALL}'"),
        }
    )


def note_site() -> Site:
    """Pages to whose text scripts add nothing; each has a script of its own."""
    words = TEXT.rstrip(".").split()
    pages = {
        f"/note/{number}": page(
            " ".join(Random(number).choices(words, k=60)).capitalize() + ".",
            head=f"<script src='/menu.js?{number}'></script>",
        )
        for number in range(NOTES)
    }
    scripts = {f"/menu.js?{number}": script("let a = 1") for number in range(NOTES)}
    return Site({"/": page(TEXT, links={path: path for path in pages})} | scripts | pages)


@dataclass(frozen=True)
class Rendered:
    """One crawl of all applications, of a site with a wall, and of one that needs no browser."""

    applications: Mapping[str, Site]
    walled: Site
    notes: Site
    ended: Crawl


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    applications = {name: Site(made.routes) for name, made in APPLICATIONS.items()}
    walled, notes = walled_site(), note_site()
    sites = [*applications.values(), walled, notes]
    with serving_all(sites):
        return Rendered(applications, walled, notes, crawled(tmp_path_factory.mktemp("rendered"), *sites))


def test_the_text_of_applications_is_what_a_reader_sees(rendered: Rendered) -> None:
    items = {item["url"]: item for item in rendered.ended.items()}
    for name, application in APPLICATIONS.items():
        site = rendered.applications[name]
        for path, gold in application.gold.items():
            assert items[site.url[:-1] + path]["text"] == gold, name
        assert len(site.paths()) == len(set(site.paths())), name  # nothing is asked for twice
    assert not any(item["made_from"] == "rendered" for url, item in items.items() if "/read/" in url)
    count = sum(item["made_from"] == "rendered" for item in items.values())
    walls = 1  # has another text as well, and is no item
    counts = rendered.ended.statistics()
    assert count + walls == counts["render/gained"] >= 10
    assert f"Rendered in a browser: {counts['render/pages']} of " in rendered.ended.closing()


def test_without_a_browser_the_text_is_missing(tmp_path: Path) -> None:
    sites = {name: Site(application.routes) for name, application in APPLICATIONS.items()}
    with serving_all(sites.values()):
        ended = crawled(tmp_path, *sites.values(), render="never")
    texts = {item["url"]: item["text"] for item in ended.items()}
    for name, application in APPLICATIONS.items():
        for path, gold in application.gold.items():
            assert texts.get(sites[name].url[:-1] + path) != gold, name
    assert "Rendered in a browser" not in ended.closing()


def test_a_wall_that_a_script_puts_in_place_of_a_page_is_not_kept(rendered: Rendered) -> None:
    assert rendered.ended.paths_of(rendered.walled) == ["/"]
    assert "/wall.js" in rendered.walled.paths()
    assert rendered.ended.statistics().get("failed/walled/PerimeterX", 0) == 1


def test_a_site_where_rendering_brings_nothing_is_rendered_a_few_times(rendered: Rendered) -> None:
    assert len(rendered.ended.paths_of(rendered.notes)) == NOTES + 1
    renderings = [path for path in rendered.notes.paths() if path.startswith("/menu.js")]
    assert 3 <= len(renderings) <= 9  # one in a hundred of the others is audited
    items = [item for item in rendered.ended.items() if item["url"].startswith(rendered.notes.url)]
    assert not any(item["made_from"] == "rendered" for item in items)


PLACEHOLDERS = ("/one", "/two")


def placeholder_site() -> Site:
    """An application whose server sends one line for each page, beside a page that has its text."""
    frame = shell(body="<div id='root'>Please wait...</div><script src='/text.js'></script>")
    script_of_text = f"document.getElementById('root').innerHTML = `<h1>${{location.pathname}}</h1><p>{TEXT}</p>`"
    first = page(TEXT, links={path: path for path in PLACEHOLDERS})
    return Site({"/": first, "/text.js": script(script_of_text)} | dict.fromkeys(PLACEHOLDERS, frame))


def without_browser(folder: Path) -> dict[str, str]:
    """The environment of a machine on which no browser is installed."""
    empty = folder / "empty"
    empty.mkdir()
    return {"PLAYWRIGHT_BROWSERS_PATH": str(empty), "PATH": str(empty)}


def test_a_placeholder_is_no_item_and_the_next_crawl_with_a_browser_brings_the_page(tmp_path: Path) -> None:
    site = placeholder_site()
    arguments = {"images": "no", "listings": "yes"}
    with serving(site):
        arguments["seeds"] = site.url
        bare = crawl(tmp_path, arguments, SETTINGS, env=without_browser(tmp_path))
        assert [item["url"] for item in bare.items()] == [site.url]
        counts = bare.statistics()
        assert counts["skipped/no_text"] == counts["render/missed"] == len(PLACEHOLDERS)
        assert "winnow-crawler[browser]" in bare.closing()

        ended = crawl(tmp_path, arguments | {"refresh": "all"}, SETTINGS)
        rendered = {item["url"] for item in ended.items() if item["made_from"] == "rendered"}
        assert rendered == {f"{site.url[:-1]}{path}" for path in PLACEHOLDERS}
        assert ended.statistics().get("recrawl/new", 0) == len(PLACEHOLDERS)
        assert "winnow-crawler[browser]" not in ended.closing()

        again = crawl(tmp_path, arguments | {"refresh": "all", "render": "never"}, SETTINGS)
        assert len(again.items()) == len(ended.items())  # a frame says nothing about a page that is known
        assert again.statistics().get("recrawl/changed", 0) == 0
        assert again.statistics().get("render/missed", 0) == len(PLACEHOLDERS)
        assert "winnow-crawler[browser]" not in again.closing()


MAKES_TEXT = "<div id='root'></div><script src='/text.js'></script>{more}"
ROBOTS = "User-agent: *\nDisallow: /forbidden\n"


def application(routes: Mapping[str, Any], more: str = "", **paths: str) -> Site:
    """A site of pages whose text a script makes; each has its own further script."""
    scripts = {"/text.js": script(f"document.getElementById('root').innerHTML = '<p>{TEXT}</p>'")}
    pages = {
        f"/{name}": shell(body=MAKES_TEXT.format(more=f"<script>{source}</script>")) for name, source in paths.items()
    }
    links = {path: path for path in pages}
    first = {"/": page(TEXT, links=links), "/robots.txt": Answer(ROBOTS, content_type="text/plain")}
    return Site(first | scripts | pages | dict(routes))


def test_scripts_reach_only_what_the_crawler_may_request(tmp_path: Path) -> None:
    other = Site({"/": data(1)})
    site = application({})
    with serving(other, "127.0.0.2"), serving(site):
        moved = Answer(status=302, headers={"Location": other.url})
        address = other.url.removeprefix("http://")
        site.routes |= application(
            {
                "/moved": moved,
                "/blocked.js": script("document.body.append('blocked')"),
                "/forbidden/a.js": script("document.body.append('forbidden')"),
                "/moved.js": moved,
            },
            fetched=f"fetch('{other.url}').catch(() => 0); fetch('/moved')",
            loaded=f"for (const src of ['{other.url}a.js', '/moved.js', '/forbidden/a.js'])"
            " document.body.append(Object.assign(document.createElement('script'), { src }))",
            socket=f"new WebSocket('ws://{address}'); new EventSource('{other.url}')",
            framed=f"document.body.innerHTML += '<iframe src={other.url}></iframe><img src={other.url}a.png>'",
            left=f"location.href = '{other.url}'",
            listed="import('/blocked.js')",
            posted=f"navigator.sendBeacon('{other.url}', 'x'); window.open('{other.url}')",
            peer="new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.2' }] }).createDataChannel('a')",
        ).routes
        (tmp_path / "rules.txt").write_text("/blocked.js$script\n", "ascii")
        settings = SETTINGS | {"IMAGE_NOISE_LISTS": str(tmp_path / "rules.txt")}
        ended = crawled(tmp_path, site, settings=settings, scope="host", render="always")
    assert other.paths() == []
    assert "/moved" in site.paths()
    assert not any("forbidden" in path or "blocked" in path for path in site.paths())
    assert [item["text"] for item in ended.items() if item["made_from"] == "rendered"] == [TEXT] * 8
    assert ended.statistics().get("render/refused", 0) >= 5


def test_each_fault_costs_one_page(tmp_path: Path) -> None:
    site = application(
        {},
        endless="while (true);",
        memory="const kept = []; while (true) kept.push(new Array(1e5).fill(Math.random()))",
        good="document.body.append('x')",
    )
    with serving(site):
        ended = crawled(tmp_path, site, settings=SETTINGS | {"RENDER_SECONDS": "3"})
    assert {"not_rendered/endless": 1, "not_rendered/crashed": 1}.items() <= ended.outcomes().items()
    found = {item["url"].rpartition("/")[2]: item["text"] for item in ended.items()}
    assert found["good"].startswith(TEXT)
    assert ended.statistics().get("skipped/no_text", 0) == len({"endless", "memory"} - found.keys()) == 2


def test_rendered_pages_are_compared_without_validators_and_not_cleaned_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = ["The first combs were full of dark honey, which the keeper sold at the market in the town below."]

    def text(asked: Asked) -> Answer:
        return script(f"document.getElementById('root').innerHTML = '<p>{TEXT}</p><p>{shown[0]}</p>'")

    shell_page = Answer(shell(body=MAKES_TEXT.format(more="")), headers={"ETag": '"never changes"'})
    site = Site({"/": shell_page, "/text.js": text})
    settings = SETTINGS | {"RECRAWL_LEAST": "0.001", "RECRAWL_MOST": "0.001"}
    with serving(site):
        first = crawled(tmp_path, site, settings=settings).items()
        shown[0] = "In the second year the mice came, and the wax moths spoiled what they had left in the old shed."
        second = crawled(tmp_path, site, settings=settings)
    assert [item["made_from"] for item in first] == ["rendered"]
    assert "1 page changed" in second.closing()
    assert shown[0] in second.items()[-1]["text"]
    asked = [asked.headers for asked in site.asked if asked.path == "/"]
    assert len(asked) == 2
    assert not any("If-None-Match" in headers for headers in asked)
    status, _, err = run_command(capsys, "clean", "--stored", "topic", "-s", f"OUTPUT_DIR={tmp_path / 'output'}")
    assert re.search("^Unchanged: 1 page", err, re.MULTILINE)
    assert status == 1  # nothing was left to be cleaned


@pytest.mark.parametrize(
    "victim",
    ["crawler", pytest.param("driver", marks=pytest.mark.long), pytest.param("browser", marks=pytest.mark.long)],
)
def test_no_process_is_left_behind(tmp_path: Path, victim: str) -> None:
    def slow(asked: Asked) -> Answer:
        time.sleep(20)
        return data(1)

    site = application({"/slow": slow}, waiting="fetch('/slow')")
    names = {"driver": "run-driver", "browser": "--remote-debugging-pipe"}
    with serving(site):
        line = command({"seeds": f"{site.url}waiting", "images": "no"}, SETTINGS)
        process = fork_server.common()(line, tmp_path, tmp_path / "log")
        until(lambda: "/slow" in site.paths())
        started = descendants(process.pid)
        lines = {one: Path(f"/proc/{one}/cmdline").read_bytes().decode("utf-8", "replace") for one in started}
        assert all(any(name in said for said in lines.values()) for name in names.values())
        killed = [one for one, said in lines.items() if victim in names and names[victim] in said]
        for one in killed or [process.pid]:
            os.kill(one, 9)
        left = left_after(started)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left == set()


def test_an_interrupt_waits_for_no_page_in_the_browser(tmp_path: Path) -> None:
    """Neither for its scripts nor for what they ask for; the next run begins with it."""
    endless = "setInterval(() => document.body.append('more'), 50);"
    parts = "".join(f"fetch('/part/{number}').catch(() => 0);" for number in range(20))
    site = application({f"/part/{number}": data(1) for number in range(20)}, endless=endless + parts)
    with serving(site):
        arguments = {"seeds": f"{site.url}endless", "images": "no"}
        line = command(arguments | {"render": "always"}, SETTINGS | {"DOWNLOAD_DELAY": "1"})
        process = fork_server.common()(line, tmp_path, tmp_path / "log")
        until(lambda: "/part/0" in site.paths())
        process.send_signal(signal.SIGINT)
        at = time.monotonic()
        process.wait(40)
        assert time.monotonic() - at < 10
        assert "Traceback" not in (tmp_path / "log").read_text("utf-8")
        ended = crawl(tmp_path, arguments | {"render": "never"}, SETTINGS)
    assert site.paths().count("/endless") == 2
    assert ended.statistics().get("skipped/no_text", 0) == 1


def until(holds: Callable[[], bool], seconds: float = 40.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def requested_by_a_page(folder: Path, host: str) -> tuple[list[str], Crawl]:
    """The data that a page of this host loads from the operator's network, and from other.test outside of it."""
    names = {"public.test": ["127.0.0.2"], "other.test": ["127.0.0.2"], "inside.test": ["127.0.0.1"]}
    inside, outside = Site({"/a.json": data(1)}), Site({"/a.json": data(1)})
    with serving(inside), serving(outside, "127.0.0.2"):
        ports = {site: site.url.split(":")[2].rstrip("/") for site in (inside, outside)}
        network = f"http://inside.test:{ports[inside]}"
        urls = [
            f"{network}/a.json?name",
            f"http://127.0.0.1:{ports[inside]}/a.json?number",
            f"http://other.test:{ports[outside]}/a.json?other",
            "/moved",
        ]
        source = "".join(f"fetch('{url}', {{mode: 'no-cors'}}).catch(() => 0);" for url in urls)
        routes = {"/moved": Answer(status=302, headers={"Location": f"{network}/a.json?moved"})}
        for site in (inside, outside):
            site.routes |= application(routes, asking=source).routes
        port = ports[inside] if host == "inside.test" else ports[outside]
        arguments = {
            "seeds": f"{network}/,http://{host}:{port}/asking",  # so there is an open connection to the network
            "images": "no",
            "listings": "yes",
            "max_depth": "0",
            "render": "always",
        }
        environment = stubbed(folder, names) | {"STUB_PUBLIC": "127.0.0.2"}
        ended = crawl(folder, arguments, SETTINGS | STUB | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.1"}, env=environment)
    if host == "public.test":
        assert {request.headers["Host"].partition(":")[0] for request in inside.asked} == {"inside.test"}  # the seed's
    paths = sorted(path.partition("?")[2] for path in [*inside.paths(), *outside.paths()] if "a.json" in path)
    return paths, ended


def test_a_public_page_reaches_no_host_of_the_operators_network(tmp_path: Path) -> None:
    paths, ended = requested_by_a_page(tmp_path, "public.test")
    assert paths == ["other"]
    assert ended.statistics().get("render/refused", 0) == 3
    assert len(ended.items()) == 2


def test_a_page_of_the_operators_network_reaches_it(tmp_path: Path) -> None:
    paths, _ = requested_by_a_page(tmp_path, "inside.test")
    assert paths == ["moved", "name", "number", "other"]


def test_a_page_reaches_few_other_hosts(tmp_path: Path) -> None:
    other = Site({"/a.json": data(1)})
    with serving(other, "0.0.0.0"):
        port = other.url.split(":")[2].rstrip("/")
        source = f"for (let at = 0; at < 100; at++) fetch(`http://127.0.1.${{at}}:{port}/a.json`).catch(() => 0)"
        site = application({}, asking=source)
        with serving(site):
            ended = crawled(tmp_path, site, settings=SETTINGS | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"})
    assert len({asked.headers["Host"] for asked in other.asked}) == MOST_HOSTS
    its_own = 1  # its script
    assert ended.statistics()["render/foreign_cut"] == MOST_REQUESTS - MOST_HOSTS - its_own
