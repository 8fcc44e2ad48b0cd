"""A crawl whose memory for what robots.txt says is too small for anything."""

from protego import Protego
from scrapy.crawler import Crawler

from crawler.middlewares.robots import Answers, RobotsMiddleware


class Forgetful(Answers):
    def keep(self, place: str, answer: Protego | str, size: int) -> None:
        pass


class ForgetfulRobots(RobotsMiddleware):
    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.answers = Forgetful()
