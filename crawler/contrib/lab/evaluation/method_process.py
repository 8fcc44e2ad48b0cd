"""Runs each method on pages in a separate process, with a time limit for each page.

So the imports, the time and the crash of one method do not affect another. The process never sees the gold, and has no
network: an audit hook refuses every use of a Python socket that could reach the network. Its answers are JSON.

A `MethodProcess` is the caller's side, `MethodCalls` the side of the child process. `run` runs a method on all pages.

Some methods learn what the pages of a host have in common. They keep this in a library, which they use on each page of
the host. The first extraction in a process may load a model. So a new process extracts its first page twice, and only
the second time is measured; after this, the process is warm.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import groupby
from subprocess import DEVNULL
from typing import Any, NamedTuple

from crawler.contrib.lab.evaluation.gold import GoldPage
from crawler.contrib.lab.evaluation.peers import PEERS, MethodInput, is_installed, version
from crawler.extraction import EXTRACTORS, LEARNING
from crawler.extraction.methods.template import learn
from crawler.page.page import Page
from crawler.processes.function_process import START_SECONDS, ChildDiedError, FunctionProcess

AUTO_SITE = "auto-site"
"""The method `auto` with a library of the host. Without one, `auto` sees one page at a time, like the other programs
(`PEERS`).
"""
WITH_SITE = {AUTO_SITE: "auto", "template": "template", "template-svm": "template-svm"}
"""The methods that learn from the pages of a host, each with the name of its extractor."""
METHODS = (*EXTRACTORS, AUTO_SITE)
HARMLESS = frozenset(("socket.__new__", "socket.gethostname", "socket.getservbyname", "socket.getservbyport"))
"""Audit events of sockets that reach no network: https://docs.python.org/3/library/audit_events.html"""
Method = Callable[[MethodInput, Any], str | None]
"""Extracts the text of a page, with a library or None."""
Request = dict[str, Any]
"""One of three: `{"load": True}` imports the method, `{"learn": [(html, url), ...]}` learns from the pages of a host,
and `{"page": (html, url, lang), "warm": bool}` extracts the text of a page.
"""
PAGE_LIMIT = 30.0
"""Time limit of a page, in seconds."""


class MethodOutput(NamedTuple):
    """The text that a method extracted from a page."""

    text: str
    seconds: float
    """CPU time; if the process died, the wall-clock time until its death."""
    failure: str = ""
    """Why there is no text."""


class MethodRun(NamedTuple):
    """A method's outputs, in the order of the pages; none if the method could not be run."""

    version: str
    outputs: list[MethodOutput]
    absent: str = ""
    """Why the method could not be run."""


class MethodProcess:
    """A method's process, which is started again if it dies."""

    def __init__(self, name: str, limit: float) -> None:
        self.name = name
        self.limit = limit
        """Time limit of a page, in seconds."""
        self.process = FunctionProcess[Request](partial(MethodCalls, name), stderr=DEVNULL)
        self.site: list[tuple[str, str]] = []
        """The source and the address of each page of the host that was learned last. A new process learns from them
        again.
        """
        self.is_running = False
        self.is_warm = False
        self.version = ""
        self.absent = ""

    def start(self) -> None:
        """Start the process; sets `absent` if the method cannot be imported."""
        self.is_warm = False
        self.is_running = True
        answer = self.exchange({"load": True}, START_SECONDS)
        self.absent = answer.get("absent") or answer.get("failure", "")
        self.version = answer.get("version", "")
        if self.site and not self.absent:
            self.learn(self.site)

    def learn(self, site: list[tuple[str, str]]) -> None:
        """Have the method learn from the pages of a host."""
        self.site = site
        if self.is_running:
            self.exchange({"learn": site}, self.limit * max(1, len(site)))
        else:
            self.start()  # it learns from `self.site`

    def text(self, page: GoldPage) -> MethodOutput:
        """The output of the method for a page."""
        if not self.is_running:
            self.start()
        limit = self.limit if self.is_warm else 2 * self.limit  # the first page is extracted twice
        request = {"page": (page.html, page.url, page.lang), "warm": self.is_warm}
        answer: dict[str, Any] = {"failure": self.absent}
        if not self.absent:
            answer = self.exchange(request, limit)
        self.is_warm = True
        return MethodOutput(answer.get("text", ""), answer.get("seconds", 0.0), answer.get("failure", ""))

    def exchange(self, request: Request, limit: float) -> dict[str, Any]:
        """The answer to a request, or a failure if the process died."""
        try:
            answer: dict[str, Any] = json.loads(self.process.call(request, limit))
        except ChildDiedError as error:
            self.is_running = False
            return {"failure": str(error), "seconds": error.seconds}
        return answer

    def kill(self) -> None:
        """Kill the process, from any thread; the thread that waits for its answer gets a failure."""
        self.process.kill()

    def close(self) -> None:
        self.process.close()


