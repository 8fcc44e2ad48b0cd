"""How fast topic is, beside spiders that a user would write instead, on one static site on this machine.

`python tests/bench/throughput.py [FOLDER] [--pages N] [--runs K]` crawls FOLDER, a folder of HTML reached from its
index.html, or else a made-up site of N pages: by bare Scrapy, by Scrapy with trafilatura in its callback (if the extra
`peers` is installed), and by topic with one worker, with two, and with the extractor leaf-tags. The crawlers take
turns, because on a machine with other work only the ratio of neighbouring runs is reliable. Pages a second are counted
by the server, from the first request to the last answer. CPU time is that of all processes of a crawl, memory that of
the largest process. The costs of the start are measured on a site of one page.
"""

import argparse
import os
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Timer

import scrapy
from room_costs import BARE, FAST, ON_LOOPBACK, TOPIC, RoomCosts, crawl_sampled
from server import capacity, serving
from synthetic import build, site_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FAST_TOPIC = [*TOPIC, *FAST, *ON_LOOPBACK]
CRAWLERS = {
    "bare": BARE,
    "trafilatura": [*BARE, "-a", "text=trafilatura"],
    "topic": FAST_TOPIC,
    "2 workers": [*FAST_TOPIC, "-a", "workers=2"],
    "leaf-tags": [*FAST_TOPIC, "-a", "extractor=leaf-tags"],
}
if find_spec("trafilatura") is None:
    del CRAWLERS["trafilatura"]
CORES = 16
MEGABYTE = 1 << 20 if sys.platform == "darwin" else 1 << 10  # of ru_maxrss


@dataclass(frozen=True)
class Run:
    """One crawl of the site."""

    pages: list[str]
    parsed: int
    """How many pages the spider parsed."""
    answers: int
    """The answers of the server, also for missing pages and for files that are not pages."""
    seconds: float
    cpu: float
    """CPU seconds of all processes of the crawl."""
    memory: float
    """The peak memory of the largest process, in megabytes."""
    server_cpu: float
    requested: list[str]
    """All addresses that were requested, each as often as it was requested."""
    database: int = 0
    """Bytes of the database; 0 if there is none, or if it was not measured."""

    @property
    def rate(self) -> float:
        return len(self.pages) / max(self.seconds, 0.001)


def _cpu_a_page(run: Run, start: float) -> float:
    return 1000 * (run.cpu - start) / len(run.pages)


ROWS: dict[str, Callable[[Run, float], float]] = {
    "pages a second": lambda run, start: run.rate,
    "requests, not only for pages": lambda run, start: run.answers,
    "CPU seconds": lambda run, start: run.cpu,
    "CPU seconds of the start": lambda run, start: start,
    "CPU milliseconds a page": _cpu_a_page,
    "peak memory, MB": lambda run, start: run.memory,
}


def crawl(site: Path, words: list[str], timeout: float) -> Run:
    """One crawl of the site by the spider that these words start, in a temporary folder."""
    with TemporaryDirectory(prefix="throughput-") as name:
        folder = Path(name)
        with serving(site) as (port, served):
            line = [sys.executable, "-m", "scrapy", *(word.format(f"http://127.0.0.1:{port}/") for word in words)]
            usage, output = _finish(line, folder, timeout)
        items = folder / "output" / "topic.jsonl"
        parsed = len(items.read_bytes().splitlines()) if "topic" in words else int(output)
        database = sum(path.stat().st_size for path in (folder / "output").glob("crawl.db*"))
    cpu = usage.ru_utime + usage.ru_stime
    used = cpu, usage.ru_maxrss / MEGABYTE, served.cpu
    return Run(served.pages, parsed, served.answers, served.seconds, *used, served.requested, database)


def _finish(line: list[str], folder: Path, timeout: float) -> tuple[resource.struct_rusage, str]:
    """What a process used and printed; ends the benchmark if it failed or took too long."""
    settings = {"SCRAPY_SETTINGS_MODULE": "crawler.settings"} if "crawl" in line else {}
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"} | settings
    out, err = folder / "out", folder / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(line, cwd=folder, env=environment, stdout=stdout, stderr=stderr)
        timer = Timer(timeout, process.kill)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            timer.cancel()
            if process.returncode is None:
                process.kill()
                process.wait()
    if process.returncode:
        sys.exit(f"{' '.join(line)}\nended with {process.returncode}:\n{err.read_text('utf-8', 'replace')[-2000:]}")
    return usage, out.read_text("utf-8")


