"""Dashboards in a process of their own."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

import fork_server
from fork_server import PATIENCE, environment

POLL_SECONDS = 0.02


class Served:
    """A dashboard that is there, or soon, until it is told to end."""

    def __init__(self, output: Path, *words: str) -> None:
        log, self._log = mkstemp(prefix="said-", dir=output.parent)
        os.close(log)
        line = ["scrapy", "dashboard", "--port", "0", "-s", f"OUTPUT_DIR={output}", *words]
        self.process = fork_server.common().start(line, output.parent, (self._log, self._log), environment())
        self.pid = self.process.pid
        self.address = self._hear()
        """Without the stroke at its end."""

    def _hear(self) -> str:
        until = time.monotonic() + PATIENCE
        while (found := re.search(r" is at (http://.+)/ \(", self.said())) is None:
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"The dashboard has not started, status {self.process.status}. {self.said()}")
            time.sleep(POLL_SECONDS)
        return found[1]

    def said(self) -> str:
        """All that it has said, errors as well."""
        return Path(self._log).read_text("utf-8")

    def end(self) -> None:
        """Tell it to end, and wait until it has."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


@contextmanager
def dashboard(output: Path, *words: str) -> Iterator[str]:
    """The address of a dashboard over a folder of output, which ends with the block."""
    with running(output, *words) as found:
        yield found.address


@contextmanager
def running(output: Path, *words: str) -> Iterator[Served]:
    """The same, with all of it."""
    found = Served(output, *words)
    try:
        yield found
    finally:
        found.end()


def copy(output: Path, folder: Path) -> Path:
    """A copy of what a crawl that has ended left, links as they are; the folder of it."""
    # SQLite's own files come and go with those who read there; the crawl has ended, so all of it is in the database.
    passing = shutil.ignore_patterns("*-shm", "*-wal")
    return Path(shutil.copytree(output, folder, symlinks=True, ignore=passing))
