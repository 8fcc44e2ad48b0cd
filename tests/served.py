"""Dashboards in a process of their own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nursery import PATIENCE, environment


class Served(NamedTuple):
    """A dashboard that is there."""

    address: str
    """Without the stroke at its end."""
    pid: int


@contextmanager
def dashboard(output: Path, *words: str) -> Iterator[str]:
    """The address of a dashboard over a folder of output, which ends with the block."""
    with running(output, *words) as found:
        yield found.address


@contextmanager
def running(output: Path, *words: str) -> Iterator[Served]:
    """The same, with the number of its process."""
    line = [sys.executable, "-m", "scrapy", "dashboard", "--port", "0", "-s", f"OUTPUT_DIR={output}", *words]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen(line, cwd=output.parent, env=environment(), **pipes) as process:  # type: ignore[call-overload]
        try:
            said = process.stdout.readline()
            if " is at http" not in said:
                raise RuntimeError(f"The dashboard has not started, status {process.wait(PATIENCE)}. {said}")
            yield Served(said.rpartition(" is at ")[2].partition("/ ;")[0], process.pid)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
