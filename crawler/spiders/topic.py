"""The topic spider: seeds -> page items, and leads to more pages for the focus."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from logging import DEBUG, INFO
from types import MappingProxyType
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from scrapy.settings import BaseSettings
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from crawler.arguments import Arguments, parse
from crawler.conditional import NOT_MODIFIED
from crawler.demonstration import serve_demo
from crawler.extraction import LEARNING, favouring
from crawler.extraction.libraries import Libraries
from crawler.extraction.template import Label
from crawler.failures import NO_WHOLE_PAGE, NOT_PUBLIC, Noise, Refusal, reason
from crawler.items import ImageItem, PageItem
from crawler.judging import counted
from crawler.opening import anything_to_do, pace_of, take_seat
from crawler.page import HTML_TYPES, Extraction, Page, is_html, media_type
from crawler.picture import looks_like_content
from crawler.scope import Scope
from crawler.seeds import Listing, listing
from crawler.settings import user_agent
from crawler.spiders.comparing import Comparison
from crawler.spiders.examples import KINDS, lesson
from crawler.spiders.focusing import Focusing, Judgement
from crawler.spiders.links import Leads, Links
from crawler.spiders.pictures import MOST_PICTURES, Pictures
from crawler.spiders.reasons import Reasons
from crawler.spiders.responses import kept
from crawler.state.checks import GONE_AFTER
from crawler.state.entries import OFF_TOPIC, Candidate, Check, Found, Template
from crawler.state.frontier import Frontier
from crawler.state.rounds import Tally
from crawler.state.seats import Seat
from crawler.urls import host

# A page that sends its reader on within these seconds is a redirect; a slower one is a page that renews itself.
REFRESH_SECONDS = 3
SEED_PRIORITY = 10_000
MAX_HEADER = 1_000
GONE = (404, 410)
COUNTED_AS = {
    Found.NEW: ("new",),
    Found.CHANGED: ("changed",),
    Found.SAME: ("unchanged",),
    Found.RENEWED: ("unchanged",),
    Found.NOT_MODIFIED: ("unchanged", "not_modified"),
}
NOTHING_SAID: Mapping[str, float] = MappingProxyType({})
# Why a seed brought nothing that may be over when the crawl is started again.
PASSING = (NOT_PUBLIC, "robots.txt cannot be read", "site asked")


class TopicSpider(Spider):
    """Crawls the pages around some seeds, the most promising first."""

    name = "topic"

    def __init__(self, arguments: Arguments) -> None:
        super().__init__()
        self.arguments = arguments
        self.seeds = arguments.seeds
        self.seeds_answered = 0
        self.seeds_failed: dict[str, str] = {}
        self.learned: set[tuple[str, str]] = set()
        self.broken = ""
        self.closing: asyncio.Future[None] | None = None
        self.tally: Tally | None = None
        """What became of the pages of the round, at the end; None in the first, where all are new."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        seat: Seat | None = kwargs.pop("seat", None)
        spider = super().from_crawler(crawler, parse(kwargs))
        if seat is None:
            seat = take_seat(spider.arguments, crawler.settings)
            anything_to_do(seat, spider.arguments)
        if spider.arguments.demo:
            spider.seeds = (serve_demo(crawler, seat),)
        spider.introduce(crawler.settings)
        spider.set_up(crawler, seat)
        crawler.signals.connect(spider.leave_other_types, signals.headers_received)
        return spider

    def introduce(self, settings: BaseSettings) -> None:
        """Tell sites who asks, and which languages are wanted."""
        settings.set("USER_AGENT", user_agent(settings["CONTACT"]), priority="project")
        if self.arguments.lang:
            headers = settings.getdict("DEFAULT_REQUEST_HEADERS")
            headers["Accept-Language"] = ", ".join(sorted(self.arguments.lang))
            settings.set("DEFAULT_REQUEST_HEADERS", headers, priority="spider")

    def set_up(self, crawler: Crawler, seat: Seat) -> None:
        """Build what the crawl consists of."""
        settings = crawler.settings
        self.max_size = settings.getint("DOWNLOAD_MAXSIZE")
        self.keeps_raw = settings.getbool("KEEP_RESPONSES")
        self.reasons = Reasons(crawler)
        self.pictures = Pictures(
            self.extraction,
            self.arguments.images,
            settings.getbool("IMAGE_NOISE_ENABLED"),
            settings.getint("IMAGE_MAX_BYTES"),
        )
        self.method = self.arguments.extractor or settings["EXTRACTOR"]
        self.extract, self.libraries = favouring(self.method, self.arguments.favour), None
        if self.method in LEARNING:
            self.libraries = Libraries(self.extract, self.reasons.count)
            self.extract = self.libraries.extract
        self.comparison = Comparison(self.method, self.arguments.favour, self.extract)
        self.scope = Scope(
            self.arguments.scope,
            self.arguments.allow,
            self.arguments.deny,
            settings.getint("URLLENGTH_LIMIT"),
            self.arguments.topic.avoid,
        )
        for seed in self.seeds:
            self.scope.add_home(seed)
        self.links = Links(self.scope, self.pictures, self.reasons)
        self.focusing = Focusing(self.arguments, settings, seat.number)
        self.focus, self.examples, self.harvest = self.focusing.focus, self.focusing.examples, self.focusing.harvest
        self.seat = seat
        seat.ledger.reads_templates = self.libraries is not None
        if self.pictures.judged:
            seat.ledger.count_pictures, seat.ledger.enough_pages = counted, settings.getint("IMAGE_NOISE_MIN_PAGES")
        seeds = [Candidate(seed, SEED_PRIORITY, kind="seed", via="seed") for seed in self.seeds]
        seat.seed([*self.examples.candidates(SEED_PRIORITY + 1), *seeds])
        self.frontier = Frontier(seat.ledger.keys, pace_of(crawler), self.arguments.max_pages)

    async def start(self) -> AsyncIterator[Request]:
        """Nothing: the seeds wait in the frontier like everything else."""
        return
        yield

    def learn(self) -> None:
        """Take in what seeds, examples and pages taught other workers, and this one in earlier runs."""
        self.focusing.hear(self.frontier)
        for kind, text in self.frontier.lessons:
            self.take_in(kind, text)
        self.frontier.lessons.clear()
        for name, tag, words in self.frontier.templates:
            if self.libraries is not None:
                self.libraries.take_in(name, Label(tag, words))
        self.frontier.templates.clear()
        self.pictures.shelf.take_in(self.frontier.evidence, self.frontier.forgotten)
        self.frontier.evidence.clear()
        self.frontier.forgotten.clear()

    def teach(self, lease: int, kind: str, text: str) -> None:
        """Take in what a seed or an example teaches, and have it kept."""
        self.frontier.taught(lease, kind, text)
        self.take_in(kind, text)

    def take_in(self, kind: str, text: str) -> None:
        if (kind, text) in self.learned:
            return
        self.learned.add((kind, text))
        if kind == "home":
            self.scope.add_home(text)
        else:
            self.focusing.take_in(kind, text)

    def leave_other_types(self, headers: Headers, request: Request) -> None:
        """Stop the download of what is not a web page, unless it may be a seed's list of addresses."""
        candidate: Candidate | None = request.meta.get("candidate")
        declared = media_type(_header(headers, "Content-Type"))
        kinds = KINDS | {"link"}
        if candidate is not None and candidate.kind in kinds and declared and declared not in HTML_TYPES:
            raise StopDownload(fail=False)

    def parse(self, response: Response) -> Iterator[Leads | PageItem]:
        """Where the page leads, and the page as an item, unless it is not to be kept."""
        candidate: Candidate = response.meta["candidate"]
        if response.status == NOT_MODIFIED:
            self.answered(candidate)
            self.comes_again(Found.NOT_MODIFIED)
            check = Check(Found.NOT_MODIFIED)
            self.frontier.end(response.meta["lease"], check.found, None, validators(response), check)
            return
        if candidate.kind in ("seed", "list") and (found := listing(response.body, response.url, self.max_size)):
            self.parse_listing(response, candidate, found)
            return
        content_type = _header(response.headers, "Content-Type")
        if response.status in NO_WHOLE_PAGE:
            self.skip(response.meta, f"not a whole page/{response.status}")
            return
        if not is_html(content_type, response.body):
            self.skip(response.meta, f"not HTML/{media_type(content_type) or 'no type given'}")
            return
        page = Page(response.url, response.body, content_type, _header(response.headers, "X-Robots-Tag", "\n"))
        if candidate.kind in KINDS:
            self.parse_example(response.meta["lease"], candidate, page)
        elif page.refresh is not None and page.refresh[0] <= REFRESH_SECONDS and page.refresh[1] not in self.frontier:
            self.send_on(response.meta, candidate, page.refresh[1])
        else:
            yield from self.parse_page(response, candidate, page)

    def send_on(self, meta: dict[str, Any], candidate: Candidate, url: str) -> None:
        """Follow a page that sends its reader on at once, as one would a redirect."""
        if candidate.kind == "seed":
            self.teach(meta["lease"], "home", url)
        self.found(meta["lease"], [url], candidate._replace(via="refresh"))
        self.skip(meta, "sent on by the page")

    def parse_example(self, lease: int, candidate: Candidate, page: Page) -> None:
        """An example teaches what the crawl is about, or what not, and that is all."""
        url = candidate.requested or candidate.url
        if text := lesson(page, self.extraction(page)):
            self.teach(lease, f"topic {candidate.kind}", f"{url}\n{text}")
        else:
            self.examples.failed[url] = "no text in it"
        self.frontier.end(lease, candidate.kind)

    def parse_page(self, response: Response, candidate: Candidate, page: Page) -> Iterator[Leads | PageItem]:
        lease: int = response.meta["lease"]
        self.answered(candidate)
        if candidate.depth == 0 and self.examples.are_sought:
            self.teach(lease, "example", lesson(page, self.extraction(page)))
        item = self.item(response, candidate, page)
        yield self.follow(page, candidate, lease)
        if self.pictures.judged:
            self.frontier.saw(lease, self.pictures.seen(page))
        if self.pictures.wanted:
            self.reasons.count(
                f"skipped/pictures beyond the first {MOST_PICTURES} of a page", self.pictures.beyond(page)
            )
            self.frontier.found(lease, self.pictures.candidates(page, candidate.depth, self.frontier.met))
        # Last: when the item has left the pipelines, all that its page caused is committed with it.
        if self.is_kept(response.meta, page, item):
            if self.keeps_raw:
                self.frontier.received(lease, kept(response))
            self.learn_from(page, lease)
            yield item

    def is_kept(self, meta: dict[str, Any], page: Page, item: PageItem) -> bool:
        """Whether the page is to be stored; else its lease is ended: it is not wanted, or as it was."""
        lease: int = meta["lease"]
        known = self.frontier.known(lease)
        off_topic = item.relevance < (self.arguments.min_relevance or 0.0)
        if "noindex" in page.robots:
            self.skip(meta, "noindex")
            return False
        if known is not None or not off_topic:
            item.check = self.comparison.check(page, self.extraction(page), known)
            if item.check.found is Found.SAME:
                self.learn_from(page, lease)
                self.comes_again(Found.SAME)
                self.frontier.end(lease, Found.SAME, None, item.validators, item.check)
                return False
        if off_topic:
            self.skip(meta, OFF_TOPIC)
        return not off_topic

    def comes_again(self, found: Found) -> None:
        """Count what a page was found to be that was there in an earlier round, or is new in this one."""
        if self.seat.ledger.round.comes_again:
            for name in COUNTED_AS.get(found, ()):
                self.crawler.stats.inc_value(f"recrawl/{name}")

    def learn_from(self, page: Page, lease: int) -> None:
        """Learn what the site's pages have in common, if the method wants that."""
        if self.libraries is not None:
            name, completed = host(page.url), self.libraries.learn(page)
            self.frontier.completed(lease, [Template(name, *label) for label in completed])

    def parse_listing(self, response: Response, candidate: Candidate, found: Listing) -> None:
        """The pages of a sitemap or feed are as good as seeds."""
        if not found.pages and not found.sitemaps:
            self.skip(response.meta, "no address in it")
            return
        self.answered(candidate)
        lease: int = response.meta["lease"]
        self.reasons.count("skipped/rest of a sitemap larger than the limit", found.cut)
        self.found(lease, found.sitemaps, Candidate("", SEED_PRIORITY, kind="list", via="sitemap"))
        via = "feed" if found.is_feed else "sitemap"
        self.found(lease, found.pages, Candidate("", SEED_PRIORITY - 1, via=via), found.lastmods)
        self.frontier.end(lease, "list")

    def parse_image(self, response: Response) -> Iterator[ImageItem]:
        """The picture as an item, if its bytes are those of one that is kept."""
        lease: int = response.meta["lease"]
        item = self.pictures.item(response, response.meta["candidate"])
        if isinstance(item, str):
            self.skip(response.meta, item)
            return
        verdict = self.frontier.verdict(lease)
        if verdict is not None and verdict["audited"]:
            self.frontier.judged(lease, {"mistaken": looks_like_content(response.body)})
        yield item

    def item(self, response: Response, candidate: Candidate, page: Page) -> PageItem:
        """The page as an item, for the pipelines to fill in; the focus has learned from it."""
        asked = candidate.requested or candidate.url
        now = datetime.now(UTC).isoformat(timespec="seconds")
        item = PageItem(response.url, asked, now, response.status, candidate.depth, candidate.parent)
        item.page, item.lease = page, response.meta["lease"]
        item.relevance, item.link_score, item.via = self.judge(candidate, page)
        if known := self.frontier.known(item.lease):
            item.link_score = known.link_score  # its priority is by what it was worth by now
        item.validators = validators(response)
        return item

    def extraction(self, page: Page) -> Extraction:
        """The page's main text, taken out once."""
        return page.once(self.extract)

    def judge(self, candidate: Candidate, page: Page) -> Judgement:
        """What the page is worth to the topic; the crawl ends when too few of the last ones are on it."""
        judgement, stats = self.focusing.judge(candidate, self.extraction(page)), self.crawler.stats
        stats.set_value("focus/pages", self.harvest.pages)
        stats.set_value("focus/on_topic", self.harvest.on_topic)
        stats.set_value("focus/harvest", round(self.harvest.share, 4))
        if why := self.harvest.ends(self.arguments.stop_when):
            self.end(why)
        return judgement

    def follow(self, page: Page, candidate: Candidate, lease: int) -> Leads:
        """Where the page leads; nowhere if it asks for that, or if it is as far from the seeds as may be."""
        leads = Leads(page, candidate.requested or candidate.url, lease)
        if "nofollow" in page.robots:
            for link in page.links:
                self.reasons.mark_nofollow(link.url)
            return leads
        most = self.arguments.max_depth
        if self.frontier.full or (most is not None and candidate.depth >= most):
            return leads
        self.reasons.count("skipped/links beyond the first 10,000 of a page", page.cut)
        ended = page.ended or self.extraction(page).ended
        self.reasons.count(f"skipped/rest of a page {ended}", bool(ended))
        return self.links.leads(leads, candidate.depth + 1, self.frontier)

    def found(
        self, lease: int, urls: Iterable[str], candidate: Candidate, lastmods: Mapping[str, float] = NOTHING_SAID
    ) -> None:
        """Hand those addresses to the frontier that are new, or said to be changed, and within the scope, otherwise
        like the candidate.
        """
        for url in urls:
            lastmod = lastmods.get(url)
            if url in self.frontier and lastmod is None:
                continue
            if refusal := self.scope.refusal(url, page=candidate.kind != "list"):
                self.reasons.leave_out(url, refusal)
            else:
                self.frontier.found(lease, [candidate._replace(url=url, lastmod=lastmod)])

    def failed(self, failure: Failure) -> None:
        """Count why a request brought nothing."""
        request: Request = failure.request  # type: ignore[attr-defined]
        why = reason(failure)
        if failure.check(Noise):
            self.frontier.end(request.meta["lease"], why)
        elif failure.check(Refusal):
            self.skip(request.meta, why)
        else:
            # Dead links are many and told by the closing lines; what ails a host is worth a line at once.
            self.logger.log(DEBUG if failure.check(HttpError) else INFO, "Failed: %s (%s)", request.url, why)
            self.skip(request.meta, why, "failed", self.missed(request.meta["lease"], failure))

    def missed(self, lease: int, failure: Failure) -> Check | None:
        """That a page is not there any more, if its server says so of one that was."""
        known = self.frontier.known(lease)
        gone = isinstance(failure.value, HttpError) and failure.value.response.status in GONE
        if not gone or known is None:
            return None
        if known.gone_at is None and known.gone_count + 1 >= GONE_AFTER:
            self.crawler.stats.inc_value("recrawl/gone")
        return Check(Found.MISSING)

    def answered(self, candidate: Candidate) -> None:
        self.seeds_answered += candidate.kind == "seed"

    def skip(self, meta: dict[str, Any], why: str, group: str = "skipped", check: Check | None = None) -> None:
        """End a request that brings no page."""
        candidate: Candidate = meta["candidate"]
        self.reasons.count(f"{group}/{why}")
        may_pass = group == "failed" or why.startswith(PASSING)
        if candidate.kind == "seed":
            self.seeds_failed[candidate.url] = why
            if may_pass:
                self.frontier.taught(meta["lease"], "again", candidate.url)
        elif candidate.kind in KINDS:
            self.examples.failed[candidate.requested or candidate.url] = why
            if may_pass:
                self.frontier.taught(meta["lease"], "again example", candidate.url)
        self.frontier.end(meta["lease"], f"{group}/{why}", check=check)

    def give_up(self, why: str) -> None:
        """End the crawl: what it would fetch now could not be kept."""
        if not self.broken:
            self.broken = why
            self.end("state")

    def end(self, why: str) -> None:
        """End the crawl before the frontier is empty, once."""
        if self.closing is None:
            self.closing = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=why))

    @property
    def fruitless(self) -> bool:
        """Whether every seed failed of a crawl that never stored a page."""
        pages = self.frontier.pages or self.frontier.all_pages or self.seat.ledger.round.comes_again
        return bool(self.seeds_failed) and not self.seeds_answered and not pages


def spider_of(crawler: Crawler) -> TopicSpider:
    """The spider of a crawl; there is but one kind in this project."""
    if not isinstance(crawler.spider, TopicSpider):
        raise TypeError("this component serves the topic spider only")
    return crawler.spider


def validators(response: Response) -> dict[str, str]:
    """By what a server tells whether a page is still the same."""
    found = {name.lower().replace("-", "_"): _header(response.headers, name) for name in ("ETag", "Last-Modified")}
    return {name: value[:MAX_HEADER] for name, value in found.items() if value}


def _header(headers: Headers, name: str, between: str = ", ") -> str:
    return between.join(value.decode("latin-1") for value in headers.getlist(name))
