"""Backing off in less time than a host is given."""

import json
from typing import Self

from scrapy.crawler import Crawler

from crawler.middlewares.backoff import BackoffMiddleware
from crawler.middlewares.robots import RobotsMiddleware
from crawler.settings import DOWNLOADER_MIDDLEWARES

OURS = {
    f"{one.__module__}.{one.__name__}": f"short_backoff.Hurried{one.__name__}"
    for one in (BackoffMiddleware, RobotsMiddleware)
}
HURRIED = {
    "DOWNLOADER_MIDDLEWARES": json.dumps(
        DOWNLOADER_MIDDLEWARES
        | dict.fromkeys(OURS)
        | {hurried: DOWNLOADER_MIDDLEWARES[name] for name, hurried in OURS.items()}
    )
}


class HurriedBackoffMiddleware(BackoffMiddleware):
    """Rests as long and as often as HURRIED_DELAY and HURRIED_TIMES say."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        hurried = super().from_crawler(crawler)
        hurried.first_pause = crawler.settings.getfloat("HURRIED_DELAY", cls.first_pause)
        hurried.max_pauses = crawler.settings.getint("HURRIED_TIMES", cls.max_pauses)
        return hurried


class HurriedRobotsMiddleware(RobotsMiddleware):
    """Waits as long and as often for robots.txt, or as long as HURRIED_ROBOTS_DELAY says."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        hurried = super().from_crawler(crawler)
        usual = crawler.settings.getfloat("HURRIED_DELAY", cls.first_pause)
        hurried.first_pause = crawler.settings.getfloat("HURRIED_ROBOTS_DELAY", usual)
        hurried.max_pauses = crawler.settings.getint("HURRIED_TIMES", cls.max_pauses)
        return hurried
