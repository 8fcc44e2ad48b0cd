"""Lets the spiders of any project connect only to public addresses, and logs the requests that are refused."""

import logging
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from crawler.middlewares.private_addresses import AddressGuard
from crawler.spiders.request_outcomes import Refusal

logger = logging.getLogger(__name__)


class LoggingAddressGuard(AddressGuard):
    """The address guard that crawls have, with a log line and a statistic for each refusal."""

    stats: StatsCollector

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        guard = super().from_crawler(crawler)
        guard.stats = crawler.stats
        return guard

    def process_exception(self, request: Request, exception: Exception) -> None:
        try:
            super().process_exception(request, exception)
        except Refusal as refusal:
            self.stats.inc_value("winnow/addresses_refused")
            logger.warning("Refused: %s (%s)", request.url, refusal.outcome.message)
            raise
