"""A crawl whose memory for what robots.txt says is too small for anything."""

from typing import Any

from protego import Protego

from crawler.middlewares.robots import RobotsCache, RobotsMiddleware
from crawler.outcomes import Outcome


class Forgetful(RobotsCache):
    def keep(self, place: str, answer: Protego | Outcome, size: int) -> None:
        pass


class ForgetfulRobots(RobotsMiddleware):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.answers = Forgetful()
