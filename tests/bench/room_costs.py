"""What a page costs in each room of the crawler, beside the budget of the room in docs/explanation/architecture.md.

`python tests/bench/room_costs.py [FOLDER] [--pages N]` crawls FOLDER, a folder of HTML reached from its index.html, or
else a made-up site of N pages: by bare Scrapy, and by topic, whose process is sampled. The unit is the CPU time that
bare Scrapy spends for a page, so that the sum of all rooms is how many times as much topic spends.

Every two milliseconds of CPU time, what each thread has spent since the sample before goes to the room of the innermost
function of the crawler that it runs. The libraries that a room calls count as the room; Scrapy and Twisted are what no
room called. What is spent before and after the event loop runs is the start.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import get_ident
from types import FrameType
from typing import Any

from server import serving
from synthetic import site_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CRAWLER = f"{ROOT / 'crawler'}{os.sep}"
BUDGETS = ROOT / "docs" / "explanation" / "architecture.md"
BUDGET_ROW = re.compile(r"^\| `?(?P<room>[\w/ ]+?)`? \| (?P<budget>\.\d+|\d\.\d+) \|$", re.MULTILINE)
BARE = ["runspider", str(HERE / "bare.py"), "-a", "start={}"]
TOPIC = ["crawl", "topic", "-a", "seeds={}", "-a", "images=no"]
FAST = ["-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=False", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=32"]
ON_LOOPBACK = ["-s", "ALLOWED_PRIVATE_HOSTS=127.0.0.1"]
INTERVAL_SECONDS = 0.002
START, SCRAPY, ALL = "start", "Scrapy and Twisted", "all"
TRANSACTION = ("store/batch/commit.py", "transact")
"""The function in which the workers of one database wait for each other."""
SAMPLED = "--sampled"
"""How this program starts itself, to run Scrapy's command line in a process that is sampled."""


class RoomSampler:
    """Adds the CPU time of this process up, by room."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.transaction_seconds = 0.0
        self._main_thread = get_ident()
        self._spent: dict[int, float] = {}
        """The CPU time of each thread at the last sample."""

    def start(self) -> None:
        """Take a sample whenever the process has used so much CPU time."""
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_SECONDS, INTERVAL_SECONDS)

    def stop(self) -> None:
        """Take no more samples."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _sample(self, _: int, main_frame: FrameType | None) -> None:
        for thread, thread_frame in sys._current_frames().items():
            frame = main_frame if thread == self._main_thread else thread_frame
            spent = time.clock_gettime(time.pthread_getcpuclockid(thread))
            seconds = spent - self._spent.get(thread, 0.0)
            self._spent[thread] = spent
            if seconds > 0:
                self._add(_functions(frame), seconds, is_main=thread == self._main_thread)

    def _add(self, functions: list[tuple[str, str]], seconds: float, *, is_main: bool) -> None:
        """Add what a thread spent, given its functions from the innermost on."""
        own = [(path.removeprefix(CRAWLER), name) for path, name in functions if path.startswith(CRAWLER)]
        if is_main and not any(name == "run_forever" for _, name in functions):
            self.seconds[START] += seconds
        else:
            self.seconds[_room(own[0][0]) if own else SCRAPY] += seconds
        if TRANSACTION in own:
            self.transaction_seconds += seconds


def _functions(frame: FrameType | None) -> list[tuple[str, str]]:
    """File and name of the functions that a thread is in, from the innermost on."""
    functions = []
    while frame is not None:
        functions.append((frame.f_code.co_filename, frame.f_code.co_name))
        frame = frame.f_back
    return functions


def _room(path: str) -> str:
    """The room of a module.

    >>> _room("page/text.py"), _room("contrib/browser/window.py"), _room("pipelines.py"), _room("commands/crawl.py")
    ('page', 'contrib/browser', 'pipelines.py', 'Scrapy and Twisted')
    """
    parts = Path(path).parts
    if parts[0] in ("commands", "command_line"):  # the command calls Scrapy, which calls the parts of the crawl
        return SCRAPY
    return "/".join(parts[:2]) if parts[0] == "contrib" else parts[0]


