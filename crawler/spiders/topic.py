"""The topic spider: seeds -> page items, and requests for the links worth following."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from logging import DEBUG, INFO
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from crawler import demo
from crawler.arguments import Arguments, parse
from crawler.extraction import EXTRACTORS
from crawler.failures import Refusal, reason
from crawler.items import ImageItem, PageItem
from crawler.page import HTML_TYPES, Page, is_html, media_type
from crawler.scope import Scope
from crawler.seeds import Listing, listing
from crawler.settings import DEMO_SLOT, user_agent
from crawler.state.frontier import Candidate, Frontier
from crawler.topic import Topic
from crawler.urls import host

# A page that sends its reader on within these seconds is a redirect; a slower one is a page that renews itself.
REFRESH_SECONDS = 3
# Answers without a body, or with a part of one.
NO_WHOLE_PAGE = frozenset((204, 205, 206))
SEED_PRIORITY = 10_000
# Links that are only a picture are mostly adverts: they wait until nothing better is left.
PICTURE_PRIORITY = -1_000
IMAGE_PRIORITY = -10_000


class TopicSpider(Spider):
    """Crawls the pages around some seeds, the most promising first."""

    name = "topic"

    def __init__(self, arguments: Arguments) -> None:
        super().__init__()
        self.arguments = arguments
        self.seeds = arguments.seeds
        self.topic = Topic(arguments.topic)
        self.seeds_answered = 0
        self.seeds_failed: dict[str, str] = {}
        self.nofollowed: set[str] = set()
        self.left_out: set[int] = set()
        self.broken = ""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, parse(kwargs))
        if spider.arguments.demo:
            spider.serve_demo(crawler)
        spider.introduce(crawler.settings)
        spider.set_up(crawler.settings)
        crawler.signals.connect(spider.leave_other_types, signals.headers_received)
        return spider

    def serve_demo(self, crawler: Crawler) -> None:
        """Serve the demo site for the length of the crawl, opened for this crawl alone and asked without pauses."""
        served = ExitStack()
        crawler.signals.connect(served.close, signals.spider_closed, weak=False)
        self.seeds = (served.enter_context(demo.serving()),)
        address = host(self.seeds[0])
        opened = [*crawler.settings.getlist("ALLOWED_PRIVATE_HOSTS"), address]
        crawler.settings.set("ALLOWED_PRIVATE_HOSTS", opened, priority="cmdline")
        slots = crawler.settings.getdict("DOWNLOAD_SLOTS") | {address.partition(":")[0]: DEMO_SLOT}
        crawler.settings.set("DOWNLOAD_SLOTS", slots, priority="cmdline")

    def introduce(self, settings: BaseSettings) -> None:
        """Tell sites who asks, and which languages are wanted."""
        settings.set("USER_AGENT", user_agent(settings["CONTACT"]), priority="project")
        if self.arguments.lang:
            headers = settings.getdict("DEFAULT_REQUEST_HEADERS")
            headers["Accept-Language"] = ", ".join(sorted(self.arguments.lang))
            settings.set("DEFAULT_REQUEST_HEADERS", headers, priority="spider")

    def set_up(self, settings: BaseSettings) -> None:
        """Take from the settings what the crawl is built of."""
        slots, at_once = settings.getdict("DOWNLOAD_SLOTS"), settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self.max_size = settings.getint("DOWNLOAD_MAXSIZE")
        self.extract = EXTRACTORS[settings["EXTRACTOR"]]
        self.frontier = Frontier(
            lambda name: slots.get(name.partition(":")[0], {}).get("concurrency", at_once),
            self.arguments.max_pages,
            settings.getint("SITE_PAGE_LIMIT"),
        )
        self.scope = Scope(
            self.arguments.scope,
            self.arguments.allow,
            self.arguments.deny,
            settings.getint("URLLENGTH_LIMIT"),
            settings.getint("PATH_REPEAT_LIMIT"),
        )

    async def start(self) -> AsyncIterator[Request]:
        for seed in self.seeds:
            self.scope.add_home(seed)
        for seed in self.seeds:
            if self.frontier.know(seed):
                yield _request(Candidate(seed, SEED_PRIORITY, kind="seed"))

    def leave_other_types(self, headers: Headers, request: Request) -> None:
        """Stop the download of what is not a web page, unless it may be a seed's list of addresses."""
        candidate: Candidate | None = request.meta.get("candidate")
        declared = media_type(_header(headers, "Content-Type"))
        if candidate is not None and candidate.kind == "link" and declared and declared not in HTML_TYPES:
            raise StopDownload(fail=False)

    def parse(self, response: Response) -> Iterator[PageItem | Request]:
        """The page as an item, unless it asks not to be kept, and requests for its new links."""
        candidate: Candidate = response.meta["candidate"]
        if candidate.kind in ("seed", "list") and (found := listing(response.body, response.url, self.max_size)):
            yield from self.parse_listing(response, candidate, found)
            return
        content_type = _header(response.headers, "Content-Type")
        if response.status in NO_WHOLE_PAGE:
            self.skip(response.meta, f"not a whole page/{response.status}")
            return
        if not is_html(content_type, response.body):
            self.skip(response.meta, f"not HTML/{media_type(content_type) or 'no type given'}")
            return
        page = Page(response.url, response.body, content_type, _header(response.headers, "X-Robots-Tag", "\n"))
        sent_on = self.sent_on(page, candidate)
        if sent_on:
            self.skip(response.meta, "sent on by the page")
            yield from sent_on
        else:
            yield from self.parse_page(response, candidate, page)

    def sent_on(self, page: Page, candidate: Candidate) -> list[Request]:
        """The request for where a page sends its reader at once, none if it stays or sends them where we have been."""
        if page.refresh is None or page.refresh[0] > REFRESH_SECONDS:
            return []
        if candidate.kind == "seed":
            self.scope.add_home(page.refresh[1])
        return list(self.requests([page.refresh[1]], candidate))

    def parse_page(self, response: Response, candidate: Candidate, page: Page) -> Iterator[PageItem | Request]:
        self.answered(candidate)
        if candidate.depth == 0:
            # A list page has no prose, but its lines tell what it is about.
            self.topic.learn(page.once(self.extract).text or " ".join(block.text for block in page.blocks))
        if "noindex" in page.robots:
            self.skip(response.meta, "noindex")
        else:
            yield self.item(response, candidate, page)
        if "nofollow" in page.robots:
            self.nofollowed.update(link.url for link in page.links)
        elif self.arguments.max_depth is None or candidate.depth < self.arguments.max_depth:
            yield from self.follow(page, candidate)
        if self.arguments.images:
            for image in page.images:
                if self.frontier.know(self.key(image.url, "image")):
                    yield _request(Candidate(image.url, IMAGE_PRIORITY, candidate.depth, page.url, "image"))

    def parse_listing(self, response: Response, candidate: Candidate, found: Listing) -> Iterator[Request]:
        """Requests for the pages of a sitemap or feed, which are as good as seeds."""
        if not found.pages and not found.sitemaps:
            self.skip(response.meta, "no address in it")
            return
        self.answered(candidate)
        self.frontier.finish(response.meta["lease"])
        self.count("skipped/rest of a sitemap larger than the limit", found.cut)
        yield from self.requests(found.sitemaps, Candidate("", SEED_PRIORITY, kind="list"))
        yield from self.requests(found.pages, Candidate("", SEED_PRIORITY - 1))

    def parse_image(self, response: Response) -> Iterator[ImageItem]:
        candidate: Candidate = response.meta["candidate"]
        content_type = media_type(_header(response.headers, "Content-Type"))
        if not content_type.startswith("image/"):
            self.skip(response.meta, f"not an image/{content_type}")
            return
        item = ImageItem(response.url, candidate.parent or "", content_type)
        item.body = response.body
        yield item

    def item(self, response: Response, candidate: Candidate, page: Page) -> PageItem:
        """The page as an item, for the pipelines to fill in."""
        asked = response.meta.get("redirect_urls") or [response.url]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        item = PageItem(response.url, asked[0], now, response.status, candidate.depth, candidate.parent)
        item.page = page
        return item

    def relevance(self, page: Page) -> float:
        """How much the page's clean text is about the topic."""
        extraction = page.once(self.extract)
        return self.topic.relevance(extraction.title, extraction.text)

    def follow(self, page: Page, candidate: Candidate) -> Iterator[Request]:
        """Requests for the page's new links, those first whose page and words are about the topic."""
        if self.frontier.full:
            return
        self.count("skipped/links beyond the first 10,000 of a page", page.cut)
        relevance = page.once(self.relevance)
        ranked: list[tuple[int, str]] = []
        for link in page.links:
            if link.url in self.frontier or hash(link.url) in self.left_out:
                continue
            if link.nofollow:
                self.nofollowed.add(link.url)
            elif link.pictured and not link.text:
                ranked.append((PICTURE_PRIORITY, link.url))
            else:
                mentioned = self.topic.mentioned(f"{link.text} {link.title}")
                ranked.append((round(600 * relevance + 400 * mentioned), link.url))
        # The engine may ask for the first request before it has taken the last.
        for priority, url in sorted(ranked, key=lambda link: -link[0]):
            yield from self.requests([url], Candidate("", priority, candidate.depth + 1, page.url))

    def requests(self, urls: list[str] | tuple[str, ...], candidate: Candidate) -> Iterator[Request]:
        """Requests for those addresses that are new and within the scope, otherwise like the candidate."""
        for url in urls:
            if url in self.frontier:
                continue
            if refusal := self.scope.refusal(url, page=candidate.kind != "list"):
                self.leave_out(url, refusal)
            elif self.frontier.know(url):
                yield _request(candidate._replace(url=url))

    def leave_out(self, url: str, why: str) -> None:
        """Count an address that is not followed, once however many links lead to it."""
        if hash(url) not in self.left_out:
            self.left_out.add(hash(url))
            self.count(f"skipped/{why}")

    @staticmethod
    def key(url: str, kind: str) -> str:
        """What the frontier knows an address by: one may be a picture here and a page there."""
        return f"image {url}" if kind == "image" else url

    def failed(self, failure: Failure) -> None:
        """Count why a request brought nothing."""
        request: Request = failure.request  # type: ignore[attr-defined]
        why = reason(failure)
        if failure.check(Refusal):
            self.skip(request.meta, why)
        else:
            # Dead links are many and told by the closing lines; what ails a host is worth a line at once.
            self.logger.log(DEBUG if failure.check(HttpError) else INFO, "Failed: %s (%s)", request.url, why)
            self.skip(request.meta, why, "failed")

    def answered(self, candidate: Candidate) -> None:
        self.seeds_answered += candidate.kind == "seed"

    def skip(self, meta: dict[str, Any], why: str, group: str = "skipped") -> None:
        """End a request that brings no page."""
        candidate: Candidate = meta["candidate"]
        self.count(f"{group}/{why}")
        self.frontier.finish(meta["lease"])
        if candidate.kind == "seed":
            self.seeds_failed[candidate.url] = why

    def count(self, key: str, by: int = 1) -> None:
        if by:
            self.crawler.stats.inc_value(key, by)


def spider_of(crawler: Crawler) -> TopicSpider:
    """The spider of a crawl; there is but one kind in this project."""
    if not isinstance(crawler.spider, TopicSpider):
        raise TypeError("this component serves the topic spider only")
    return crawler.spider


def _request(candidate: Candidate) -> Request:
    return Request(candidate.url, priority=candidate.priority, meta={"candidate": candidate}, dont_filter=True)


def _header(headers: Headers, name: str, between: str = ", ") -> str:
    return between.join(value.decode("latin-1") for value in headers.getlist(name))
