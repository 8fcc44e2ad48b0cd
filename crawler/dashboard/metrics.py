"""`/metrics`: what Prometheus reads, in its text format."""

from crawler.dashboard.desk import Desk
from crawler.dashboard.request import TEXT, Answer


def metrics(desk: Desk) -> Answer:
    """The figures of all crawls."""
    return Answer(b"", TEXT)