def interleaved(site: Path, runs: int, timeout: float) -> dict[str, list[Run]]:
    """The crawls by each crawler, which take turns."""
    done: dict[str, list[Run]] = {name: [] for name in CRAWLERS}
    for number in range(runs):
        for name, words in CRAWLERS.items():
            done[name].append(crawl(site, words, timeout))
        rates = ", ".join(f"{name} {runs_of_crawler[-1].rate:.1f}" for name, runs_of_crawler in done.items())
        print(f"run {number + 1}, pages/s: {rates}", file=sys.stderr)
    return done


def check(done: dict[str, list[Run]]) -> str:
    """A sentence that says whether every crawl read the same pages with the same number of requests."""
    first_pages = done["bare"][0].pages
    others = {
        name: [(len(run.pages), run.parsed) for run in runs]
        for name, runs in done.items()
        if not all(run.pages == first_pages and run.parsed == len(first_pages) for run in runs)
    }
    if others:
        return f"NOT THE SAME PAGES: {len(first_pages):,} were wanted; sent and parsed were {others}."
    verdict = f"Every crawl read the same {len(first_pages):,} pages."
    requests = {name: max(run.answers for run in runs) for name, runs in done.items()}
    if len({*requests.values()}) > 1:
        verdict += f"\nNOT THE SAME REQUESTS: {requests}; the work is not equal."
    return verdict


def start_cpu(words: list[str], timeout: float) -> float:
    """The CPU seconds that a crawl takes before it reads its pages, measured by crawls of one page."""
    with TemporaryDirectory(prefix="throughput-start-") as name:
        build(Path(name), 1)
        return median(crawl(Path(name), words, timeout).cpu for _ in range(3))


def table(done: dict[str, list[Run]], starts: dict[str, float]) -> Iterator[str]:
    """The crawlers side by side: the median and range of each figure, and its ratio to bare Scrapy turn by turn."""
    for figure, value in ROWS.items():
        yield figure
        reference = [value(run, starts["bare"]) for run in done["bare"]]
        for name, runs in done.items():
            values = [value(run, starts[name]) for run in runs]
            ratios = [ours / other for ours, other in zip(values, reference, strict=True)]
            spread = f"({min(values):.1f} to {max(values):.1f})"
            yield f"    {name:16}{median(values):12.1f} {spread:24}{median(ratios):8.2f} of bare"


def breakdown(costs: RoomCosts) -> Iterator[str]:
    """Where the milliseconds of a page go."""
    for room, seconds in sorted(costs.seconds_by_room.items(), key=lambda item: -item[1]):
        yield f"  {room:30}{1000 * seconds / costs.pages:12.2f}{seconds / costs.cpu_seconds:12.0%}"


def amdahl(serial: float, cores: int) -> float:
    """How many times as fast this many cores are, if a share of the work is serial.

    >>> amdahl(0.1, 16)
    6.4
    """
    return 1 / (serial + (1 - serial) / cores)


def machine() -> str:
    """The machine and the versions with which this was measured."""
    info = Path("/proc/cpuinfo")
    names = re.findall("model name\\s*: (.+)", info.read_text() if info.exists() else "")
    processor = names[0] if names else platform.processor() or platform.machine()
    return (
        f"{processor}, {os.cpu_count()} cores, {platform.system()}; Python {platform.python_version()}, "
        f"Scrapy {scrapy.__version__}; {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="static HTML with an index.html; else a site is made up")
    parser.add_argument("--pages", type=int, default=1500, help="pages of the made-up site (1500)")
    parser.add_argument("--runs", type=int, default=3, help="crawls by each (3)")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a crawl may take (600)")
    options = parser.parse_args()
    timeout = options.timeout
    with site_of(options.folder, options.pages) as site:
        done = interleaved(site, options.runs, timeout)
        starts = {name: start_cpu(words, timeout) for name, words in CRAWLERS.items()}
        costs = crawl_sampled(site)
        able = capacity(site, done["bare"][0].pages)
    print(f"\n{machine()}\n{options.folder or 'made-up site'}, {options.runs} runs of each. {check(done)}\n")
    print("\n".join(table(done, starts)))
    busy = max(run.server_cpu / run.seconds for runs in done.values() for run in runs)
    print(f"The server serves {able:,.0f} pages/s at least; in the crawls it was busy {busy:.0%} of the time at most.")
    print("\nWhat topic spends on a page, in CPU milliseconds:")
    print("\n".join(breakdown(costs)))
    print(f"With {CORES} cores, of which one at a time is in a transaction, {CORES} workers would do at most", end=" ")
    print(f"{amdahl(costs.transaction_seconds / costs.cpu_seconds, CORES):.1f} times the work of one.")


if __name__ == "__main__":
    main()
