"""The topic spider: builds the request for each lease, and turns its response into a result.

The scheduler calls `request_for`, and Scrapy calls `parse`, `parse_image` or `failed` with the response. A page or
image that is kept becomes an item with its result, and the last pipeline ends its lease. All other leases are ended
here, by `finish`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from logging import DEBUG, INFO
from types import MappingProxyType
from typing import Any, Self

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from crawler.arguments import SPIDER, Arguments, parse
from crawler.build_crawl import SEED_PRIORITY, Crawl, build
from crawler.checked_settings import check_crawl, extractor_of
from crawler.frontier.page_result import EXAMPLE_KINDS, AddressKind, Candidate, FoundBy, Lease, LessonKind, PageResult
from crawler.items import ImageItem, PageItem
from crawler.outcomes import Code, Group, Outcome
from crawler.page.image_file import looks_like_content
from crawler.page.llms_list import is_llms_list
from crawler.page.page import HTML_TYPES, Page, is_html, media_type
from crawler.page.sitemaps import Listing, listing
from crawler.page.walls import wall_service
from crawler.recrawl.page_history import NOT_MODIFIED, ChangeCheck, PageChange, conditional_headers
from crawler.spiders.crawl_status import EndingError
from crawler.spiders.document_and_browser_interfaces import Documents, Rendering
from crawler.spiders.feed_texts import WITHHELD_STATUSES
from crawler.spiders.named_lists import MOST_LISTS, sitemaps_first
from crawler.spiders.page_reader import header, page_of, read_alone, validators
from crawler.spiders.redirect_targets import REDIRECT_TIMES
from crawler.spiders.request_outcomes import NO_WHOLE_PAGE, TRIAL, Refusal, lease_of, new_home, outcome_of, result_of
from crawler.spiders.topic_tracker import example_text
from crawler.store.worker_session import WorkerSession
from crawler.topic.page_translations import NamedTranslations
from crawler.urls.address import address_of

REFRESH_SECONDS = 3
"""A refresh after at most this many seconds is a redirect; with a longer delay, a page only reloads itself."""
GONE_STATUSES = (404, 410)
MAX_LIST_LEVELS = 3  # a seed, the lists that it names, and the lists that these name
MAX_LISTS = 1_000  # the most lists of one site that lists given as seeds may name; each worker counts for itself
EXAMPLE_LESSONS = {
    AddressKind.EXAMPLE: (LessonKind.EXAMPLE, Outcome(Code.EXAMPLE)),
    AddressKind.COUNTEREXAMPLE: (LessonKind.COUNTEREXAMPLE, Outcome(Code.COUNTEREXAMPLE)),
}
"""What an example teaches all workers, and the outcome of its request, by kind of address."""
NO_LASTMODS: Mapping[str, float] = MappingProxyType({})


class TopicSpider(Spider):
    """Crawls the pages around the seeds, the most promising first."""

    name = SPIDER

    crawl: Crawl

    def __init__(self, crawl: Crawl | None = None) -> None:
        super().__init__()
        if crawl is not None:
            self.crawl = crawl
        self.nested_lists: Counter[str] = Counter()
        """For each site, how many of its lists are requested because other lists name them."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        # Scrapy's tools for single pages send their own requests: `scrapy fetch`, `parse` and `check` replace
        # `start`, and `scrapy shell` builds the spider when the settings are already frozen.
        if crawler.settings.frozen or cls.start is not OWN_START:
            return super().from_crawler(crawler)
        session: WorkerSession | None = kwargs.pop("session", None)
        arguments: Arguments = kwargs.pop("arguments", None) or parse(kwargs)
        # The command `crawl` checks the settings before it joins a session; a script passes no session.
        if session is None:
            check_crawl(crawler.settings, arguments)
        spider = super().from_crawler(crawler, build(crawler, arguments, session))
        crawler.signals.connect(spider.stop_other_types, signals.headers_received)
        if spider.crawl.documents is not None:
            crawler.signals.connect(spider.crawl.documents.close, signals.spider_closed)
        if spider.crawl.fallback is not None:
            crawler.signals.connect(spider.crawl.fallback.close, signals.spider_closed)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """No requests: the seeds are queued in the frontier."""
        return
        yield

    def request_for(self, lease: Lease) -> Request:
        """The request for the address of a lease."""
        url = lease.candidate.url.partition("#")[0]  # a fragment is not sent; `page_of` restores it if it is a route
        if lease.candidate.kind is AddressKind.IMAGE:
            meta = {"lease": lease, "download_maxsize": self.crawl.images.max_bytes}
            return Request(url, self.parse_image, errback=self.failed, dont_filter=True, meta=meta)
        conditions = conditional_headers(lease.compared_history, self.crawl.reader.comparison.version)
        page_meta: dict[str, Any] = {"lease": lease}
        if conditions:
            page_meta["handle_httpstatus_list"] = [NOT_MODIFIED]  # `parse` gets the 304, which is no failure
        max_bytes = self.crawl.documents.max_bytes(url) if self.crawl.documents is not None else None
        if max_bytes is not None:
            page_meta["download_maxsize"] = max_bytes
        return Request(url, self.parse, errback=self.failed, dont_filter=True, headers=conditions, meta=page_meta)

    def stop_other_types(self, headers: Headers, request: Request) -> None:
        """Stop the download of a link or an example whose declared type is neither a web page nor a document.

        Seeds and lists may also be sitemaps or feeds, and images are checked in `parse_image`.
        """
        lease: Lease | None = request.meta.get("lease")
        declared = media_type(header(headers, "Content-Type"))
        is_page_expected = lease is not None and lease.candidate.kind in EXAMPLE_KINDS | {AddressKind.LINK}
        documents = self.crawl.documents
        is_document = documents is not None and documents.is_wanted(headers, request.url)
        if is_page_expected and declared and declared not in HTML_TYPES and not is_document:
            raise StopDownload(fail=False)  # `parse` gets the response, and skips it by its type

    def parse(self, response: Response) -> Iterator[PageItem] | Awaitable[Iterable[PageItem | Request]]:
        """Read a response: a page to be stored becomes an item; the lease of any other response ends at once."""
        assert response.request is not None  # noqa: S101 - Scrapy has set it
        if "lease" not in response.request.meta:  # one of Scrapy's tools for single pages
            return iter((read_alone(response, self.settings["EXTRACTOR"], extractor_of(self.settings)),))
        request = response.request
        lease = lease_of(request)
        documents = self.crawl.documents

        # Responses that are not read as pages: an unchanged page, a list of addresses (a sitemap, a feed or an
        # llms.txt), or a part of a page.
        if response.status == NOT_MODIFIED:
            check = ChangeCheck(PageChange.NOT_MODIFIED)
            self.finish(request, replace(result_of(request), check=check, validators=validators(response)))
            return iter(())
        if lease.candidate.kind in (AddressKind.SEED, AddressKind.LIST) or is_llms_list(response.body, response.url):
            page_list = listing(response.body, response.url, self.crawl.settings.getint("DOWNLOAD_MAXSIZE"))
            if page_list is not None:
                self.learn_home(request)
                self.crawl.reader.feeds.keep(response.url, page_list.texts)
                self.finish(request, self.list_result(request, page_list))
                return iter(())
        if not is_whole(response):
            self.skip(request, Outcome(Code.NOT_WHOLE, str(response.status)))
            return iter(())

        # Documents, responses that are neither documents nor web pages, and web pages.
        if documents is not None and documents.is_document(response):
            return self.parse_document(response, documents)
        if not is_html(self.declared_type(response), response.body):
            content_type = header(response.headers, "Content-Type")
            self.skip(request, Outcome(Code.NOT_HTML, media_type(content_type)))
            return iter(())
        return self.parse_html(page_of(response), response)

    def parse_html(
        self, page: Page, response: Response
    ) -> Iterator[PageItem] | Awaitable[Iterable[PageItem | Request]]:
        """Follow the refresh of a page, render it, or extract it a second time, where needed; then parse it."""
        if page.refresh is not None:
            seconds, target = page.refresh
            if seconds <= REFRESH_SECONDS:
                return self.follow_refresh(page, response, target)
        rendering = self.crawl.rendering
        if rendering is not None and rendering.may_be_due(page):
            return self.render_page(page, response, rendering)
        if self.crawl.fallback is not None:
            return self.parse_with_fallback(page, response)
        return self.parse_page(page, response)

    def declared_type(self, response: Response) -> str:
        """The declared Content-Type of a response that is not a document.

        It is empty if the server declares a document type, which is wrong then: the response may still be a page.
        """
        documents = self.crawl.documents
        is_wrongly_declared = documents is not None and documents.may_be_page(response)
        if is_wrongly_declared:
            return ""
        return header(response.headers, "Content-Type")

    async def parse_document(self, response: Response, documents: Documents) -> Iterable[PageItem]:
        """The document as an item, if it is to be stored."""
        assert response.request is not None  # noqa: S101 - Scrapy has set it
        try:
            page = await self.crawl.status.unless_ending(documents.page(response))
        except EndingError:
            return ()  # its lease ends with the session, and the next run requests it again
        if isinstance(page, Outcome):
            self.skip(response.request, page)
            return ()
        return self.parse_page(page, response)

    async def render_page(self, page: Page, response: Response, rendering: Rendering) -> Iterable[PageItem]:
        """Let `rendering` run the scripts of a page in a browser, then parse the page.

        `rendering` returns the page as served if rendering similar pages has gained nothing.
        """
        assert response.request is not None  # noqa: S101 - Scrapy has set it
        try:
            rendered = await self.crawl.status.unless_ending(rendering.rendered(page, response))
        except EndingError:
            return ()
        response.request.meta[TRIAL] = rendered.trial  # `result_of` adds it to the result
        if rendered.is_soft_404:
            self.skip(response.request, Outcome(Code.MISSING))
            return ()
        # The scripts may have replaced the page by a wall. The headers were checked before the page was rendered.
        service = wall_service(response.status, {}, rendered.page)
        if service:
            self.skip(response.request, Outcome(Code.WALLED, service))
            return ()
        return await self.parse_with_fallback(rendered.page, response)

    async def follow_refresh(self, page: Page, response: Response, url: str) -> Iterable[PageItem | Request]:
        """Request the target of a page's refresh, as after a redirect; parse the page if it only refreshes itself."""
        assert response.request is not None  # noqa: S101 - Scrapy has set it
        request = response.request
        if url == request.url:
            return await self.parse_with_fallback(page, response)
        try:
            target_lease = await self.crawl.redirects.follow(request, url)
        except Refusal as refusal:
            self.skip(request, refusal.outcome)
            return ()
        if target_lease is None:
            self.skip(request, Outcome(Code.REDIRECT_TO_KNOWN))
            return ()
        if target_lease.id == lease_of(request).id:  # the target is another spelling of the page's address
            return await self.parse_with_fallback(page, response)
        target = self.request_for(target_lease)
        target.meta[REDIRECT_TIMES] = request.meta.get(REDIRECT_TIMES, 0) + 1
        return (target,)

    async def parse_with_fallback(self, page: Page, response: Response) -> Iterable[PageItem]:
        """Let the second extractor, if there is one, read a page about which the first is in doubt; then parse it."""
        if self.crawl.fallback is not None:
            try:
                await self.crawl.status.unless_ending(self.crawl.fallback.extract(page))
            except EndingError:
                return ()
        return self.parse_page(page, response)

    def parse_page(self, page: Page, response: Response) -> Iterator[PageItem]:
        """The page as an item, if it is to be stored; if not, its lease ends."""
        assert response.request is not None  # noqa: S101 - Scrapy has set it
        request = response.request
        self.learn_home(request)
        if lease_of(request).candidate.kind in EXAMPLE_KINDS:
            self.finish(request, self.example_result(request, page))
            return
        item = self.crawl.reader.read(page, response, has_browser=self.crawl.has_browser)
        self.crawl.follow_harvest()  # ends the crawl if too few of the last pages are on the topic
        check = item.result.check
        if item.result.outcome is None and (check is None or check.change is not PageChange.SAME):
            yield item
        else:  # refused or unchanged: nothing is stored
            self.finish(request, item.result)

    def parse_image(self, response: Response) -> Iterator[ImageItem]:
        """The image as an item, if it is to be stored; if not, its lease ends."""
        assert response.request is not None  # noqa: S101 - Scrapy has set it
        request = response.request
        result = result_of(request)
        item = self.crawl.images.item(response, lease_of(request).candidate)
        if isinstance(item, Outcome):
            self.skip(request, item)
            return
        if result.verdict is not None and result.verdict["audited"]:  # judged noise, but requested as a sample
            result = replace(result, verdict={**result.verdict, "mistaken": looks_like_content(response.body)})
        item.lease = lease_of(request)
        item.result = result
        yield item

    def learn_home(self, request: Request) -> None:
        """If redirects led a seed to another address, add the site of that address to the scope."""
        home = new_home(lease_of(request).candidate)
        if home is not None:
            self.crawl.learning.take_in(LessonKind.HOME, home)

    def example_result(self, request: Request, page: Page) -> PageResult:
        """Learn from an example or counterexample of the topic; returns the result of its request."""
        candidate = lease_of(request).candidate
        text = example_text(page, page.once(self.crawl.reader.extract))
        if not text:
            return result_of(request, Outcome(Code.EMPTY_EXAMPLE))
        lesson_kind, outcome = EXAMPLE_LESSONS[candidate.kind]
        lesson = f"{candidate.requested or candidate.url}\n{text}"
        self.crawl.learning.take_in(lesson_kind, lesson)
        return replace(result_of(request, outcome), lessons=((lesson_kind, lesson),))

    def list_result(self, request: Request, page_list: Listing) -> PageResult:
        """The result of a sitemap or feed.

        Pages in a list that the user gave come right after the seeds; pages in other lists are scored like links.
        """
        if page_list.is_cut:
            self.crawl.counts.count(Outcome(Code.LIST_CUT))
        if not page_list.pages and not page_list.sitemaps:
            return result_of(request, Outcome(Code.EMPTY_LIST))
        for url, translations in page_list.translations.items():
            self.crawl.reader.topic.focus.name_translations(url, NamedTranslations(declared=translations))
        candidate = lease_of(request).candidate
        page_candidate = Candidate("", SEED_PRIORITY - 1, via=FoundBy.FEED if page_list.is_feed else FoundBy.SITEMAP)
        lists = self.lists_within_limits(page_list.sitemaps, candidate)
        pages = tuple(self.allowed(page_list.pages, page_candidate, page_list.lastmods))
        if candidate.priority < SEED_PRIORITY:  # a list that the user did not give
            # The page limit of the site would refuse further pages, so they are not scored.
            first_pages = pages[: self.crawl.session.plan.site_limit]
            pages = self.crawl.reader.lists.scored(candidate.url, first_pages, page_list.titles)
        links = (*lists, *pages)
        return replace(result_of(request, Outcome(Code.LIST)), links=links)

    def lists_within_limits(self, urls: Collection[str], parent: Candidate) -> Iterator[Candidate]:
        """Candidates for the lists that the list `parent` names, at most `MAX_LIST_LEVELS` deep.

        A site may have `MAX_LISTS` of them if the user gave the list, otherwise `MOST_LISTS`.
        """
        depth = parent.depth + 1
        max_lists = MAX_LISTS if parent.priority >= SEED_PRIORITY else MOST_LISTS
        priority = min(parent.priority, SEED_PRIORITY)  # an example of the topic has a higher priority than seeds
        list_candidate = Candidate("", priority, depth, kind=AddressKind.LIST, via=FoundBy.SITEMAP)
        for candidate in self.allowed(sitemaps_first(urls), list_candidate):
            site = address_of(candidate.url).site
            if depth < MAX_LIST_LEVELS and self.nested_lists[site] < max_lists:
                self.nested_lists[site] += 1
                yield candidate
            else:
                self.crawl.counts.leave_out(candidate.url, Outcome(Code.LISTS_CUT))

    def allowed(
        self, urls: Collection[str], prototype: Candidate, lastmods: Mapping[str, float] = NO_LASTMODS
    ) -> Iterator[Candidate]:
        """Copies of `prototype` for the addresses in scope.

        Known addresses are left out unless `lastmods` has a time for them, which may make a stored page due again.
        """
        seen = self.crawl.frontier.seen(urls)
        for url in urls:
            lastmod = lastmods.get(url)
            if url in seen and lastmod is None:
                continue
            refusal = self.crawl.scope.refusal(url, page=prototype.kind is not AddressKind.LIST)
            if refusal:
                self.crawl.counts.leave_out(url, refusal)
            else:
                yield replace(prototype, url=url, lastmod=lastmod)

    def failed(self, failure: Failure) -> Iterator[PageItem]:
        """End a request that failed. If the server withholds the page and a feed has its text, parse that text."""
        request: Request = failure.request  # type: ignore[attr-defined]
        lease = lease_of(request)
        outcome = outcome_of(failure)
        response = getattr(failure.value, "response", None)

        # The page from its feed.
        is_walled = outcome.code is Code.WALLED
        if response is not None and (is_walled or response.status in WITHHELD_STATUSES):
            response.request = request
            refused_page = page_of(response)
            if is_walled:  # the title and the directives of a wall are not those of the page
                refused_page = Page(url=response.url, body=b"")
            page = self.crawl.reader.feeds.in_place_of(refused_page, lease.candidate, is_refused=True)
            if page is not None:
                return self.parse_page(page, response)

        # The failure.
        if outcome.code.group is Group.FAILED:
            # Dead links are frequent, and the closing lines count them; other failures are logged at once.
            level = DEBUG if failure.check(HttpError, Refusal) else INFO
            self.logger.log(level, "Failed: %s (%s)", request.url, outcome.message)
        is_gone = (
            outcome.code is Code.HTTP_STATUS and int(outcome.detail) in GONE_STATUSES and lease.history is not None
        )
        check = ChangeCheck(PageChange.MISSING) if is_gone else None
        self.finish(request, replace(result_of(request, outcome), check=check))
        return iter(())

    def skip(self, request: Request, outcome: Outcome) -> None:
        """End a request without a page, with this outcome."""
        self.finish(request, result_of(request, outcome))

    def finish(self, request: Request, result: PageResult) -> None:
        """End a request with its result."""
        self.crawl.leases.finish(lease_of(request), result)


def is_whole(response: Response) -> bool:
    """Whether a response contains a whole page or document, according to its status."""
    return response.status not in NO_WHOLE_PAGE


OWN_START = TopicSpider.start
"""The `start` of crawls, which sends nothing. Some of Scrapy's tools for single pages replace it."""
