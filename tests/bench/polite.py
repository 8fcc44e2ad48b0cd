"""How many of the requests that the pauses of hosts permit a polite crawl makes, and how much of a topic it finds.

`python tests/bench/polite.py` distributes the encyclopaedia of ../shared/data/wiki over the loopback addresses from
127.0.0.1 on, at random or with `--clustered` by category. It crawls them from three pages of a topic with the usual
settings, alternately without `max_pages` until `--seconds` are over, and with it. A line has

- pages, seconds, pages/s: how many pages were requested in how much time;
- used: the requests, including robots.txt, as a share of those that the pauses permit from the first request to each
  host on;
- gap, least: the mean and the least number of seconds between two requests to a host;
- recall: the share of the topic's pages that were requested;
- idle: the share of the time in which the processors of the machine were idle.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from webs import ROOT, built

sys.path.insert(0, str(ROOT / "tests" / "support"))

from internet_server import Asked, Reply, Server, serving

TOPICS = "Science.Biology.Birds Music".split()
LINK = re.compile(rb'href="(/[^"]*)"')
GRACE_SECONDS = 60


class Wiki:
    """The articles of a built site, each on one of many hosts."""

    def __init__(self, site: Path, hosts: int, clustered: bool) -> None:
        truth = json.loads((site / "truth.json").read_text(encoding="utf-8"))
        self.categories: Mapping[str, list[str]] = truth["categories"]
        self.hosts, self.clustered = [f"127.0.0.{n}" for n in range(1, hosts + 1)], clustered
        self.files = {path: (site / path.lstrip("/")).read_bytes() for path in self.categories}
        self.server = Server(self.answer)

    def host(self, path: str) -> str:
        by = self.categories[path][0] if self.clustered and self.categories[path] else path
        return self.hosts[int.from_bytes(hashlib.sha1(by.encode()).digest()[:4]) % len(self.hosts)]

    def url(self, path: str) -> str:
        return f"http://{self.host(path)}:{self.server.port}{path}"

    def answer(self, request: Asked) -> Reply:
        path = unquote(request.path)
        if path not in self.files or self.host(path) != request.host:
            return Reply(b"Nothing is here.", 404)
        return Reply(LINK.sub(self._absolute, self.files[path]))

    def _absolute(self, link: re.Match[bytes]) -> bytes:
        path = unquote(link[1].decode())
        return f'href="{self.url(path)}"'.encode() if path in self.files else b'href="#"'

    def about(self, topic: str) -> list[str]:
        return sorted(p for p, names in self.categories.items() if any(f"{n}.".startswith(f"{topic}.") for n in names))


def crawl(wiki: Wiki, seeds: list[str], arguments: argparse.Namespace, max_pages: int | None) -> float:
    """Crawl from these pages; returns the share of the time in which the processors were idle."""
    line = [sys.executable, "-m", "scrapy", "crawl", "topic", "-a", "images=no", "-a", "scope=any"]
    line += ["-a", f"seeds={','.join(map(wiki.url, seeds))}", "-s", f"CLOSESPIDER_TIMEOUT={arguments.seconds}"]
    line += ["-s", "ALLOWED_PRIVATE_HOSTS=127.0.0.0/8", "-s", f"DOWNLOAD_DELAY={arguments.pause}"]
    line += ["-s", f"AUTOTHROTTLE_START_DELAY={arguments.pause}", "-s", "LOG_LEVEL=WARNING"]
    line += [] if max_pages is None else ["-a", f"max_pages={max_pages}"]
    for text in arguments.settings:
        line += ["-s", text]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    wiki.server.log.clear()
    before = _idle_and_all()
    with TemporaryDirectory(prefix="polite-") as folder:
        ended = subprocess.run(
            line, cwd=folder, env=environment, capture_output=True, text=True, timeout=arguments.seconds + GRACE_SECONDS
        )
    if ended.returncode:
        sys.exit(f"A crawl ended with {ended.returncode}:\n{ended.stderr[-2000:]}")
    idle, total = (now - then for now, then in zip(_idle_and_all(), before, strict=True))
    return idle / total


def _idle_and_all() -> tuple[int, int]:
    times = list(map(int, Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]))
    return times[3] + times[4], sum(times)


def line(wiki: Wiki, topic: str, pause: float) -> dict[str, float]:
    """The figures of a crawl, from the log of the hosts."""
    log, hosts = wiki.server.log, defaultdict[str, list[float]](list)
    for request in log:
        hosts[request.host].append(request.steady)
    end = log[-1].steady
    permitted = sum((end - times[0]) / pause + 1 for times in hosts.values())
    gaps = [later - earlier for times in hosts.values() for earlier, later in pairwise(times)]
    pages = {path for request in log if (path := unquote(request.path)) in wiki.files}
    on_topic = wiki.about(topic)
    return {
        "pages": len(pages),
        "seconds": end - log[0].steady,
        "pages/s": len(pages) / (end - log[0].steady),
        "used": len(log) / permitted,
        "gap": mean(gaps),
        "least": min(gaps),
        "recall": len(pages.intersection(on_topic)) / len(on_topic),
    }


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--site", type=Path, help="the encyclopaedia as wikiweb.py built it; else it is built anew")
    parser.add_argument("--hosts", type=int, default=60, help="how many (60)")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two requests to a host (1)")
    parser.add_argument("--seconds", type=int, default=60, help="the longest a crawl takes (60)")
    parser.add_argument("--pages", type=int, default=900, help="max_pages (900)")
    parser.add_argument("--topics", nargs="+", default=TOPICS, metavar="CATEGORY", help="categories (two)")
    parser.add_argument("--draws", type=int, default=1, help="so many times other seeds (1)")
    parser.add_argument("--only", choices=("with", "without"), help="crawls with max_pages, or without")
    parser.add_argument("--clustered", action="store_true", help="pages of a category are on one host")
    parser.add_argument("--settings", nargs="+", default=[], metavar="NAME=VALUE", help="of the crawls")
    return parser.parse_args()


def main() -> None:
    arguments = options()
    with built(arguments.site) as site:
        wiki = Wiki(site, arguments.hosts, arguments.clustered)
        with serving(wiki.server, wiki.hosts):
            for topic in arguments.topics:
                for draw in range(arguments.draws):
                    seeds = Random(f"{topic} {draw}").sample(wiki.about(topic), 3)
                    for way, most in {"without": None, "with": arguments.pages}.items():
                        if arguments.only in (None, way):
                            idle = crawl(wiki, seeds, arguments, most)
                            cells = line(wiki, topic, arguments.pause) | {"idle": idle}
                            figures = "  ".join(f"{name} {value:.3f}" for name, value in cells.items())
                            print(f"{topic:24} {draw} {way:8} {figures}", flush=True)


if __name__ == "__main__":
    main()
