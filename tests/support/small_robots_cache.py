"""A crawl for which what robots.txt says is outdated at once."""

from math import inf
from typing import Any

from crawler.middlewares.robots import RobotsMiddleware
from crawler.urls.file_cache import FileCache


class ForgetfulRobots(RobotsMiddleware):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.answers = FileCache(0, clock=lambda: inf)
