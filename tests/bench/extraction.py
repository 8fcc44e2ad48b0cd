"""How fast pages become text: `auto`, `leaf-tags` and other programs, which take turns on each page.

`python extraction.py [--data FOLDER] [--rounds N] [--against A,B]` takes the pages of andy_articles and fundus that are
similar to those of Zyte's benchmark, 150 to 200 KB with 500 to 1,000 elements, from FOLDER, by default WINNOW_DATA. It
prints the CPU time of a page, the median of the rounds: of the parser alone, of the blocks, of auto's text alone, of
each method with all its results (parsing included), and of each installed peer. Then it prints the time of the
metadata, and how long a new process takes until the first text and how much memory. The limits are for the text alone,
which is what peers return; with --check the program fails if one is broken.
"""

import argparse
import gc
import json
import lzma
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from lxml import etree  # noqa: E402

from crawler.contrib.lab.evaluation.peers import PEERS, MethodInput, is_installed, version  # noqa: E402
from crawler.extraction import EXTRACTORS  # noqa: E402
from crawler.extraction.auto import comments, main_text  # noqa: E402
from crawler.metadata.author import author  # noqa: E402
from crawler.metadata.publication_date import publication_date  # noqa: E402
from crawler.metadata.title import headline  # noqa: E402
from crawler.page.page import Page  # noqa: E402
from crawler.processes.machine import GARBAGE_THRESHOLD  # noqa: E402

SETS = ("andy_articles", "fundus")
BYTES, ELEMENTS = (150_000, 200_000), (500, 1_000)
METHODS = ("auto", "leaf-tags")
PARSER, WALK, TEXT = "lxml's parser alone", "blocks of text", "auto, the text alone"
# Limits: a page by auto, seconds until the first text, megabytes for it, times as fast as trafilatura.
MILLISECONDS, START, MEMORY, RATIO = 3.0, 0.3, 60.0, 5.0
STARTS = 7
FIRST = """
import re, sys, time
from pathlib import Path

def peak():
    # Of this program alone; what getrusage tells may be of the process that started it.
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

{before}
before = peak()
start = time.process_time()
from crawler.extraction import extract
extract("<title>Bees</title><p>Bees dance in the dark of the hive, and others follow them.</p>", method={method!r})
print(time.process_time() - start, (peak() - before) / 1024)
"""
# What of the memory is the page's and not the method's, loaded before.
WITHOUT_METHOD = "from crawler.page.page import Page; Page.from_html('<p>x').blocks"

Work = Callable[[MethodInput, bytes], object]


class Figures(NamedTuple):
    """Milliseconds a page, one figure a round."""

    rounds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)


def chosen(data: Path) -> Iterator[tuple[MethodInput, int]]:
    """The pages, and how many elements each has."""
    for name in SETS:
        with lzma.open(data / "extraction" / f"{name}.jsonl.xz") as lines:
            for line in lines:
                row = json.loads(line)
                if BYTES[0] <= len(row["html"].encode("utf-8", "replace")) <= BYTES[1]:
                    page = MethodInput(row["html"], row["url"] or "", row["lang"] or "")
                    elements = sum(1 for _ in Page.from_html(page.html).root.iter(etree.Element))
                    if ELEMENTS[0] <= elements <= ELEMENTS[1]:
                        yield page, elements


def parse(page: MethodInput, body: bytes) -> object:
    return etree.fromstring(body, etree.HTMLParser(encoding="utf-8"))


def walk(page: MethodInput, body: bytes) -> object:
    return Page(page.url, body, "text/html; charset=utf-8").blocks


def text(page: MethodInput, body: bytes) -> object:
    return main_text(Page(page.url, body, "text/html; charset=utf-8"))


def extract(page: MethodInput, body: bytes, method: str) -> object:
    return EXTRACTORS[method](Page(page.url, body, "text/html; charset=utf-8"))


def peer(page: MethodInput, body: bytes, name: str, module: Any) -> object:
    return PEERS[name].text(module, page)


def contenders(peers: Iterable[str]) -> dict[str, Work]:
    """What is timed, by name."""
    works: dict[str, Work] = {PARSER: parse, WALK: walk, TEXT: text}
    works |= {name: partial(extract, method=name) for name in METHODS}
    return works | {
        f"{name} {version(name)}": partial(peer, name=name, module=import_module(PEERS[name].module)) for name in peers
    }


def timed(work: Callable[[], object]) -> float:
    start = time.thread_time()
    try:
        work()
    except Exception as error:  # of a peer: its failures are not measured here
        print(f"  ({type(error).__name__}: {str(error)[:80]})", file=sys.stderr)
    return time.thread_time() - start


