"""Samples: every few seconds it is noted what this worker did in them, for charts; it is committed with the pages."""

from collections import Counter
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from crawler.crawl import Crawl, crawl_of
from crawler.frontier.messages import WorkerSample
from crawler.outcomes import Group
from crawler.scheduler import before_last_commit
from crawler.spiders.failures import Refusal

SAMPLE_SECONDS = 5.0  # from one sample to the next
LOOK_SECONDS = 1.0  # and at the beginning, so that there is soon something to see
BEGINNING = 20.0
STATUSES = "downloader/response_status_count/"
NO_ANSWERS = "downloader/exception_type_count/"
KNOWN = range(100, 600)
"""Statuses that are counted by themselves: a hostile server can send any number, and each would be kept for good."""
OTHER = "other"
OUR_OWN = f"{NO_ANSWERS}{Refusal.__module__}.{Refusal.__qualname__}"
"""What this crawler declines to ask for was never asked for."""


class Sampler:
    """Takes a sample now and then, and one at the end, when all but that is committed."""

    def __init__(self, crawl: Crawl, statistics: Callable[[], Mapping[str, Any]]) -> None:
        self.crawl, self.statistics = crawl, statistics
        self.begun = self.last = 0.0
        self.before = WorkerSample(0.0)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        samples = cls(crawl_of(crawler), lambda: crawler.stats.get_stats())
        crawler.signals.connect(samples.start, signals.spider_opened)
        crawler.signals.connect(samples.take, before_last_commit)
        crawler.signals.connect(samples.stop, signals.engine_stopped)
        return samples

    def start(self) -> None:
        self.begun = self.last = monotonic()
        self.loop = create_looping_call(self.look)
        self.loop.start(LOOK_SECONDS, now=False)

    def stop(self) -> None:
        if self.loop.running:
            self.loop.stop()

    def look(self) -> None:
        """Take a sample if it is time to."""
        now = monotonic()
        if now - self.begun <= BEGINNING or now - self.last > SAMPLE_SECONDS - LOOK_SECONDS / 2:
            self.take()

    def take(self) -> None:
        """Hand on what was done since the last sample."""
        now = monotonic()
        done = so_far(self.crawl, self.statistics())._replace(seconds=now - self.begun)
        self.crawl.frontier.add_samples(done.since(self.before))
        self.before, self.last = done, now


def so_far(crawl: Crawl, counts: Mapping[str, Any]) -> WorkerSample:
    """What this worker did since it began."""
    statuses: Counter[str] = Counter()
    for name, n in counts.items():
        if name.startswith(STATUSES):
            status = name.removeprefix(STATUSES)
            statuses[status if status.isdecimal() and int(status) in KNOWN else OTHER] += n
    lost = (n for name, n in counts.items() if name.startswith(NO_ANSWERS) and name != OUR_OWN)
    return WorkerSample(
        0.0,
        crawl.frontier.pages,
        crawl.topic.harvest.pages,
        crawl.topic.harvest.on_topic,
        counts.get("downloader/request_count", 0),
        crawl.counts.of(Group.FAILED).total(),
        counts.get("downloader/response_bytes", 0),
        counts.get("images", 0),
        counts.get("images/bytes", 0),
        counts.get("image_noise/skipped", 0) - counts.get("image_noise/links", 0),
        dict(statuses) | {"none": sum(lost)},
    )
