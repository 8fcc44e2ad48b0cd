"""The further workers of a crawl on this machine: processes that are replaced if they die, and stop with the crawl.

With `workers=N` they start with the crawl; with `workers=auto` they are started and ended by the rule in `worker_rule`.
To the user they are one crawl, with one log, one set of counts and one file of items.
"""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from math import inf
from subprocess import PIPE
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy.crawler import Crawler

from crawler.arguments import AUTO, MAX_WORKERS
from crawler.outcomes import Group, Outcome
from crawler.processes.busy_share import BusyMeter
from crawler.processes.child_process import ChildProcess
from crawler.processes.machine import available_memory_bytes, cores
from crawler.spiders.crawl_status import EndReason
from crawler.workers.worker_report import WorkerReport
from crawler.workers.worker_rule import CrawlLoad, WorkerChange, worker_change

if TYPE_CHECKING:
    from crawler.build_crawl import Crawl

logger = logging.getLogger(__name__)

MOST_DEATHS = 3  # if this many workers in a row die before they report, no more are started
CHECK_SECONDS = 1.0  # between two checks of the load of a crawl


@dataclass(eq=False)
class LocalWorker:
    """A further worker: a process that this one has started."""

    key: int
    """The key of its last report in `Crawl.reports`."""
    process: ChildProcess
    end_reason: str = ""
    """The reason with which Scrapy closed its spider; empty while it runs, and if the process died."""
    is_leaving: bool = False
    """Whether it was told to stop."""


