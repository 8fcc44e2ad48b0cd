"""The download handler for http and https: every request is counted, and sent again only after a pause."""

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Response


class CountedRequestsHandler(HTTP11DownloadHandler):
    """Scrapy's handler without Twisted's own retries, which are not counted and do not pause.

    Twisted retries when a host closes a connection that it had kept open. Scrapy's RetryMiddleware does it instead, on
    a new connection, as the host may have closed all those that it had kept.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool.retryAutomatically = False
        self._retries = HTTP11DownloadHandler(crawler)
        self._retries._pool.persistent = False

    async def download_request(self, request: Request) -> Response:
        if "retry_times" in request.meta:
            return await self._retries.download_request(request)
        return await super().download_request(request)
