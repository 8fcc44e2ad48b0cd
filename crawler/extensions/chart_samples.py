"""Takes a sample of this worker's counts every few seconds, for charts. Samples are committed with the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import monotonic
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from crawler.build_crawl import crawl_of
from crawler.frontier.batch import WorkerSample
from crawler.frontier.frontier import Frontier
from crawler.outcomes import Group
from crawler.spiders.crawl_status import OutcomeCounts, before_last_commit
from crawler.spiders.request_outcomes import Refusal
from crawler.topic.stop_rule import Harvest

SAMPLE_SECONDS = 5.0  # between two samples
FIRST_SAMPLE_SECONDS = 1.0  # between two samples at the beginning, so that charts show something soon
BEGINNING_SECONDS = 20.0  # from the start of the spider
RESPONSES = "downloader/response_status_count/"
"""The prefix of Scrapy's counts of responses by status."""
FAILURES = "downloader/exception_type_count/"
"""The prefix of Scrapy's counts of requests without a response, by exception."""
KNOWN_STATUSES = range(100, 600)
"""Statuses that are counted separately: a hostile server can send any number, and each would be stored forever."""
OTHER = "other"  # in place of any other status
REFUSALS = f"{FAILURES}{Refusal.__module__}.{Refusal.__qualname__}"
"""The name of the count of requests that the crawler itself refused to send."""


class Sampler:
    """Takes samples, the last one before the last commit."""

    def __init__(
        self, frontier: Frontier, harvest: Harvest, counts: OutcomeCounts, statistics: Callable[[], Mapping[str, Any]]
    ) -> None:
        self.frontier = frontier
        self.harvest = harvest
        self.counts = counts
        self.statistics = statistics
        self.started_at = 0.0
        self.sampled_at = 0.0
        self.last_total = WorkerSample(0.0)
        """The counts at the last sample."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        sampler = cls(crawl.frontier, crawl.topic.harvest, crawl.counts, lambda: crawler.stats.get_stats())
        crawler.signals.connect(sampler.start, signals.spider_opened)
        crawler.signals.connect(sampler.take, before_last_commit)
        crawler.signals.connect(sampler.stop, signals.engine_stopped)
        return sampler

    def start(self) -> None:
        self.started_at = monotonic()
        self.sampled_at = self.started_at
        self.loop = create_looping_call(self.take_if_due)
        self.loop.start(FIRST_SAMPLE_SECONDS, now=False)

    def stop(self) -> None:
        if self.loop.running:
            self.loop.stop()

    def take_if_due(self) -> None:
        """Take a sample if one is due; called every FIRST_SAMPLE_SECONDS."""
        now = monotonic()
        is_beginning = now - self.started_at <= BEGINNING_SECONDS
        # Each check may come a little early or late, so the check that is nearest to SAMPLE_SECONDS is taken.
        if is_beginning or now - self.sampled_at > SAMPLE_SECONDS - FIRST_SAMPLE_SECONDS / 2:
            self.take()

    def take(self) -> None:
        """Pass the difference since the last sample to the frontier."""
        now = monotonic()
        total = replace(self.total(), seconds=now - self.started_at)
        self.frontier.add_samples(total.since(self.last_total))
        self.last_total = total
        self.sampled_at = now

    def total(self) -> WorkerSample:
        """The counts of this worker since it started, without the time."""
        counts = self.statistics()
        harvest = self.harvest.counts
        return WorkerSample(
            seconds=0.0,
            pages=self.frontier.pages,
            read=harvest.pages,
            on_topic=harvest.on_topic,
            requests=counts.get("downloader/request_count", 0),
            failed=self.counts.of(Group.FAILED).total(),
            bytes=counts.get("downloader/response_bytes", 0),
            images=counts.get("images", 0),
            image_bytes=counts.get("images/bytes", 0),
            skipped=counts.get("image_noise/skipped", 0) - counts.get("image_noise/links", 0),  # only images
            statuses=answers_by_status(counts),
        )


def answers_by_status(counts: Mapping[str, Any]) -> dict[str, int]:
    """Responses by status; `none` counts requests without a response."""
    statuses: Counter[str] = Counter()
    for name, count in counts.items():
        if name.startswith(RESPONSES):
            status = name.removeprefix(RESPONSES)
            if not status.isdecimal() or int(status) not in KNOWN_STATUSES:
                status = OTHER
            statuses[status] += count
    failures = (count for name, count in counts.items() if name.startswith(FAILURES) and name != REFUSALS)
    return dict(statuses) | {"none": sum(failures)}
