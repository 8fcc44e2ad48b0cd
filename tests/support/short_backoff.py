"""Backing off in less time than a host is given."""

import json
from typing import Self

from scrapy.crawler import Crawler

from crawler.middlewares.backoff import BackoffMiddleware
from crawler.settings import DOWNLOADER_MIDDLEWARES

OURS = f"{BackoffMiddleware.__module__}.{BackoffMiddleware.__name__}"
HURRIED = {
    "DOWNLOADER_MIDDLEWARES": json.dumps(
        DOWNLOADER_MIDDLEWARES | {OURS: None, "short_backoff.HurriedBackoffMiddleware": DOWNLOADER_MIDDLEWARES[OURS]}
    )
}


class HurriedBackoffMiddleware(BackoffMiddleware):
    """Rests as long and as often as HURRIED_DELAY and HURRIED_TIMES say."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        hurried = super().from_crawler(crawler)
        hurried.delay = crawler.settings.getfloat("HURRIED_DELAY", cls.delay)
        hurried.times = crawler.settings.getint("HURRIED_TIMES", cls.times)
        return hurried