@dataclass(frozen=True, kw_only=True)
class RoomCosts:
    """What the pages of one crawl cost."""

    pages: int
    cpu_seconds: float
    seconds_by_room: dict[str, float]
    transaction_seconds: float
    """CPU time in transactions, which one worker at a time has."""


def crawl_sampled(site: Path) -> RoomCosts:
    """Crawl a site with topic, and sample what its process does."""
    with TemporaryDirectory(prefix="room-costs-") as name:
        samples = Path(name) / "samples.json"
        with serving(site) as (port, served):
            words = [word.format(f"http://127.0.0.1:{port}/") for word in (*TOPIC, *FAST, *ON_LOOPBACK)]
            line = [sys.executable, __file__, SAMPLED, str(samples), *words]
            _run(line, Path(name), SCRAPY_SETTINGS_MODULE="crawler.settings")
        return RoomCosts(pages=len(served.pages), **json.loads(samples.read_text("utf-8")))


def bare_seconds_per_page(site: Path) -> float:
    """The CPU time that a bare spider of Scrapy spends for a page."""
    with TemporaryDirectory(prefix="room-costs-") as name, serving(site) as (port, served):
        words = [word.format(f"http://127.0.0.1:{port}/") for word in BARE]
        seconds = _run([sys.executable, "-m", "scrapy", *words], Path(name), SCRAPY_SETTINGS_MODULE="")
    return seconds / len(served.pages)


def _run(line: list[str], folder: Path, **variables: str) -> float:
    """The CPU seconds of a command, which must succeed."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"} | variables
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(line, cwd=folder, env=environment, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(line)}\nended with {process.returncode}:\n{(folder / 'log').read_text()[-2000:]}")
    return usage.ru_utime + usage.ru_stime


def _run_sampled(samples: str, words: list[str]) -> None:
    """Run Scrapy's command line in this process, and write where its CPU time went."""
    from scrapy.cmdline import execute

    sampler = RoomSampler()
    sampler.start()
    sys.argv = ["scrapy", *words]
    try:
        execute()
    finally:
        sampler.stop()
        record = {
            "cpu_seconds": time.process_time(),
            "seconds_by_room": sampler.seconds,
            "transaction_seconds": sampler.transaction_seconds,
        }
        Path(samples).write_text(json.dumps(record), "utf-8")


def budgets() -> dict[str, float]:
    """The budget of each room, in the pages of a bare spider."""
    return {row["room"]: float(row["budget"]) for row in BUDGET_ROW.finditer(BUDGETS.read_text("utf-8"))}


def table(costs: RoomCosts, bare: float) -> list[str]:
    """The rooms from the dearest on, with milliseconds a page, the share of a bare spider's page, and the budget."""
    by_room = {ALL: costs.cpu_seconds} | dict(Counter(costs.seconds_by_room).most_common())
    allowed: dict[str, Any] = budgets()
    lines = [f"{'room':24}{'ms a page':>12}{'of bare':>10}{'budget':>10}"]
    for room, seconds in by_room.items():
        a_page = seconds / costs.pages
        lines.append(f"{room:24}{1000 * a_page:12.2f}{a_page / bare:10.3f}{allowed.get(room, ''):>10}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="static HTML with an index.html; else a site is made up")
    parser.add_argument("--pages", type=int, default=1500, help="pages of the made-up site (1500)")
    options = parser.parse_args()
    with site_of(options.folder, options.pages) as site:
        bare = bare_seconds_per_page(site)
        costs = crawl_sampled(site)
    print(f"{costs.pages:,} pages; bare Scrapy spends {1000 * bare:.2f} ms of CPU for one.")
    print("\n".join(table(costs, bare)))


if __name__ == "__main__":
    if sys.argv[1:2] == [SAMPLED]:
        _run_sampled(sys.argv[2], sys.argv[3:])
    else:
        main()
