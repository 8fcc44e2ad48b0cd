"""Runs each method on pages in a separate process, with a time limit for each page.

The process is `python -m crawler.contrib.lab.evaluation.method_process NAME`; questions and answers are lines of JSON.
No peer's imports, time or death are another's. The process never sees the gold, and reaches no network: an audit hook
refuses every use of a Python socket that leads out.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

from crawler.contrib.lab.evaluation.gold import GoldPage
from crawler.contrib.lab.evaluation.peers import PEERS, MethodInput, is_installed, version
from crawler.extraction import EXTRACTORS, LEARNING
from crawler.extraction.methods.template import learn
from crawler.page.page import Page

AUTO_SITE = "auto-site"
"""The method `auto` with what pages of the host have in common; by itself it sees one page, as the peers do."""
WITH_SITE = {AUTO_SITE: "auto", "template": "template", "template-svm": "template-svm"}
"""The methods that learn from the pages of a host, each with the extractor that it is."""
METHODS = (*EXTRACTORS, AUTO_SITE)
HARMLESS = frozenset(("socket.__new__", "socket.gethostname", "socket.getservbyname", "socket.getservbyport"))
Method = Callable[[MethodInput, Any], str | None]
# Seconds for imports, which are slow on a busy machine.
START_LIMIT = 120.0
PAGE_LIMIT = 30.0
# Seconds until a process that closed its output must have ended.
DYING = 5.0


class MethodOutput(NamedTuple):
    """The text that a method extracted from a page."""

    text: str
    seconds: float
    """Processor time; if the process died, all of its time."""
    failure: str = ""
    """Why there is no text."""


class MethodRun(NamedTuple):
    """A method's outputs, in the order of the pages; none where the method is absent."""

    version: str
    outputs: list[MethodOutput]
    absent: str = ""
    """Why the method could not be run."""


class MethodProcess:
    """A method's process, started again when it has died."""

    def __init__(self, name: str, limit: float) -> None:
        self.name, self.limit = name, limit
        self.process: subprocess.Popen[str] | None = None
        self.site: list[tuple[str, str]] = []
        self.is_warm = False
        self.version = self.absent = ""

    def start(self) -> None:
        """Start the process; returns whether the method can be imported."""
        command = [sys.executable, "-m", "crawler.contrib.lab.evaluation.method_process", self.name]
        # The process finds the same modules.
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
        """Have the method learn from the pages of a host."""
        self.site = site
        if self.process is None:
            self.start()  # which learns
        else:
            self.exchange({"learn": site}, self.limit * max(1, len(site)))

    def text(self, page: GoldPage) -> MethodOutput:
        if self.process is None:
            self.start()
        limit = self.limit if self.is_warm else 2 * self.limit  # the first page is sent twice
        question = {"page": (page.html, page.url, page.lang), "warm": self.is_warm}
        answer: dict[str, Any] = {"failure": self.absent} if self.absent else self.exchange(question, limit)
        self.is_warm = True
        return MethodOutput(answer.get("text", ""), answer.get("seconds", 0.0), answer.get("failure", ""))

    def exchange(self, question: dict[str, Any] | None, limit: float) -> dict[str, Any]:
        """The answer to a request, or why there is none; in that case the process has ended."""
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
        if not late.is_set():  # the exit status says more
            with suppress(subprocess.TimeoutExpired):
                process.wait(DYING)
        self.close()
        if process.returncode == -signal.SIGINT:  # Ctrl-C may have reached the process before this one
            raise KeyboardInterrupt
        why = f"no answer in {limit:g} s" if late.is_set() else f"died with status {process.returncode}"
        return {"failure": why, "seconds": time.monotonic() - start}

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            self.process.wait()
            self.process = None


def run(name: str, pages: Sequence[GoldPage], limit: float, tick: Callable[[int], None]) -> MethodRun:
    """What a method makes of the pages; `tick` is told how many are done.

    Methods that learn get a library of each host, from the pages of this set, whose gold they do not see; the time that
    takes is not counted, as a crawl learns once what it then uses on every page.
    """
    if name in PEERS and not is_installed(name):
        return MethodRun("", [], "not installed")
    process = MethodProcess(name, limit)
    try:
        process.start()
        if process.absent:
            return MethodRun("", [], process.absent)
        outputs: dict[int, MethodOutput] = {}
        for host, places in groupby(
            sorted(range(len(pages)), key=lambda at: pages[at].host), lambda at: pages[at].host
        ):
            site = list(places)
            if name in WITH_SITE:
                process.learn([(pages[at].html, pages[at].url) for at in site] if host else [])
            for at in site:
                outputs[at] = process.text(pages[at])
                tick(len(outputs))
        return MethodRun(process.version, [outputs[at] for at in range(len(pages))])
    finally:
        process.close()


def main(name: str) -> None:
    """Answer the questions of standard input until its end."""
    questions, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)  # output of a peer must not mix with the answers
    sys.addaudithook(refuse_network)

    def answer(what: dict[str, Any]) -> None:
        print(json.dumps(what), file=answers, flush=True)

    try:
        method = load(name)
    except Exception as error:  # a module may print anything on import
        answer({"absent": f"cannot be imported: {_words(error)}"})
        return
    answer({"version": version(name) if name in PEERS else ""})
    library: Any = None
    for line in questions:
        question = json.loads(line)
        if "learn" in question:
            library = learn((Page.from_html(html, url) for html, url in question["learn"]), LEARNING[WITH_SITE[name]]())
            answer({})
        else:
            answer(attempt(method, MethodInput(*question["page"]), library, question["warm"]))


def load(name: str) -> Method:
    """The method with this name, Winnow's or a peer's; imported only now."""
    if name in PEERS:
        peer = PEERS[name]
        module = import_module(peer.module)
        return lambda page, _: peer.text(module, page)
    extractor: Callable[..., Any] = EXTRACTORS[WITH_SITE.get(name, name)]
    if name in WITH_SITE:
        return lambda page, library: extractor(Page.from_html(page.html, page.url), library=library).text
    return lambda page, _: extractor(Page.from_html(page.html, page.url)).text


def attempt(method: Method, page: MethodInput, library: Any, is_warm: bool) -> dict[str, Any]:
    """The text and the seconds of processor time it took; when the process is not warm yet, those of a second time."""
    start = time.process_time()
    try:
        if not is_warm:
            method(page, library)
            start = time.process_time()
        text = method(page, library) or ""
        return {"text": str(text), "seconds": time.process_time() - start}
    except Exception as error:  # an error in a method must not end the evaluation
        return {"failure": _words(error), "seconds": time.process_time() - start}


def refuse_network(event: str, _: object) -> None:
    """Audit hook: raise an error at a use of the network."""
    if event.startswith("socket.") and event not in HARMLESS:
        raise PermissionError(f"no network here: {event}")


def _words(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


if __name__ == "__main__":
    main(sys.argv[1])
