"""Fetches one page, with the address guard, size limit and timeout of a crawl; robots.txt is not checked."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings
from twisted.python.failure import Failure

from crawler.api.document import page_of
from crawler.build_crawl import REPLACED
from crawler.outcomes import Outcome
from crawler.page.page import Page
from crawler.spiders.page_reader import header
from crawler.spiders.request_outcomes import outcome_of, wall_outcome
from crawler.translation.message import MessageError

TAKEN = (
    "ALLOWED_PRIVATE_HOSTS DOWNLOAD_TIMEOUT DOWNLOAD_MAXSIZE DOWNLOAD_WARNSIZE DOWNLOAD_VERIFY_CERTIFICATES "
    "HTTPPROXY_ENABLED REDIRECT_MAX_TIMES RETRY_TIMES RETRY_HTTP_CODES USER_AGENT "
    "DEFAULT_REQUEST_HEADERS TELNETCONSOLE_ENABLED TWISTED_DNS_RESOLVER"
).split()
"""The settings of a crawl that apply to a single page."""
MIDDLEWARES = {
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "crawler.middlewares.compression.LimitedCompression": 590,
    "crawler.middlewares.private_addresses.AddressGuard": 800,
}


class FetchError(MessageError):
    """A page could not be fetched."""


class _OnePage(Spider):
    name = "one_page"

    def __init__(self, url: str, found: list[Page | Outcome], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.url, self.found = url, found

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.url, callback=self.take, errback=self.fail)

    def take(self, response: Response) -> None:
        if (wall := wall_outcome(response)) is not None:
            self.found.append(wall)
            return
        robots = header(response.headers, "X-Robots-Tag", "\n")
        self.found.append(page_of(response.body, response.url, header(response.headers, "Content-Type"), robots))

    def fail(self, failure: Failure) -> None:
        response = getattr(failure.value, "response", None)
        wall = wall_outcome(response) if response is not None else None
        self.found.append(wall or outcome_of(failure))


def fetch_page(url: str, changed: dict[str, str]) -> Page:
    """The page at an address; raises a FetchError if it cannot be fetched. `changed` are settings that differ from
    those of a crawl.
    """
    project = get_project_settings()
    settings = Settings({name: project[name] for name in TAKEN} | changed)
    settings.set("DOWNLOADER_MIDDLEWARES", MIDDLEWARES)
    handlers = dict.fromkeys(REPLACED["DOWNLOAD_HANDLERS_BASE"])  # http and https only
    settings.set("DOWNLOAD_HANDLERS", handlers | project.getdict("DOWNLOAD_HANDLERS"))
    settings.set("LOG_ENABLED", False)
    found: list[Page | Outcome] = []
    process = CrawlerProcess(settings)
    process.crawl(_OnePage, url=url, found=found)
    process.start()
    if not found:
        raise FetchError("{url} did not answer", url=repr(url))
    if isinstance(found[0], Outcome):
        raise FetchError("{url} cannot be fetched: {why}", url=repr(url), why=found[0].message)
    return found[0]
