"""What whole crawls keep for those who look at them: samples, the tempo of hosts, certainty, images."""

import json
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sites import OPEN, Answer, Crawl, Site, command, crawl, environment, page, serving

from crawler.demo.site import png
from crawler.noise.image_evidence import Sighting

TEXT = "Honey bees dance in the dark of the hive, and others follow them to where the flowers are in number {}."
COLUMNS = "pages read on_topic requests failed bytes images image_bytes skipped".split()


def bees(pages: int = 12) -> dict[str, Any]:
    """A site with images, adverts, a redirect, a page that is not there, and an answer that breaks off."""
    links = {f"/{n}": f"page {n}" for n in range(pages)} | {"/gone": "gone", "/moved": "moved", "/cut": "cut"}
    advert = '<a href="http://ads.example/x"><img src="/ads/banner.png" width="468" height="60"></a>'
    routes: dict[str, Any] = {"/": page("All about bees.", links=links) + advert, "/robots.txt": ""}
    for n in range(pages):
        routes[f"/{n}"] = page(*[TEXT.format(n * 10 + k) for k in range(4)], links=links) + advert
        routes[f"/{n}"] += f'<img src="/photos/{n}.png" alt="bees {n}" width="300" height="200">'
        routes[f"/photos/{n}.png"] = Answer(png(str(n), 300, 200), content_type="image/png")
    routes["/moved"] = Answer("", 301, headers={"Location": "/new"})
    routes["/new"] = page("Bees have moved.")
    routes["/cut"] = Answer(b"", headers={"Content-Length": "99999", "Connection": "close"})
    routes["/ads/banner.png"] = Answer(png("banner", 468, 60), content_type="image/png")
    return routes


def rows(folder: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(folder / "output" / "crawl.db")) as database:
        return database.execute(query).fetchall()


def sums(folder: Path) -> tuple[dict[str, int], Counter[str]]:
    """All samples added up, and the answers by status."""
    (row,) = rows(folder, f"SELECT {', '.join(f'sum({name})' for name in COLUMNS)} FROM sample")
    statuses = Counter[str]()
    for (one,) in rows(folder, "SELECT statuses FROM sample"):
        statuses.update(json.loads(one))
    return dict(zip(COLUMNS, row, strict=True)), statuses


def stats(ended: Crawl) -> dict[str, int]:
    return {name: int(n) for name, n in re.findall(r"^[ {]'(.+?)': (\d+)[,}]", ended.err, re.MULTILINE)}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    settings = OPEN | {"STATS_DUMP": "True", "IMAGE_NOISE_MODELS": "redundancy", "RETRY_TIMES": "1"}
    with serving(Site(bees())) as site:
        ended = crawl(tmp_path_factory.mktemp("bees"), {"seeds": site.url, "topic": "honey bees"}, settings)
    assert ended.status == 0
    return ended


def test_samples_add_up_to_what_the_crawl_counted(crawled: Crawl) -> None:
    found, statuses = sums(crawled.folder)
    counts = stats(crawled)
    assert found == {
        "pages": len(crawled.items()),
        "read": counts["focus/pages"],
        "on_topic": counts["focus/on_topic"],
        "requests": counts["downloader/request_count"],
        "failed": sum(n for name, n in counts.items() if name.startswith("failed/")),
        "bytes": counts["downloader/response_bytes"],
        "images": counts["images"],
        "image_bytes": counts["images/bytes"],
        "skipped": counts["image_noise/skipped"] - counts.get("image_noise/links", 0),
    }
    assert min(found.values()) > 0
    prefix = "downloader/response_status_count/"
    answered = {name.removeprefix(prefix): n for name, n in counts.items() if name.startswith(prefix)}
    assert statuses == Counter(answered | {"none": 2})  # asked for twice
    assert statuses.total() == found["requests"]


def test_the_last_sample_says_what_is_left(crawled: Crawl) -> None:
    samples = rows(crawled.folder, "SELECT at, seconds, number, waiting FROM sample ORDER BY at")
    assert samples[-1][3] == 0
    assert {number for _, _, number, _ in samples} == {1}
    ends = samples[-1][0] + samples[-1][1]
    assert 0 <= time.time() - ends < 600
    began = samples[0][0]
    assert sum(seconds for _, seconds, _, _ in samples) == pytest.approx(ends - began, abs=1.0)


def test_hosts_are_known_by_how_soon_they_answer(crawled: Crawl) -> None:
    ((latency, delay),) = rows(crawled.folder, "SELECT latency, delay FROM host WHERE name LIKE '127.0.0.1%'")
    assert 0 < latency < 5
    assert delay == 0


def test_pages_are_known_by_how_sure_the_method_is(crawled: Crawl) -> None:
    found = rows(crawled.folder, "SELECT url, certainty FROM page WHERE text <> ''")
    assert len(found) >= 12
    assert all(0 < certainty <= 1 for _, certainty in found)
    assert "certainty" not in crawled.items()[0]


def test_a_method_that_is_never_sure_says_nothing(tmp_path: Path) -> None:
    with serving(Site({"/": page(TEXT)})) as site:
        crawl(tmp_path, {"seeds": site.url, "extractor": "max-text"})
    assert rows(tmp_path, "SELECT certainty FROM page") == [(None,)]


@pytest.mark.long
def test_a_delay_is_told_as_it_is(tmp_path: Path) -> None:
    routes = {"/": page("Bees.", links={"/1": "one", "/2": "two"}), "/1": page("One."), "/2": page("Two.")}
    routes["/robots.txt"] = "User-agent: *\nCrawl-delay: 0.7"
    with serving(Site(routes)) as site:
        crawl(tmp_path, {"seeds": site.url})
    assert rows(tmp_path, "SELECT delay FROM host") == [(pytest.approx(0.7),)]


def test_verdicts_hold_how_it_is_shown_and_where_it_lies(crawled: Crawl) -> None:
    found = rows(crawled.folder, "SELECT kind, url, page, noise, sight, file, bytes FROM verdict")
    assert {noise for _, _, _, noise, *_ in found} == {0, 1}
    for kind, url, shown, noise, sight, file, size in found:
        sighting = Sighting.of(sight)
        assert (sighting.url, sighting.page) == (url, shown)
        assert sighting.features
        if noise or kind == "link":
            assert file is None
        else:
            assert (crawled.folder / "output" / "images" / file).stat().st_size == size


@pytest.mark.long
def test_a_killed_crawl_loses_the_last_seconds_only(tmp_path: Path) -> None:
    slow = {"DOWNLOAD_DELAY": "0.05", "CONCURRENT_REQUESTS_PER_DOMAIN": "1", "RANDOMIZE_DOWNLOAD_DELAY": "False"}
    with serving(Site(bees(200))) as site:
        line = command({"seeds": site.url, "images": "no"}, OPEN | slow)
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(line, cwd=tmp_path, env=environment(), **quiet) as process:
            until = time.monotonic() + 60
            while time.monotonic() < until and len(site.asked) < 60:
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
        asked = len(site.asked)
        found, _ = sums(tmp_path)
        assert asked - 60 < found["requests"] <= asked
        killed = rows(tmp_path, "SELECT count(*), max(at + seconds) FROM sample")
        assert killed[0][0] >= 1
        ended = crawl(tmp_path, {"seeds": site.url, "images": "no", "max_pages": 60}, OPEN | {"STATS_DUMP": "True"})
    again, _ = sums(tmp_path)
    assert again["requests"] == found["requests"] + stats(ended)["downloader/request_count"]