def race(pages: list[MethodInput], works: dict[str, Work], rounds: int) -> dict[str, Figures]:
    """Time each program on each page; the programs take turns, so that a busy machine is as busy for each."""
    milliseconds: dict[str, list[float]] = {name: [] for name in works}
    bodies = [page.html.encode("utf-8", "replace") for page in pages]
    for number in range(rounds + 1):
        seconds = dict.fromkeys(works, 0.0)
        for at, (page, body) in enumerate(zip(pages, bodies, strict=True)):
            names = list(works)
            turned = (at + number) % len(names)
            for name in names[turned:] + names[:turned]:
                seconds[name] += timed(partial(works[name], page, body))
        if not number:  # everything is loaded; from here on as a crawl and `scrapy clean` have it
            gc.freeze()
            gc.set_threshold(GARBAGE_THRESHOLD)
        else:
            for name, spent in seconds.items():
                milliseconds[name].append(1000 * spent / len(pages))
    return {name: Figures(figures) for name, figures in milliseconds.items()}


def metadata(pages: list[MethodInput], rounds: int) -> dict[str, Figures]:
    """The time of title, comments, date and author for a page whose text was already extracted."""
    readers: dict[str, Callable[[Page], Any]] = {
        "title": headline,
        "comments": lambda page: comments(page, ()),
        "published": lambda page: publication_date(page, page.once(EXTRACTORS["auto"])),
        "author": lambda page: author(page, page.once(EXTRACTORS["auto"])),
    }
    milliseconds: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(rounds):
        read = [Page.from_html(page.html, page.url) for page in pages]
        for page in read:
            page.once(EXTRACTORS["auto"])
        for name, ask in readers.items():
            milliseconds[name].append(1000 * sum(timed(partial(ask, page)) for page in read) / len(pages))
    return {name: Figures(figures) for name, figures in milliseconds.items()}


def first(method: str, before: str = "") -> tuple[float, float]:
    """Seconds of a new process until the first text, and the megabytes that took; medians."""
    code = FIRST.format(before=before, method=method)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    figures = []
    for _ in range(STARTS):
        line = [sys.executable, "-c", code]
        output = subprocess.run(line, env=environment, capture_output=True, encoding="utf-8", check=True).stdout
        figures.append(tuple(map(float, output.split())))
    seconds, megabytes = zip(*figures, strict=True)
    return statistics.median(seconds), statistics.median(megabytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("WINNOW_DATA", ""))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", help="peers, instead of all that are installed; none: no peer")
    parser.add_argument("--check", action="store_true", help="fail when a limit is broken")
    options = parser.parse_args()
    if not options.data:
        parser.error("set WINNOW_DATA, or give --data FOLDER")
    peers = [name for name in PEERS if is_installed(name)] if options.against is None else options.against.split(",")
    pages, elements = zip(*chosen(Path(options.data)), strict=True)
    size = sum(len(page.html.encode("utf-8", "replace")) for page in pages) / len(pages) / 1000
    count = sum(elements) / len(pages)
    print(f"{len(pages)} pages of {' and '.join(SETS)}: {size:.0f} KB, {count:.0f} elements on average")
    by_program = race(list(pages), contenders(name for name in peers if name in PEERS), options.rounds)
    for name, figures in by_program.items():
        low, high = min(figures.rounds), max(figures.rounds)
        print(
            f"{name:28} {figures.median:8.2f} ms a page ({low:.2f} to {high:.2f}) {1000 / figures.median:7.0f} pages/s"
        )
    over = [by_program[TEXT].median > MILLISECONDS]
    for own, name in product((TEXT, "auto"), by_program):
        if name.startswith("trafilatura"):
            ratios = [
                theirs / ours for theirs, ours in zip(by_program[name].rounds, by_program[own].rounds, strict=True)
            ]
            ratio = statistics.median(ratios)
            print(f"{own} is {ratio:.1f} times as fast as {name} ({min(ratios):.1f} to {max(ratios):.1f})")
            over.append(own == TEXT and ratio < RATIO)
    for name, figures in metadata(list(pages), options.rounds).items():
        print(f"{name:28} {figures.median:8.2f} ms a page beside it")
    for method in METHODS:
        (seconds, _), (_, megabytes) = first(method), first(method, WITHOUT_METHOD)
        print(f"{method:28} {seconds:8.2f} s in a new process until the first text, {megabytes:.1f} MB for the method")
        over.append(seconds > START or megabytes > MEMORY)
    if options.check and any(over):
        sys.exit(f"a limit is broken: {MILLISECONDS} ms, {RATIO} times trafilatura, {START} s, {MEMORY} MB")


if __name__ == "__main__":
    main()
