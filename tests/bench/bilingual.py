"""Whether a topic also finds pages in the other language, and loses none if it is given in both languages.

`python tests/bench/bilingual.py` drives Focus, without a crawl, over webs with Chinese and English pages: the demo
site; the site of Apache Flink as ../shared/data/sites has it, whose pages name each other by `hreflang`; and, with
`--guide`, the manual of Debian's installer, whose pages have the same names in all languages and no links between the
languages: the folder usr/share/doc/installation-guide-amd64 of the package of this name. Each topic is told in English,
in Chinese, and in both. Of the relevance of each article it prints for each language

- AUC: how often, of a page on the topic and one off it, both in this language, the first has the higher relevance:
  when it was fetched, and at the end of the crawl;
- .3 and .5: how many pages on the topic had so much when they were fetched, and after the slash how many off it.

`--plain` leaves out languages and translations, as if all pages were in one language.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import json
import lzma
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

from chinese import demo_pages, web_of
from driven import Driver
from sites import Answer
from webs import BASE, SHARED, Read, Web, address

from crawler.demo.article import articles
from crawler.topic.link_scores import FocusOptions

FLINK, FLINK_ORIGIN = "flink_web.jsonl.xz", "https://flink.apache.org"
LEAST_TEXT = 300
"""Characters of a page of Flink that counts: many are redirects, or headings over links."""
GUIDE = {"en": "en", "zh": "zh_CN"}
"""The folders of the manual, by the names that they have in addresses."""
BOUNDS = 0.3, 0.5
LANGUAGES = "en", "zh"


class Subject(NamedTuple):
    """A topic in both languages, and which pages are about it."""

    english: str
    chinese: str
    on_topic: frozenset[str]


class Site(NamedTuple):
    """A web in two languages: the pages that count, and the topics."""

    name: str
    web: Web
    counted: frozenset[str]
    subjects: tuple[Subject, ...]


def demo() -> Site:
    """The demo site."""
    web = web_of(demo_pages())
    topics = {address(path): article.topic for article in articles() for path in article.paths}

    def about(topic: str) -> frozenset[str]:
        return frozenset(url for url, of in topics.items() if of == topic)

    subjects = (
        Subject("honey bees", "蜜蜂", about("bees")),
        Subject("steam railways", "蒸汽 铁路", about("rail")),
    )
    return Site("demo", web, frozenset(topics), subjects)


def flink() -> Site:
    """The site of Apache Flink."""
    pages = {}
    with lzma.open(SHARED / "data" / "sites" / FLINK, "rt", encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            pages[urlsplit(page["url"]).path or "/"] = Answer(page["html"].replace(FLINK_ORIGIN, ""))
    web = web_of(pages)
    counted = frozenset(url for url, page in web.pages.items() if len(page.text) >= LEAST_TEXT)

    def below(path: str) -> frozenset[str]:
        return frozenset(url for url in counted if url.startswith((f"{BASE}{path}", f"{BASE}/zh{path}")))

    contributing = Subject(
        "contributing code, reviews, pull requests, style", "贡献 代码 审核 样式", below("/how-to-contribute/")
    )
    return Site("flink", web, counted, (contributing,))


def guide(folder: Path) -> Site:
    """The manual of Debian's installer, of which each part has the same name in all languages."""
    pages = {"/": Answer("".join(f'<a href="/{language}/index.html">{name}</a>' for language, name in GUIDE.items()))}
    for language, name in GUIDE.items():
        for file in sorted((folder / name).glob("*.html")):
            pages[f"/{language}/{file.name}"] = Answer(file.read_bytes())
    web = web_of(pages)
    counted = frozenset(url for url, page in web.pages.items() if len(page.text) >= LEAST_TEXT)

    def named(beginning: str) -> frozenset[str]:
        return frozenset(url for url in counted if url.rpartition("/")[2].startswith(beginning))

    subjects = (
        Subject("partitions, partitioning of disks", "分区 磁盘 分区表", named("apc")),
        Subject("preseeding, automating the installation", "预置 自动 安装", named("apb")),
        Subject("hardware, graphics and network cards", "硬件 显卡 网卡", named("ch02")),
    )
    return Site("guide", web, counted, subjects)


class Judged(NamedTuple):
    """The relevance of a page when it was fetched, and at the end."""

    url: str
    language: str
    at_first: float
    at_last: float


def judged(site: Site, topic: str, is_plain: bool) -> list[Judged]:
    """The pages that count, in the order in which Focus has them fetched."""
    driver = Driver([f"{BASE}/"], FocusOptions(), topic)
    at_first = {}
    for url in driver.waiting:
        page = site.web.pages[url]
        at_first[url] = driver.take(url, page._replace(language="") if is_plain else page)
    pages = {url: site.web.pages[url] for url in at_first if url in site.counted}
    return [
        Judged(url, page.language, at_first[url], at_last(driver, url, page, is_plain)) for url, page in pages.items()
    ]


def at_last(driver: Driver, url: str, page: Read, is_plain: bool) -> float:
    """The relevance of a page by what is known now."""
    return driver.focus.relevance(page.title, page.text, url, "" if is_plain else page.language)


def auc(good: Sequence[float], bad: Sequence[float]) -> float:
    """How often a value of the first is higher than one of the second."""
    won = sum((g > b) + (g == b) / 2 for g in good for b in bad)
    return won / (len(good) * len(bad)) if good and bad else 1.0


def row(pages: Sequence[Judged], on_topic: Collection[str]) -> str:
    """The figures of one language."""
    good, bad = ([page for page in pages if (page.url in on_topic) is which] for which in (True, False))
    at_first = auc([page.at_first for page in good], [page.at_first for page in bad])
    finally_ = auc([page.at_last for page in good], [page.at_last for page in bad])
    counts = [[sum(page.at_first >= bound for page in some) for some in (good, bad)] for bound in BOUNDS]
    cells = "".join(f"{f'{of_good}/{of_bad}':>8}" for of_good, of_bad in counts)
    return f"{len(good):5}{len(bad):5}{at_first:7.2f}{finally_:6.2f}{cells}"


def table(sites: Sequence[Site], is_plain: bool) -> Iterator[str]:
    """The figures of both languages, for each site, topic and language in which it is told."""
    heads = (f"{f'{name}: on':>7}{'off':>5}{'AUC':>5}{'end':>6}{'.3':>8}{'.5':>8}" for name in LANGUAGES)
    yield f"{'':36}{'told in':8}{''.join(heads)}"
    for site in sites:
        for subject in site.subjects:
            both = f"{subject.english} {subject.chinese}"
            for languages, topic in (("en", subject.english), ("zh", subject.chinese), ("both", both)):
                pages = judged(site, topic, is_plain)
                rows = (row([page for page in pages if page.language == of], subject.on_topic) for of in LANGUAGES)
                yield f"{site.name + ': ' + subject.english:36.35}{languages:8}{''.join(rows)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--plain", action="store_true", help="all pages as if they were in one language")
    parser.add_argument("--guide", type=Path, help="the folder of Debian's manual, with en/ and zh_CN/")
    options = parser.parse_args()
    sites = [demo(), flink(), *([guide(options.guide)] if options.guide else [])]
    for line in table(sites, options.plain):
        print(line, flush=True)


if __name__ == "__main__":
    main()
