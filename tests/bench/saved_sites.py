"""How many requests a crawl needs for the articles of sites that were saved whole.

`python tests/bench/saved_sites.py [SITE ...]` serves the sites of ../shared/data/sites on loopback, crawls each from
its front page, and counts requests, stored pages and missed articles. An article is a saved page without noindex that
links lead to from the front page, and whose path is not that of a list or an index. Requests for pages that were not
saved are counted separately: on the real site they had an answer.

`--lists` counts instead how many pages of ../shared/data/extraction and of these sites are taken for lists.
"""

import argparse
import json
import lzma
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

from sites import OPEN, Answer, Crawl, Site, crawl, serving
from webs import SHARED

from crawler.extraction.auto import auto
from crawler.metadata.page_purpose import is_listing
from crawler.page.page import Page

SETTINGS = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1", "STATS_DUMP": "False"}
TIMEOUT = 900.0


class Saved(NamedTuple):
    """A site in ../shared/data/sites."""

    host: str
    topic: str
    lists: str
    """The paths of pages that list others."""


SITES = {
    "wuchong_zh_blog": Saved(
        "wuchong.me", "Flink,流计算,分布式", r"/$|/(?:page|tags|categories|archives)/|/(?:404\.html|search/)"
    ),
    "flink_web": Saved(
        "flink.apache.org", "stream processing,Flink", r"/$|(?:/zh)?/(?:posts|tags|categories|q|en)?/|/404\.html"
    ),
}


KINDS = {
    "wcxb_dev": "",
    "andy_articles": "article",
    "canola": "any",
    "dragnet": "article",
    "fundus": "article",
    "harvest_forums": "forum",
    "known_markup": "any",
    "magic_article": "article",
    "magic_forum": "forum",
    "zh_handcrafted": "any",
}
"""Sets of pages, and what they have where a page does not say it."""


class Unlisted(Site):
    """A site whose further paths are spelt as its links have them."""

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer:
        return super().answer(unquote(path), headers)


def pages_of(name: str) -> dict[str, str]:
    """The pages of a saved site by their paths, links to itself without its host."""
    host = re.escape(SITES[name].host)
    to_itself = re.compile(rf"(?<=[\"'=])(?:https?:)?//{host}(?=[/\"'])")
    with lzma.open(SHARED / f"data/sites/{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        saved = [json.loads(line) for line in lines]
    return {unquote(urlsplit(row["url"]).path): to_itself.sub("", row["html"]) for row in saved}


def reachable(pages: Mapping[str, str]) -> set[str]:
    """The paths to which links lead from the front page."""
    met, waiting = {"/"}, ["/"]
    while waiting:
        path = waiting.pop()
        page = Page.from_html(pages[path], f"http://127.0.0.1{quote(path)}")
        paths = {unquote(urlsplit(link.url).path) for link in page.links if urlsplit(link.url).netloc == "127.0.0.1"}
        new = {path for path in paths if path in pages} - met
        met |= new
        waiting += new
    return met


def report(name: str, pages: Mapping[str, str], requested_paths: list[str], crawled: Crawl) -> Iterator[str]:
    """What a crawl did, in lines."""
    lists = re.compile(SITES[name].lists)
    reached = reachable(pages)
    articles = {
        path for path in reached if not lists.match(path) and "noindex" not in Page.from_html(pages[path]).robots
    }
    items = crawled.items()
    kept = {unquote(urlsplit(item["url"]).path) for item in items if not item["duplicate_of"]}
    copies = {unquote(urlsplit(item["url"]).path) for item in items} - kept
    sent = [path for path in requested_paths if path in pages]
    missed = sorted(articles - kept - copies)
    yield f"{name}: {len(pages)} pages saved, {len(reached)} reachable, {len(articles)} of them articles"
    yield f"  {len(sent)} requests for saved pages, {len(requested_paths) - len(sent)} for others"
    yield f"  {len(kept)} pages kept, {len(copies)} copies"
    yield f"  requests for saved pages per kept page: {len(sent) / max(1, len(kept)):.2f}"
    yield f"  articles missed: {len(missed)} {missed[:5]}"
    kinds = Counter(lists.match(path) is not None for path in sent)
    yield f"  of the requests, {kinds[False]} for articles, {kinds[True]} for lists (of {len(reached - articles)})"
    yield from ("  | " + line for line in crawled.closing().splitlines()[1:])


def measure(name: str) -> None:
    """Crawl one site, and print the report."""
    pages = pages_of(name)
    with TemporaryDirectory(prefix=f"{name}-") as folder, serving(Unlisted(dict(pages))) as site:
        arguments = {"seeds": site.url, "topic": SITES[name].topic, "images": "no"}
        crawled = crawl(Path(folder), arguments, SETTINGS, timeout=TIMEOUT)
        print("\n".join(report(name, pages, [unquote(path) for path in site.paths()], crawled)), flush=True)


def extraction_sets() -> Iterator[tuple[str, str, str]]:
    """The set, the address and the source of each page in ../shared/data/extraction whose kind is known."""
    for name, kind in KINDS.items():
        with lzma.open(SHARED / f"data/extraction/{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                yield f"{name} {row.get('page_type') or kind}", row.get("url") or "", row["html"]


def print_lists() -> None:
    """How many pages of each kind are taken for lists."""
    of_sites = (
        (f"{name} {'list' if re.match(SITES[name].lists, path) else 'page'}", quote(path), html)
        for name in SITES
        for path, html in pages_of(name).items()
    )
    lists_by_kind: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for kind, url, html in chain(extraction_sets(), of_sites):
        page = Page.from_html(html, urljoin("http://127.0.0.1/", url))
        counts[kind] += 1
        if is_listing(page, auto(page)):
            lists_by_kind.setdefault(kind, []).append(page.url)
    for kind, count in sorted(counts.items()):
        urls = lists_by_kind.get(kind, [])
        print(f"{len(urls):5} of {count:4}  {kind}  {' '.join(urls[:5]) if len(urls) < 10 else ''}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sites", nargs="*", metavar="SITE", help=", ".join(SITES))
    parser.add_argument("--lists", action="store_true", help="count the pages that are taken for lists")
    options = parser.parse_args()
    if options.lists:
        print_lists()
    else:
        for name in options.sites or SITES:
            measure(name)


if __name__ == "__main__":
    main()
