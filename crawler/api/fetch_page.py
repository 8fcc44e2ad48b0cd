"""Fetches one page, with the address guard, size limit and timeout of a crawl; robots.txt is not checked."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.settings import BaseSettings, Settings
from twisted.python.failure import Failure

from crawler.api.document import read_page
from crawler.build_crawl import UNUSED_COMPONENTS
from crawler.doors import Door, find
from crawler.errors import FetchError
from crawler.outcomes import Code, Outcome
from crawler.page.page import Page
from crawler.spiders.document_and_browser_interfaces import RenderFault
from crawler.spiders.page_reader import header
from crawler.spiders.request_outcomes import outcome_of, wall_outcome
from crawler.translation.message import N_
from crawler.urls.parsing import route

PAGE_SETTINGS = (
    "ALLOWED_PRIVATE_HOSTS DOWNLOAD_TIMEOUT DOWNLOAD_MAXSIZE DOWNLOAD_WARNSIZE DOWNLOAD_VERIFY_CERTIFICATES "
    "HTTPPROXY_ENABLED REDIRECT_MAX_TIMES RETRY_TIMES RETRY_HTTP_CODES USER_AGENT "
    "DEFAULT_REQUEST_HEADERS TELNETCONSOLE_ENABLED TWISTED_DNS_RESOLVER "
    "RENDER_SECONDS RENDER_TABS RENDER_SCROLLS RENDER_CLICK_MORE"
).split()
"""The settings of a crawl that apply to a single page."""
MIDDLEWARES = {
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,  # replaced by the next one
    "crawler.middlewares.compression.LimitedCompression": 590,
    "crawler.middlewares.private_addresses.AddressGuard": 800,
}
UNREAD = (Code.UNREAD_DOCUMENT, Code.NOT_HTML)
"""The outcomes of files that were fetched but cannot be read."""
NO_TEXT = N_("{page} has no text: {why}")


class _OnePage(Spider):
    """Fetches one page, and adds it or the outcome of its request to `results`."""

    name = "one_page"

    def __init__(self, url: str, results: list[Page | Outcome], is_rendered: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.url = url
        self.results = results
        self.is_rendered = is_rendered

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.url.partition("#")[0], callback=self.take, errback=self.fail)

    async def take(self, response: Response) -> None:
        wall = wall_outcome(response)
        if wall is not None:
            self.results.append(wall)
            return
        robots = header(response.headers, "X-Robots-Tag", "\n")
        # The fragment was not sent, but may be a route of an application, which a browser needs.
        url = response.url + route(self.url)
        page = read_page(response.body, url, header(response.headers, "Content-Type"), robots)
        if self.is_rendered and isinstance(page, Page) and page.document is None:
            page = await self.rendered(page, response)
        self.results.append(page)

    async def rendered(self, page: Page, response: Response) -> Page | Outcome:
        """The page after its scripts have run in a browser, or the outcome if they could not."""
        render_response = find(Door.RENDERERS, "page")
        if render_response is None:
            return Outcome(Code.NOT_RENDERED, RenderFault.NO_BROWSER)
        rendered: Page | Outcome = await render_response(self.crawler, page, response)
        return rendered

    def fail(self, failure: Failure) -> None:
        response = getattr(failure.value, "response", None)
        wall = None
        if response is not None:
            wall = wall_outcome(response)
        self.results.append(wall or outcome_of(failure))  # a wall says more than an error status


def fetch_page(url: str, project: BaseSettings, assignments: Iterable[str], is_rendered: bool = False) -> Page:
    """The page at an address, rendered in a browser if `is_rendered`; raises a FetchError if it cannot be fetched.

    Of the settings of the project, those in PAGE_SETTINGS apply, and those of the `assignments` `NAME=VALUE` on the
    command line.
    """
    assigned_names = [assignment.partition("=")[0] for assignment in assignments]
    settings = Settings({name: project[name] for name in (*PAGE_SETTINGS, *assigned_names)})
    settings.set("DOWNLOADER_MIDDLEWARES", MIDDLEWARES)
    # The value None disables the handlers of all schemes except http and https.
    disabled_handlers = dict.fromkeys(UNUSED_COMPONENTS["DOWNLOAD_HANDLERS_BASE"])
    settings.set("DOWNLOAD_HANDLERS", disabled_handlers | project.getdict("DOWNLOAD_HANDLERS"))
    settings.set("LOG_ENABLED", False)

    results: list[Page | Outcome] = []
    process = CrawlerProcess(settings)
    process.crawl(_OnePage, url=url, results=results, is_rendered=is_rendered)
    process.start()

    if not results:
        raise FetchError("{url} did not answer", url=repr(url))
    result = results[0]
    if isinstance(result, Page):
        return result
    if result.code in UNREAD:
        raise FetchError(NO_TEXT, page=url, why=result.message)
    raise FetchError("{url} cannot be fetched: {why}", url=repr(url), why=result.message)
