"""A crawl that keeps the robots.txt of one host only."""

from scrapy.crawler import Crawler

from crawler.middlewares.robots import Answers, RobotsMiddleware


class ForgetfulRobots(RobotsMiddleware):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.answers = Answers(1)
