"""The process of a further worker: it crawls with the arguments and settings that it reads from standard input.

It writes a line of JSON for each report and log record to standard output, for the process that started it: the parent.
It stops its crawl when the parent tells it to. When standard input ends, the parent has ended: then it ends at once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import sys
from collections.abc import Mapping
from dataclasses import asdict
from itertools import islice
from threading import Lock, Thread
from typing import Any, BinaryIO

from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.utils.asyncio import create_looping_call

from crawler.build_crawl import crawl_of, join_crawl, prepare_process
from crawler.outcomes import Outcome
from crawler.processes.busy_share import BusyMeter
from crawler.processes.child_process import ParentPipe
from crawler.spiders.crawl_status import EndReason
from crawler.workers.worker_report import WorkerReport

REPORT_SECONDS = 0.5  # between two reports
# Extensions that a further worker does without: the first process reports to the user for all.
FIRST_ONLY = (
    "crawler.extensions.progress.CrawlProgress",
    "crawler.extensions.closing_lines.ClosingLines",
    "scrapy.extensions.telnet.TelnetConsole",
)
LOGGED_BY_FIRST = ("scrapy.core.engine", "scrapy.utils.log")
"""Loggers whose lines only the first process shows, as the lines of all processes are the same."""
NOT_SUMMED = ("log_count/", "memusage/", "focus/")
"""Prefixes of statistics that are about one process, or that the first process computes from sums."""
MOST_NAMED = 20
"""The most failed seeds, failed examples and walled hosts that a report names."""


class ReportingHandler(logging.Handler):
    """Sends log records to the parent process."""

    def __init__(self, send: Sender) -> None:
        super().__init__()
        self.send = send

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record with its text, which includes a traceback if it has one."""
        self.send("log", [record.name, record.levelno, self.format(record)])


class Sender:
    """Writes lines to the parent process, from several threads; ends this process if the parent has ended."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.lock = Lock()

    def __call__(self, kind: str, content: Any) -> None:
        """Write a line: an object with one member, whose name is the kind of the content."""
        with self.lock:
            try:
                self.stream.write(json.dumps({kind: content}).encode() + b"\n")
                self.stream.flush()
            except BrokenPipeError:
                os._exit(1)


class Reporter:
    """Sends reports while a crawl runs, and at last the reason of its end; stops the crawl when told to."""

    def __init__(self, crawler: Crawler, parent: ParentPipe, send: Sender) -> None:
        self.crawler = crawler
        self.parent = parent
        self.send = send
        self.busy_meter = BusyMeter()
        self.sent: WorkerReport | None = None
        """The last report."""
        crawler.signals.connect(self.start, signals.spider_opened)
        crawler.signals.connect(self.closed, signals.spider_closed)

    def start(self) -> None:
        Thread(target=self.stop_when_told, args=(asyncio.get_running_loop(),), daemon=True).start()
        self.loop = create_looping_call(self.report)
        self.loop.start(REPORT_SECONDS)

    def stop_when_told(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop the crawl when told to; end at once when the parent has ended."""
        if self.parent.wait_for_stop():
            loop.call_soon_threadsafe(crawl_of(self.crawler).status.end, EndReason.SHUTDOWN)
            self.parent.wait_for_stop()  # returns when the parent has ended, as it tells a worker to stop only once
        os._exit(1)  # the next worker takes over leases and unfinished lines

    def report(self) -> None:
        """Send the counts of this worker, if they have changed."""
        report = self.counts()
        if report != self.sent:
            self.sent = report
            self.send("report", asdict(report))

    def counts(self) -> WorkerReport:
        """The counts of this worker since it began."""
        crawl = crawl_of(self.crawler)
        statistics = self.crawler.stats.get_stats()
        return WorkerReport(
            pages=crawl.frontier.pages,
            items=crawl.frontier.items,
            harvest=crawl.topic.harvest.counts,
            statistics={name: count for name, count in statistics.items() if type(count) is int and _is_sum(name)},
            seeds_answered=crawl.status.seeds_answered,
            seeds_failed=_first_texts(crawl.status.seeds_failed),
            examples_failed=_first_texts(crawl.status.examples_failed),
            walled=dict(islice(crawl.status.walled.items(), MOST_NAMED)),
            busy=round(self.busy_meter.share(), 2),
        )

    def closed(self, reason: str) -> None:
        self.reason = reason

    def end(self) -> None:
        """Send the last report, and the reason of the crawl's end."""
        self.loop.stop()
        self.report()
        self.send("ended", self.reason)


def _first_texts(outcomes: Mapping[str, Outcome]) -> dict[str, str]:
    return {url: str(outcome) for url, outcome in islice(outcomes.items(), MOST_NAMED)}


def _is_sum(name: str) -> bool:
    """Whether a statistic can be summed over workers; a maximum, such as `request_depth_max`, cannot."""
    return not name.startswith(NOT_SUMMED) and not name.endswith("_max")


def main() -> None:
    """Crawl until nothing is left to do, or until this worker is told to stop."""
    send = Sender(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # whatever else is printed goes to standard error, apart from the lines for the parent
    parent = ParentPipe()
    task = parent.read_message()
    if task is None:
        sys.exit(1)
    spider, arguments, settings, number = pickle.loads(task)  # noqa: S301 - the parent has written it

    # The user sees reports and log of all workers in the first process.
    logging.getLogger().addHandler(ReportingHandler(send))
    settings.set("EXTENSIONS", {**settings["EXTENSIONS"], **dict.fromkeys(FIRST_ONLY)}, priority="cmdline")
    settings.set("STATS_DUMP", False, priority="cmdline")
    settings.set("LOG_INSTALL_ROOT_HANDLER", False, priority="cmdline")

    process = CrawlerProcess(settings)
    prepare_process(settings, LOGGED_BY_FIRST)
    crawler = process.create_crawler(spider)
    reporter = Reporter(crawler, parent, send)
    process.crawl(crawler, session=join_crawl(arguments, settings, number), arguments=arguments)
    process.start(install_signal_handlers=False)
    reporter.end()


if __name__ == "__main__":
    main()
