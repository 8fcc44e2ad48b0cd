"""Methods at work on pages: each in a process of its own, with a time limit for each page."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

from crawler.evaluation.gold import Gold
from crawler.evaluation.peers import PEERS, is_installed
from crawler.extraction import LEARNING

# Seconds for imports, which on a busy machine take their time.
START_LIMIT = 120.0
PAGE_LIMIT = 30.0
# Seconds until a process that says nothing more is gone.
DYING = 5.0


class Output(NamedTuple):
    """What a method made of a page."""

    text: str
    seconds: float
    """Processor time; where the process ended, all the time it had."""
    failure: str = ""
    """Why there is no text."""


class Run(NamedTuple):
    """A method's outputs, in the order of the pages; none where the method is absent."""

    version: str
    outputs: list[Output]
    absent: str = ""
    """Why the method could not be tried."""


class Worker:
    """A method's process, started again when it has died."""

    def __init__(self, name: str, limit: float) -> None:
        self.name, self.limit = name, limit
        self.process: subprocess.Popen[str] | None = None
        self.site: list[tuple[str, str]] = []
        self.is_warm = False
        self.version = self.absent = ""

    def start(self) -> None:
        """Start the process, and find out whether the method can be imported."""
        command = [sys.executable, "-m", "crawler.evaluation.worker", self.name]
        # The same modules are found there as here, wherever here is.
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(  # noqa: S603 - our own module
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8", env=environment
        )
        self.is_warm = False
        hello = self.exchange(None, START_LIMIT)
        self.absent = hello.get("absent") or hello.get("failure", "")
        self.version = hello.get("version", "")
        if self.site and not self.absent:
            self.learn(self.site)

    def learn(self, site: list[tuple[str, str]]) -> None:
        """Let the method learn from the pages of a host."""
        self.site = site
        if self.process is None:
            self.start()  # which learns
        else:
            self.exchange({"learn": site}, self.limit * max(1, len(site)))

    def text(self, page: Gold) -> Output:
        """What the method makes of a page."""
        if self.process is None:
            self.start()
        limit = self.limit if self.is_warm else 2 * self.limit  # the first page comes twice
        question = {"page": (page.html, page.url, page.lang), "warm": self.is_warm}
        answer: dict[str, Any] = {"failure": self.absent} if self.absent else self.exchange(question, limit)
        self.is_warm = True
        return Output(answer.get("text", ""), answer.get("seconds", 0.0), answer.get("failure", ""))

    def exchange(self, question: dict[str, Any] | None, limit: float) -> dict[str, Any]:
        """The answer to a question, or why there is none; then the process has ended."""
        process = self.process
        if process is None or process.stdin is None or process.stdout is None:
            return {"failure": "the process is gone"}
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        start = time.monotonic()
        timer = threading.Timer(limit, give_up)
        timer.start()
        try:
            if question is not None:
                print(json.dumps(question), file=process.stdin, flush=True)
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            timer.cancel()
        if line.endswith("\n") and not late.is_set():
            answer: dict[str, Any] = json.loads(line)
            return answer
        if not late.is_set():  # its own end tells more than ours
            with suppress(subprocess.TimeoutExpired):
                process.wait(DYING)
        self.close()
        why = f"no answer in {limit:g} s" if late.is_set() else f"died with status {process.returncode}"
        return {"failure": why, "seconds": time.monotonic() - start}

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            self.process.wait()
            self.process = None


def run(name: str, pages: Sequence[Gold], limit: float, tick: Callable[[int], None]) -> Run:
    """What a method makes of the pages; `tick` is told how many are done.

    Methods that learn get a library of each host, from the pages of this set, whose gold they do not see; the time that
    takes is not counted, as a crawl learns once what it then uses on every page.
    """
    if name in PEERS and not is_installed(name):
        return Run("", [], "not installed")
    worker = Worker(name, limit)
    try:
        worker.start()
        if worker.absent:
            return Run("", [], worker.absent)
        outputs: dict[int, Output] = {}
        for host, places in groupby(
            sorted(range(len(pages)), key=lambda at: pages[at].host), lambda at: pages[at].host
        ):
            site = list(places)
            if name in LEARNING:
                worker.learn([(pages[at].html, pages[at].url) for at in site] if host else [])
            for at in site:
                outputs[at] = worker.text(pages[at])
                tick(len(outputs))
        return Run(worker.version, [outputs[at] for at in range(len(pages))])
    finally:
        worker.close()
