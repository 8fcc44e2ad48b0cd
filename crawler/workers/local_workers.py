"""The further workers of a crawl on this machine: processes that start with it, are replaced if they die, and stop
with it. To the user they are one crawl: one log, one set of counts, one file of items.
"""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from subprocess import PIPE
from threading import Thread
from typing import TYPE_CHECKING, Any

from scrapy.crawler import Crawler

from crawler.arguments import AUTO, MAX_WORKERS
from crawler.outcomes import Group, Outcome
from crawler.processes.child_process import ChildProcess
from crawler.processes.machine import cores
from crawler.spiders.crawl_status import EndReason
from crawler.workers.worker_report import WorkerReport

if TYPE_CHECKING:
    from crawler.build_crawl import Crawl

logger = logging.getLogger(__name__)

STARTS = 3  # workers in a row that die before they report: then no more are started


@dataclass(eq=False)
class LocalWorker:
    """One further worker."""

    key: int
    """Under which the crawl keeps its reports."""
    process: ChildProcess
    ended: str = ""
    """Scrapy's reason of its end, which a process that died did not send."""


class LocalWorkers:
    """Starts, replaces and stops the further workers of a crawl."""

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self.crawler, self.crawl = crawler, crawl
        self.running: set[LocalWorker] = set()
        self.stopping = False
        self._keys = count()
        self._deaths = 0
        """Workers in a row that died before they reported."""

    def start(self) -> None:
        """Start the further workers that the arguments ask for."""
        number = self.crawl.arguments.workers
        if number == AUTO:
            number = min(cores(), MAX_WORKERS)
        if number == 1:
            return
        self.loop, self.all_ended = asyncio.get_running_loop(), asyncio.Event()
        arguments = replace(self.crawl.arguments, workers=1, fresh=False, stop_when=None)
        settings = self.crawler.settings.copy()
        settings.frozen = False
        content = self.crawler.spidercls, arguments, settings, self.crawl.session.number
        self.task = pickle.dumps(content)
        for _ in range(number - 1):
            self._start_one()

    async def stop(self) -> None:
        """Stop the further workers, and wait until all have left the crawl."""
        self.stopping = True
        if not self.running:
            return
        for worker in self.running:  # in threads, as one may still be reading its task
            Thread(target=worker.process.tell_to_stop, daemon=True).start()
        requests = self.crawler.settings.getfloat("DOWNLOAD_TIMEOUT")  # which may be on their way
        try:
            await asyncio.wait_for(self.all_ended.wait(), requests + self.crawl.session.committer.timeout_seconds)
        except TimeoutError:
            for worker in self.running:
                worker.process.kill()

    def add_up(self) -> None:
        """Add what the further workers counted to the counts of this one."""
        for key, report in self.crawl.reports.items():
            for name, counted in report.statistics.items():
                group, _, outcome = name.partition("/")
                if group in tuple(Group):
                    self.crawl.counts.count(Outcome.of(outcome), counted)
                else:
                    self.crawler.stats.inc_value(name, counted)
            status = self.crawl.status
            status.seeds_answered += report.seeds_answered
            status.seeds_failed |= {url: Outcome.of(outcome) for url, outcome in report.seeds_failed.items()}
            status.examples_failed |= {url: Outcome.of(outcome) for url, outcome in report.examples_failed.items()}
            for host, service in report.walled.items():
                status.note_wall(host, service)
            self.crawl.reports[key] = replace(report, statistics={})

    def _start_one(self) -> None:
        process = ChildProcess(["-m", "crawler.workers.worker_process"], own_session=True, stdout=PIPE)
        worker = LocalWorker(next(self._keys), process)
        self.running.add(worker)
        self.all_ended.clear()
        Thread(target=self._follow, args=(worker,), daemon=True).start()

    def _follow(self, worker: LocalWorker) -> None:
        """Give a worker its task, and pass on what it says, in a thread of its own."""
        worker.process.send(self.task)
        assert worker.process.popen.stdout is not None  # noqa: S101 - a pipe
        with suppress(RuntimeError), worker.process.popen.stdout as lines:  # the loop has ended
            for line in lines:
                self.loop.call_soon_threadsafe(self._take, worker, line)
            worker.process.wait()
            self.loop.call_soon_threadsafe(self._is_gone, worker)

    def _take(self, worker: LocalWorker, line: bytes) -> None:
        """Take in a report, a log record, or the reason of the end."""
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
            worker.ended = content["ended"]

    def _is_gone(self, worker: LocalWorker) -> None:
        """Replace a worker that ended although the crawl goes on."""
        self.running.discard(worker)
        if not self.running:
            self.all_ended.set()
        if self.stopping or worker.ended == EndReason.FINISHED:
            return
        if worker.ended not in ("", EndReason.SHUTDOWN, EndReason.STATE):
            self.crawl.status.end(worker.ended)  # such as a limit of Scrapy's on answers or memory
            return
        self._deaths += worker.key not in self.crawl.reports
        if self._deaths == STARTS:
            logger.error("Workers die before they begin; the crawl continues with the other %d", len(self.running) + 1)
        elif self._deaths < STARTS:
            status = worker.process.poll()
            logger.warning("A worker died (exit status %s); a new one continues its work", status)
            self._start_one()