class LocalWorkers:
    """Starts, replaces and stops the further workers of a crawl."""

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self.crawler = crawler
        self.crawl = crawl
        self.running: set[LocalWorker] = set()
        self.stopping = False
        self._keys = count()
        """The keys of the next workers."""
        self._deaths = 0
        """How many workers in a row have died before they reported."""
        self._load_task: asyncio.Task[None] | None = None
        """Starts and ends workers by the load of the crawl; None if their number is given."""
        self._last_start = 0.0
        """When the crawl began, or the last worker that was started."""
        self._last_end = -inf
        """When a worker was last told to end, as there was too little to do."""

    def start(self) -> None:
        """Start the further workers that the arguments request, or begin to check whether one is needed."""
        self.loop = asyncio.get_running_loop()
        self.all_ended = asyncio.Event()
        number = self.crawl.arguments.workers
        most_workers = self._most_workers()
        if number == AUTO and most_workers > 1:
            self._load_task = asyncio.ensure_future(self._follow_load(most_workers))
        for _ in range(number - 1):  # none for AUTO, which is 0
            self._start_one()

    async def stop(self) -> None:
        """Stop the further workers, and wait until all have left the crawl."""
        self.stopping = True
        if self._load_task is not None:
            self._load_task.cancel()
        if not self.running:
            return
        for worker in self.running:
            self._tell_to_stop(worker)
        # Requests may be in progress, and the last commit may take time.
        seconds = self.crawler.settings.getfloat("DOWNLOAD_TIMEOUT") + self.crawl.session.committer.timeout_seconds
        try:
            await asyncio.wait_for(self.all_ended.wait(), seconds)
        except TimeoutError:
            for worker in self.running:
                worker.process.kill()

    def add_up(self) -> None:
        """Add the counts of the further workers to the counts of this worker."""
        for key, report in self.crawl.reports.items():
            # The statistics. Outcomes have names such as `skipped/...`: they are added to the counts that the closing
            # lines read, which also adds them to the statistics.
            for name, count_of_worker in report.statistics.items():
                group, _, outcome = name.partition("/")
                if group in tuple(Group):
                    self.crawl.counts.count(Outcome.of(outcome), count_of_worker)
                else:
                    self.crawler.stats.inc_value(name, count_of_worker)
            status = self.crawl.status
            status.seeds_answered += report.seeds_answered
            status.seeds_failed |= {url: Outcome.of(outcome) for url, outcome in report.seeds_failed.items()}
            status.examples_failed |= {url: Outcome.of(outcome) for url, outcome in report.examples_failed.items()}
            for host, service in report.walled.items():
                status.note_wall(host, service)
            self.crawl.reports[key] = replace(report, statistics={})  # they are counted now

    def _most_workers(self) -> int:
        """How many workers `workers=auto` has at most, the first one included."""
        limit = self.crawler.settings.getint("AUTO_WORKERS_LIMIT") or MAX_WORKERS
        return min(cores(), limit, MAX_WORKERS)

    async def _follow_load(self, most_workers: int) -> None:
        """Start and end workers by the load of the crawl."""
        busy_meter = BusyMeter()
        began_at = self._last_start = monotonic()
        while self._deaths < MOST_DEATHS:
            await asyncio.sleep(CHECK_SECONDS)
            now = monotonic()
            busy_share = busy_meter.share()
            if self._is_changing:  # a start lasts until the new worker has reported
                self._last_start = now
            elif not self.crawl.status.is_ending:
                load = self._load(now, busy_share, now - began_at)
                self._change(worker_change(load, most_workers), now)

    @property
    def _is_changing(self) -> bool:
        """Whether a worker has not reported yet, or was told to stop."""
        return any(worker.is_leaving or worker.key not in self.crawl.reports for worker in self.running)

    def _load(self, now: float, busy_share: float, seconds: float) -> CrawlLoad:
        """How much the workers have to do; `seconds` have passed since the first of them began."""
        reports = [self.crawl.reports[worker.key] for worker in self.running]
        frontier = self.crawl.frontier
        # The others are assumed to be as fast as this worker.
        requests_a_second = frontier.ended / seconds * (1 + len(reports))
        seconds_left = inf
        if requests_a_second:
            seconds_left = frontier.links_left / requests_a_second
        return CrawlLoad(
            busy_shares=(busy_share, *(report.busy for report in reports)),
            hosts=frontier.hosts.ready_hosts(now),
            seconds_left=seconds_left,
            seconds_since_start=now - self._last_start,
            seconds_since_end=now - self._last_end,
            memory_bytes=available_memory_bytes(),
        )

    def _change(self, change: WorkerChange, now: float) -> None:
        if change is WorkerChange.START:
            logger.info("All workers are busy; worker %d begins", len(self.running) + 2)
            self._last_start = now
            self._start_one()
        elif change is WorkerChange.END:
            logger.info("The workers have too little to do; one of them ends")
            self._last_end = now
            worker = min(self.running, key=lambda worker: self.crawl.reports[worker.key].busy)
            self._tell_to_stop(worker)

    def _tell_to_stop(self, worker: LocalWorker) -> None:
        """Tell a worker to stop, but only once: told a second time, it would end at once."""
        if not worker.is_leaving:
            worker.is_leaving = True
            # In a thread, as it may still be reading its task.
            Thread(target=worker.process.tell_to_stop, daemon=True).start()

    @cached_property
    def _task(self) -> bytes:
        """The message from which each further worker reads its task."""
        # A further worker starts no workers, does not begin the crawl afresh, and does not end it by its own harvest.
        arguments = replace(self.crawl.arguments, workers=1, fresh=False, stop_when=None)
        settings = self.crawler.settings.copy()
        settings.frozen = False  # the worker changes some of them
        return pickle.dumps((self.crawler.spidercls, arguments, settings, self.crawl.session.number))

    def _start_one(self) -> None:
        process = ChildProcess(["-m", "crawler.workers.worker_process"], own_session=True, stdout=PIPE)
        worker = LocalWorker(next(self._keys), process)
        self.running.add(worker)
        self.all_ended.clear()
        Thread(target=self._follow, args=(worker,), daemon=True).start()

    def _follow(self, worker: LocalWorker) -> None:
        """Send a worker its task, and pass its lines on to the event loop; runs in a thread of its own."""
        worker.process.send(self._task)
        assert worker.process.popen.stdout is not None  # noqa: S101 - a pipe
        with suppress(RuntimeError), worker.process.popen.stdout as lines:  # the event loop may have ended
            for line in lines:
                self.loop.call_soon_threadsafe(self._read_line, worker, line)
            worker.process.wait()
            self.loop.call_soon_threadsafe(self._remove, worker)

    def _read_line(self, worker: LocalWorker, line: bytes) -> None:
        """Read a line of a worker: a report, a log record, or the reason why its crawl ended."""
        content: dict[str, Any] = json.loads(line)
        if "log" in content:
            name, level, text = content["log"]
            if logging.getLogger(name).isEnabledFor(level):
                logging.getLogger(name).log(level, "%s", text)
        elif "report" in content:
            self.crawl.reports[worker.key] = WorkerReport.of_json(content["report"])
            self._deaths = 0
            self.crawl.follow_harvest()
        else:
            worker.end_reason = content["ended"]

    def _remove(self, worker: LocalWorker) -> None:
        """Remove a worker that has ended, and replace it if the crawl continues."""
        self.running.discard(worker)
        if not self.running:
            self.all_ended.set()
        if self.stopping or worker.is_leaving or worker.end_reason == EndReason.FINISHED:
            return
        if worker.end_reason not in ("", EndReason.SHUTDOWN, EndReason.STORE_FAILED):
            self.crawl.status.end(worker.end_reason)  # for example at one of Scrapy's limits
            return
        if worker.key not in self.crawl.reports:
            self._deaths += 1
        if self._deaths == MOST_DEATHS:
            logger.error("Workers die before they begin; the crawl continues with the other %d", len(self.running) + 1)
        elif self._deaths < MOST_DEATHS:
            status = worker.process.poll()
            logger.warning("A worker died (exit status %s); a new one continues its work", status)
            self._start_one()
