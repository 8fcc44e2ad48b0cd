"""Crawls of Chinese sites for a word, and how early they find the pages that contain it."""

import json
import lzma
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from crawls import Pages, items
from orders import breadth_first
from sites import Answer, serving
from webs import BASE, Web, address, read, recall, within

from crawler.demo.site import resources

BLOG, HOST = "wuchong_zh_blog.jsonl.xz", "wuchong.me"
BLOG_TOPICS = ("算法", "数据库", "并发", "窗口")
DEMO_TOPIC = "蜜蜂"
SHARE = 0.25
OFTEN = 3


class Crawled(NamedTuple):
    """A site, and what crawls of it for a topic stored, by the name of the order."""

    name: str
    topic: str
    web: Web
    stored: Mapping[str, Sequence[Mapping[str, Any]]]


def demo_pages() -> dict[str, Answer]:
    """The pages of the demo site."""
    demo_resources = resources(f"{BASE}/")
    return {
        path: Answer(resource.body, content_type=resource.content_type)
        for path, resource in demo_resources.items()
        if resource.status == 200 and resource.content_type.startswith("text/html")
    }


def blog_pages(file: Path) -> dict[str, Answer]:
    """The pages of a saved site; its links to itself name no host any more, so that they lead to wherever it is."""
    pages = {}
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            html = page["html"]
            for origin in (f"http://{HOST}", f"https://{HOST}", f"//{HOST}"):
                html = html.replace(origin, "")
            pages[urlsplit(page["url"]).path or "/"] = Answer(html)
    return pages


def routes_of(pages: Mapping[str, Answer]) -> dict[str, Answer]:
    """The pages by their addresses, and where folders are when they are asked for without the slash at their end."""
    folders = {
        path.rstrip("/"): Answer(status=301, headers={"Location": quote(path)}) for path in pages if path.endswith("/")
    }
    return {address(path): page for path, page in (folders | dict(pages)).items() if path}


def web_of(pages: Mapping[str, Answer]) -> Web:
    """The same pages with the links between them."""
    web_pages = {address(path): read(address(path), _body(page), page.content_type) for path, page in pages.items()}
    for url, page in web_pages.items():
        links = [link if link.url in web_pages else link._replace(url=f"{link.url}/") for link in page.links]
        web_pages[url] = page._replace(links=links)
    return Web(within(web_pages), {})


def _body(page: Answer) -> bytes:
    return page.body.encode() if isinstance(page.body, str) else bytes(page.body)  # type: ignore[arg-type]


def crawls(shared: Path, orders: Mapping[str, Mapping[str, str]]) -> Iterator[Crawled]:
    """The demo site, and a blog if its pages are there."""
    web = web_of(demo_pages())
    stored = {name: items({"seeds": "demo", "topic": DEMO_TOPIC}, settings) for name, settings in orders.items()}
    yield Crawled("the demo site", DEMO_TOPIC, web, stored)
    file = shared / "data" / "sites" / BLOG
    if not file.exists():
        print(f"The Chinese blog is not there: {file} is looked for beside the project.", file=sys.stderr)
        return
    pages = blog_pages(file)
    web = web_of(pages)
    for topic in BLOG_TOPICS:
        stored = {}
        for name, settings in orders.items():
            with serving(Pages(routes_of(pages))) as site:
                stored[name] = items({"seeds": site.url, "topic": topic}, settings)
        yield Crawled(HOST, topic, web, stored)


def row(crawled: Crawled, least: int) -> Iterator[str]:
    """How much of what holds the topic's word so often is met in the first quarter, in each order."""
    texts = {address(item["url"]): f"{item['title']}\n{item['text']}" for item in next(iter(crawled.stored.values()))}
    with_topic = {url for url, text in texts.items() if text.count(crawled.topic) >= least}
    first = int(SHARE * len(texts))
    yield f"{len(texts):6}{len(with_topic):8}{min(first / len(with_topic), 1):10.2f}"
    yield f"{recall(breadth_first(crawled.web, [f'{BASE}/']), texts, with_topic, first):14.2f}"
    for stored in crawled.stored.values():
        yield f"{recall([address(item['url']) for item in stored], texts, with_topic, first):14.2f}"


def table(shared: Path, orders: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The share of the pages with the topic's word that the first quarter of a crawl holds."""
    head = "".join(f"{name:>14}" for name in ("breadth-first", *orders))
    yield f"{'':16}{'topic':6}{'times':>6}{'pages':>6}{'with it':>8}{'at best':>10}{head}"
    for crawled in crawls(shared, orders):
        for least in (1, OFTEN):
            yield f"{crawled.name:16}{crawled.topic:6}{least:4}{''.join(row(crawled, least))}"
        links = sum(len(page.links) for page in crawled.web.pages.values())
        yield f"{'':16}{len(crawled.web.pages)} pages with {links} links between them"
