"""The spider to compare with: Scrapy as it comes, following links, and extracting text if `text=trafilatura`."""

import sys
from collections.abc import AsyncIterator, Iterator

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response

PAGE_ENDINGS = (".html", "/")


class BareSpider(Spider):
    """Follows every link to a page of a site and stores nothing; at its end it prints how many pages it read."""

    name = "bare"
    custom_settings = {  # noqa: RUF012 - as Scrapy's spiders have it
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, start: str, text: str = "") -> None:
        super().__init__()
        self.text = text
        self.first = start
        self.allowed_domains = ["127.0.0.1"]
        self.pages = 0

    async def start(self) -> AsyncIterator[Request]:
        # Filtered, unlike Scrapy's own: a link back to the first page does not fetch it again.
        yield Request(self.first)

    def parse(self, response: Response) -> Iterator[Request]:
        if not isinstance(response, HtmlResponse):
            return
        self.pages += 1
        if self.text == "trafilatura":
            import trafilatura  # of the extra peers

            trafilatura.extract(response.text, url=response.url)
        for href in response.css("a::attr(href)").getall():
            if href.partition("#")[0].endswith(PAGE_ENDINGS):
                yield response.follow(href)

    def closed(self, reason: str) -> None:
        print(self.pages, file=sys.stdout)
