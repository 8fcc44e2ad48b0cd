"""Decides which pages are rendered in a browser, and fetches their parts through the crawler's downloader.

An address pattern stands for similar addresses of a site, e.g. `/post/*`. Rendering a page is a trial: it shows whether
a browser adds text or links to pages with its address pattern. From the trials so far, `frontier.patterns` decides
whether further pages of the pattern are rendered (crawler/frontier/put_off_rule.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from time import monotonic

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from crawler.checked_settings import image_filter_of
from crawler.contrib.browser.chromium import Chromium
from crawler.contrib.browser.fallback_pages import FallbackPages
from crawler.contrib.browser.foreign_requests import ForeignRequests
from crawler.contrib.browser.installed import is_usable
from crawler.contrib.browser.page_load import PageSource, Renderer, RenderError, RenderOptions
from crawler.contrib.browser.parts import PagePart, PartAnswer, PartCache
from crawler.frontier.frontier import Frontier
from crawler.frontier.put_off_rule import RenderingState, Trial
from crawler.noise.verdict import FilterLists
from crawler.outcomes import Code, Outcome
from crawler.page.page import Extraction, MadeFrom, Page
from crawler.page.script_signs import content_of, has_gained, has_programs, sign_of
from crawler.spiders.crawl_status import OutcomeCounts
from crawler.spiders.document_and_browser_interfaces import RenderedPage, RenderFault
from crawler.spiders.page_reader import PageReader, header
from crawler.spiders.request_outcomes import ONLY_PUBLIC, PART_OF_PAGE
from crawler.urls.address import address_of
from crawler.urls.public_hosts import is_public

CountStatistic = Callable[[str, int], None]
"""Adds a number to the statistic of this name."""


@dataclass(frozen=True)
class PageRendering:
    """Renders the pages that need it."""

    renderer: Renderer
    extract: Callable[[Page], Extraction]
    frontier: Frontier
    counts: OutcomeCounts
    count_statistic: CountStatistic
    fallbacks: FallbackPages
    is_always: bool = False
    """Whether all pages with scripts are rendered, whatever the trials show."""
    trial_ended: asyncio.Condition = field(default_factory=asyncio.Condition)
    """Notified when a trial ends, for the pages that wait for its result."""

    @property
    def has_browser(self) -> bool:
        """Whether the browser can be started."""
        return not self.renderer.chromium.is_broken

    def may_be_due(self, page: Page) -> bool:
        """Whether a page is to be rendered, or may be after the trials that are running."""
        if not self.has_browser or "noindex" in page.robots or not has_programs(page):
            return False
        return self.is_always or self._rendering_of(page) is not RenderingState.NOT_DUE

    async def rendered(self, page: Page, response: Response) -> RenderedPage:
        """The page after its scripts have run, or the page itself if rendering fails. Unless all pages are rendered, it
        is also the page itself if rendering gains nothing, or gained nothing in the trials of its address pattern.
        """
        if not self.is_always:  # wait for the trials that decide
            async with self.trial_ended:
                await self.trial_ended.wait_for(lambda: self._rendering_of(page) is not RenderingState.UNDECIDED)
            if self._rendering_of(page) is RenderingState.NOT_DUE:
                return RenderedPage(page)
        patterns = self.frontier.patterns.of(page.url)
        pattern = patterns.begin_trial(page.url)
        rendered = RenderedPage(page)
        try:
            rendered = await self._trial(page, response, pattern)
        finally:
            patterns.end_trial(pattern, rendered.trial)
            async with self.trial_ended:
                self.trial_ended.notify_all()
        return rendered

    def _rendering_of(self, page: Page) -> RenderingState:
        """Whether a page is due to be rendered, by the trials so far."""
        has_sign = sign_of(page, page.once(self.extract)) is not None
        # `draw` decides whether a page is rendered to audit the rule. It is the same in each round, so that the texts
        # of a page in all rounds can be compared.
        draw = int.from_bytes(blake2b(page.url.encode(), digest_size=4).digest()) / 2**32
        return self.frontier.patterns.of(page.url).rendering_of(page.url, has_sign, draw)

    async def _trial(self, page: Page, response: Response, pattern: str) -> RenderedPage:
        """Render a page, and compare its text and links with those of its source; returns the rendered page, or the
        page itself if rendering failed or, unless all pages are rendered, gained nothing.
        """
        is_frame = self.fallbacks.note_frame(page)
        try:
            rendered = await rendered_page(self.renderer, page, response)
        except RenderError as error:
            self.counts.count(Outcome(Code.NOT_RENDERED, error.fault))
            if error.fault is RenderFault.NO_BROWSER:  # no trial: this says nothing about the page
                return RenderedPage(page)
            return RenderedPage(page, Trial(pattern, has_gained=False))

        before = content_of(page, page.once(self.extract))
        after = content_of(rendered, rendered.once(self.extract))
        gained = has_gained(before, after)
        self.count_statistic("render/pages", 1)
        self.count_statistic("render/gained", int(gained))
        trial = Trial(pattern, gained)
        if not gained and not self.is_always:
            return RenderedPage(page, trial)

        async def render_frame(url: str) -> Page | None:
            """The page that the source shows at a made-up address; None if it cannot be rendered."""
            try:
                return await rendered_page(self.renderer, page, response, url)
            except RenderError:
                return None

        is_soft_404 = is_frame and await self.fallbacks.has(rendered, render_frame)
        return RenderedPage(rendered, trial, is_soft_404)


async def rendered_page(renderer: Renderer, page: Page, response: Response, url: str = "") -> Page:
    """The page of a response after its scripts have run, at its own or at another address; raises a RenderError."""
    url = url or page.url
    source = PageSource(
        url=url,
        body=page.body,
        content_type=page.content_type,
        policy=header(response.headers, "Content-Security-Policy"),
        is_public=response.ip_address is None or is_public(response.ip_address),
    )
    html = await renderer.render(source)
    return Page(
        url=url,
        body=html.encode("utf-8", "replace"),
        content_type="text/html; charset=utf-8",
        robots_header=page.robots_header,
        made_from=MadeFrom.RENDERED,
    )


@dataclass(frozen=True)
class PartDownloads:
    """Fetches the parts of pages with the crawler's downloader, so that all its rules apply to them."""

    crawler: Crawler
    frontier: Frontier | None
    """None for a single page that is not part of a crawl."""
    lists: FilterLists | None
    count_statistic: CountStatistic
    foreign_requests: ForeignRequests = field(default_factory=ForeignRequests)

    async def fetch(self, part: PagePart) -> PartAnswer | None:
        """The answer to a request for a part; None if it is refused or fails."""
        answer = None
        if not self._is_refused(part):
            if self.foreign_requests.admit(part):
                answer = await self._download(part)
            else:
                self.count_statistic("render/foreign_cut", 1)
        self.count_statistic("render/requests" if answer is not None else "render/refused", 1)
        return answer

    def _is_refused(self, part: PagePart) -> bool:
        """Whether a filter list contains a part, or its host is closed or rests after a refusal or a failure."""
        if self.lists is not None and self.lists.hit(part.url, part.page, part.kind):
            return True
        if self.frontier is None:
            return False
        hosts = self.frontier.hosts
        return hosts.outcome_if_closed(part.url) is not None or hosts.is_resting(address_of(part.url).host, monotonic())

    async def _download(self, part: PagePart) -> PartAnswer | None:
        # The browser follows redirects, because only it knows what the page may read at the other address.
        meta = {PART_OF_PAGE: True, ONLY_PUBLIC: part.is_of_public_page, "dont_redirect": True}
        try:
            request = Request(part.url, NO_CALLBACK, part.method, part.sent_headers, part.body, meta=meta)
            response: Response = await self.crawler.engine.download_async(request)
        except Exception:  # the page lacks a part that cannot be fetched, and goes on
            return None
        headers = {
            name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
            for name, values in response.headers.items()
        }
        return PartAnswer(response.status, headers, response.body)


