"""How a crawl divides its requests among hosts of which few are on its topic.

`python tests/bench/idle_hosts.py` serves articles of the encyclopaedia of ../shared/data/wiki on ten loopback
addresses. Two hosts have the articles of one category, and eight have those of the largest other categories, at most
300 each. Links only lead to the same host, and a front page names 40 articles. A crawl for the words of the category
starts at all front pages with the usual pauses, and ends at `--pages` or by itself. A line for each host has the number
of its pages, of those that can be reached, and of those that the crawl stored.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

from polite import LINK
from webs import ROOT, built

sys.path.insert(0, str(ROOT / "tests" / "support"))

from internet_server import Asked, Reply, Server, serving

TOPIC, WORDS = "Science.Biology.Birds", "birds"
ON_TOPIC_HOSTS, OTHER_HOSTS = 2, 8
MOST_ARTICLES = 300
NAMED_ARTICLES = 40


class Encyclopaedias:
    """Hosts with the articles of one subject each."""

    def __init__(self, site: Path, topic: str) -> None:
        categories: Mapping[str, list[str]] = json.loads((site / "truth.json").read_text(encoding="utf-8"))[
            "categories"
        ]
        subjects: dict[str, list[str]] = {}
        for path, names in sorted(categories.items()):
            is_on_topic = any(f"{name}.".startswith(f"{topic}.") for name in names)
            first_name = names[0].partition(".")[0] if names else ""
            subjects.setdefault(topic if is_on_topic else first_name, []).append(path)
        on_topic = subjects.pop(topic)
        others = sorted(subjects, key=lambda name: -len(subjects[name]))[:OTHER_HOSTS]
        articles = [on_topic[number::ON_TOPIC_HOSTS] for number in range(ON_TOPIC_HOSTS)]
        articles += [subjects[name][:MOST_ARTICLES] for name in others]
        self.subjects = [topic] * ON_TOPIC_HOSTS + others
        self.hosts = [f"127.0.8.{number}" for number in range(1, len(articles) + 1)]
        self.articles = dict(zip(self.hosts, map(set, articles), strict=True))
        self.files = {path: (site / path.lstrip("/")).read_bytes() for paths in articles for path in paths}
        self.server = Server(self.answer)

    def answer(self, request: Asked) -> Reply:
        """The front page of a host, or one of its articles."""
        path = unquote(request.path)
        if path == "/":
            named = sorted(self.articles[request.host])[:NAMED_ARTICLES]
            entries = "".join(f"<li><a href='{name}'>{Path(name).stem.replace('_', ' ')}</a></li>" for name in named)
            return Reply(f"<title>Encyclopaedia</title><h1>Contents</h1><ul>{entries}</ul>".encode())
        if path not in self.articles[request.host]:
            return Reply(b"Nothing is here.", 404)
        return Reply(LINK.sub(lambda link: self._own_link(request.host, link[1].decode()), self.files[path]))

    def _own_link(self, host: str, link: str) -> bytes:
        return f'href="{link if unquote(link) in self.articles[host] else "#"}"'.encode()

    def reachable(self, host: str) -> int:
        """How many articles of a host can be reached from its front page."""
        articles = self.articles[host]
        seen: set[str] = set()
        queue = sorted(articles)[:NAMED_ARTICLES]
        while queue:
            path = queue.pop()
            if path in seen:
                continue
            seen.add(path)
            links = (unquote(link.decode()) for link in LINK.findall(self.files[path]))
            queue += [link for link in links if link in articles]
        return len(seen)


def stored_pages(web: Encyclopaedias, words: str, most: int, seconds: int) -> Counter[str]:
    """How many pages of each host a crawl stored."""
    seeds = ",".join(f"http://{host}:{web.server.port}/" for host in web.hosts)
    line = [sys.executable, "-m", "scrapy", "crawl", "topic", "-a", "images=no", "-a", f"seeds={seeds}"]
    line += ["-a", f"topic={words}", "-a", f"max_pages={most}", "-s", "ALLOWED_PRIVATE_HOSTS=127.0.0.0/8"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    with TemporaryDirectory(prefix="idle-hosts-") as folder:
        subprocess.run(line, cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL, timeout=seconds)
        lines = (Path(folder) / "output" / "topic.jsonl").read_text(encoding="utf-8").splitlines()
    return Counter(urlsplit(json.loads(item)["url"]).hostname or "" for item in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--site", type=Path, help="the encyclopaedia as wikiweb.py built it; else it is built anew")
    parser.add_argument("--category", default=TOPIC, help=f"the topic ({TOPIC})")
    parser.add_argument("--words", default=WORDS, help=f"its words ({WORDS})")
    parser.add_argument("--pages", type=int, default=240, help="max_pages (240)")
    parser.add_argument("--seconds", type=int, default=600, help="the longest that the crawl takes (600)")
    options = parser.parse_args()
    with built(options.site) as site:
        web = Encyclopaedias(site, options.category)
        with serving(web.server, web.hosts):
            stored = stored_pages(web, options.words, options.pages, options.seconds)
    for host, subject in zip(web.hosts, web.subjects, strict=True):
        print(f"{host} {subject:24} {len(web.articles[host]):4} {web.reachable(host):4} {stored[host]:4}")
    print(f"stored: {stored.total()}, on the topic: {sum(stored[host] for host in web.hosts[:ON_TOPIC_HOSTS])}")


if __name__ == "__main__":
    main()