def run(process: MethodProcess, pages: Sequence[GoldPage], tick: Callable[[int], None]) -> MethodRun:
    """Run a method on the pages; `tick` is called with the number of pages done.

    Methods that learn get a library of each host, made from the pages of this set without their gold. The time for this
    is not counted, because a crawl learns once and then uses the library on every page.
    """
    name = process.name
    if name in PEERS and not is_installed(name):
        return MethodRun("", [], "not installed")
    try:
        process.start()
        if process.absent:
            return MethodRun("", [], process.absent)
        outputs: dict[int, MethodOutput] = {}
        indexes_by_host = sorted(range(len(pages)), key=lambda index: pages[index].host)
        for host, host_indexes in groupby(indexes_by_host, lambda index: pages[index].host):
            indexes = list(host_indexes)
            if name in WITH_SITE:  # pages without a host have nothing in common to learn
                process.learn([(pages[index].html, pages[index].url) for index in indexes] if host else [])
            for index in indexes:
                outputs[index] = process.text(pages[index])
                tick(len(outputs))
        return MethodRun(process.version, [outputs[index] for index in range(len(pages))])
    finally:
        process.close()


class MethodCalls:
    """Answers the requests of a MethodProcess, in the child process: called with each request, it returns JSON."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.library: Any = None
        sys.addaudithook(refuse_network)

    def __call__(self, request: Request) -> bytes:
        return json.dumps(self.answer(request)).encode()

    def answer(self, request: Request) -> dict[str, Any]:
        if "load" in request:
            try:
                self.method = load(self.name)
            except Exception as error:  # a module may do anything on import
                return {"absent": f"cannot be imported: {_one_line(error)}"}
            return {"version": version(self.name) if self.name in PEERS else ""}
        if "learn" in request:
            pages = (Page.from_html(html, url) for html, url in request["learn"])
            self.library = learn(pages, LEARNING[WITH_SITE[self.name]]())
            return {}
        return attempt(self.method, MethodInput(*request["page"]), self.library, request["warm"])


def load(name: str) -> Method:
    """Import the method with this name, which is Winnow's or a peer's."""
    if name in PEERS:
        peer = PEERS[name]
        module = import_module(peer.module)
        return lambda page, _: peer.text(module, page)
    extractor: Callable[..., Any] = EXTRACTORS[WITH_SITE.get(name, name)]
    if name in WITH_SITE:
        return lambda page, library: extractor(Page.from_html(page.html, page.url), library=library).text
    return lambda page, _: extractor(Page.from_html(page.html, page.url)).text


def attempt(method: Method, page: MethodInput, library: Any, is_warm: bool) -> dict[str, Any]:
    """The text or the failure, with the seconds of CPU time; in a process that is not warm, those of a second run."""
    start = time.process_time()
    try:
        if not is_warm:
            method(page, library)
            start = time.process_time()
        text = method(page, library) or ""
        return {"text": str(text), "seconds": time.process_time() - start}
    except Exception as error:  # an error in a method must not end the evaluation
        return {"failure": _one_line(error), "seconds": time.process_time() - start}


def refuse_network(event: str, _: object) -> None:
    """An audit hook that raises an error when the network is used."""
    if event.startswith("socket.") and event not in HARMLESS:
        raise PermissionError(f"no network here: {event}")


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