def renderer_of(downloads: PartDownloads) -> Renderer | None:
    """The renderer of a crawl, whose browser is closed with the spider; None if no browser is installed."""
    if not is_usable():
        return None
    settings = downloads.crawler.settings
    options = RenderOptions(
        seconds=settings.getfloat("RENDER_SECONDS"),
        tabs=settings.getint("RENDER_TABS"),
        scrolls=settings.getint("RENDER_SCROLLS"),
        clicks_more=settings.getbool("RENDER_CLICK_MORE"),
        most_characters=settings.getint("DOWNLOAD_MAXSIZE"),
    )
    chromium = Chromium(settings["USER_AGENT"])
    downloads.crawler.signals.connect(chromium.close, signals.spider_closed, weak=False)
    return Renderer(chromium, PartCache(downloads.fetch), options)


def crawl_rendering(crawler: Crawler, reader: PageReader, *, is_always: bool) -> PageRendering | None:
    """The rendering of a crawl's pages; None if no browser is installed."""
    lists = image_filter_of(crawler.settings).lists
    renderer = renderer_of(PartDownloads(crawler, reader.frontier, lists, reader.count_statistic))
    if renderer is None:
        return None
    return PageRendering(
        renderer=renderer,
        extract=reader.extract,
        frontier=reader.frontier,
        counts=reader.counts,
        count_statistic=reader.count_statistic,
        fallbacks=FallbackPages(reader.extract),
        is_always=is_always,
    )


async def render_response(crawler: Crawler, page: Page, response: Response) -> Page | Outcome:
    """The page of a response outside a crawl after its scripts have run, or the outcome if it cannot be rendered."""
    renderer = renderer_of(PartDownloads(crawler, None, None, crawler.stats.inc_value))
    if renderer is None:
        return Outcome(Code.NOT_RENDERED, RenderFault.NO_BROWSER)
    try:
        return await rendered_page(renderer, page, response)
    except RenderError as error:
        return Outcome(Code.NOT_RENDERED, error.fault)
