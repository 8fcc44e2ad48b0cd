"""The crawls that agents start, each in a separate process that ends with the server."""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from mcp.server.mcpserver.exceptions import ToolError

from crawler.api.crawl_run import CrawlRun, crawl, default_name
from crawler.command_line.terminal import printable
from crawler.errors import CrawlError

logger = logging.getLogger(__name__)

MOST_RUNNING = 2
"""Crawls that may run at the same time."""
ARGUMENTS = {"images": False, "markdown": True, "render": "never", "workers": 1}
"""The arguments of every crawl that agents start: with Markdown, so that pages have headings to choose from, and
without a browser, so that no scripts of pages run.
"""


class StartedCrawls:
    """The crawls of one server."""

    def __init__(self, settings: Mapping[str, str], most_pages: int) -> None:
        self._settings = settings
        self._most_pages = most_pages
        self._lock = Lock()
        self._waiting = ThreadPoolExecutor(MOST_RUNNING, "crawl end")
        """Threads that each wait until a crawl has ended."""
        self._runs: dict[str, tuple[CrawlRun, Future[str]]] = {}
        """The runs by the names of their crawls, each with a future that is done when the run has ended."""

    def start(self, seeds: Sequence[str], topic: str, max_pages: int) -> str:
        """Start a crawl; returns its name. Raises a ToolError if too many are running, or if it cannot start."""
        if max_pages > self._most_pages:
            raise ToolError(f"A crawl can have at most {self._most_pages} pages.")
        name = default_name(list(seeds), topic)
        with self._lock:
            running_names = [run_name for run_name, (_, end) in self._runs.items() if not end.done()]
            if name in running_names or len(running_names) >= MOST_RUNNING:
                raise ToolError(f"{' and '.join(running_names)} still running; wait until it has ended, or stop it.")
            try:
                run = crawl(list(seeds), topic, name=name, settings=self._settings, max_pages=max_pages, **ARGUMENTS)
            except (ValueError, CrawlError) as error:
                logger.warning("the crawl %s could not start: %s", name, printable(str(error)))
                raise ToolError("The crawl could not start; the server's log says why.") from None
            self._runs[name] = run, self._waiting.submit(run.wait)
        return name

    def stop(self, name: str) -> None:
        """Stop a crawl, and wait until it has ended; raises a ToolError if it was not started here."""
        if name not in self._runs:
            raise ToolError("This server did not start a crawl of this name.")
        run, _ = self._runs[name]
        run.stop()

    def stop_all(self) -> None:
        """Stop all running crawls; the same arguments continue them."""
        for name in list(self._runs):
            self.stop(name)
