"""Measures the time and memory of pages.

`python measured_extraction.py METHOD` answers each name of huge_pages.py with a line of JSON.
"""

import ctypes
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from huge_pages import HUGE

from crawler.extraction import EXTRACTORS
from crawler.page.page import Page

MEMORY = 3 << 30
"""How many more bytes of addresses the work may take than the process has before it."""
SECONDS = 60


class Cost(NamedTuple):
    """What reading a page took: seconds of the processor, megabytes at most above those before; what went wrong."""

    seconds: float
    megabytes: float
    error: str = ""


def read(body: bytes, method: str) -> None:
    """All that a crawl reads of a page before it decides anything."""
    page = Page("http://example.com/a", body, "text/html")
    EXTRACTORS[method](page)
    assert len(page.blocks) >= 0
    assert len(page.links) + len(page.images) <= 20_000


def watched(work: Callable[[], object]) -> Cost:
    """What some work costs, done in a process of its own."""
    give_back()
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        os.write(writing, json.dumps(_measured(work)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    return Cost(*json.loads(said)) if said else Cost(SECONDS, 0, f"the process died ({status})")


def give_back() -> None:
    """Give free memory back to the system, as a new process would use it and have a lower peak of its own."""
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def _measured(work: Callable[[], object]) -> Cost:
    most_addresses = _addresses() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most_addresses, most_addresses))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    before, start, error = _peak(), time.process_time(), ""
    try:
        work()
    except BaseException as fault:
        error = f"{type(fault).__name__}: {fault}"[:300]
    return Cost(time.process_time() - start, _peak() - before, error)


def _addresses() -> int:
    """The bytes of addresses of this process, which are far more than its memory after thousands of tests."""
    if sys.platform != "linux":
        return 0
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def _peak() -> float:
    # A new process has the memory of its parent at that moment as its peak.
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> None:
    method = sys.argv[1]
    read(b"<title>Once</title><p>What is loaded at first use is no page's cost.", method)
    for line in sys.stdin:
        body = HUGE[line.strip("\n")]()
        cost = watched(lambda body=body: read(body, method))  # type: ignore[misc]
        print(json.dumps(cost), flush=True)


if __name__ == "__main__":
    main()
