"""How much memory, disk and time `scrapy export --dedupe` takes, and how many copies it finds.

`python tests/bench/export_copies.py [--pages N] [--folder FOLDER]` makes N pages, by default 200,000: fingerprints and
signatures, without texts. Of 100 pages 60 are originals, 30 are copies of these, and 10 are only related to them. The
number of copies of a page follows a power law: most pages have none, some have thousands. Of 100 copies 40 are exact.
The others are as similar to their originals as those that `near_duplicates.py` makes of real texts: with another date
or header, for printing, or without the last tenth (`KINDS` has the quantiles that were measured there). Related pages
are as similar as texts of which 30% or 50% are cut. As in MinHash, a position of two signatures agrees with a
probability that is the similarity; the similarity of two copies of one page is the product of their similarities.

It runs `--dedupe exact` and `--dedupe near` over them, and prints the time, the peak memory without that of files (on
Linux), the share of copies that was found by their similarity, and how similar the removed pages were. Then it runs
`--dedupe paragraphs` over up to 200,000 pages with 10 paragraphs each, one of which the site repeats.

With `--stored` the pages are stored in SQLite, with texts of 1,500 characters, and the whole command is measured.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import re
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

import export as whole_export
import numpy as np
from sqlalchemy import insert
from sqlalchemy.engine import URL, make_url
from throughput import machine

from crawler.contrib.corpus.copies import CopySearch, Preference, without_copies
from crawler.contrib.corpus.paragraphs import repeated_paragraphs
from crawler.contrib.corpus.text_rows import ROW
from crawler.export.where_conditions import RemovalReason
from crawler.recrawl.near_duplicates import NEAR, PERMUTATIONS, _mixed
from crawler.reports.stored_pages import StoredPage
from crawler.store.crawl_tables import crawl
from crawler.store.database import open_database
from crawler.store.page_tables import page

COPIES, RELATED = 0.3, 0.1
EXACT = 0.4
POWER = 3
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
KINDS = {
    "date": (0.6, 0.689, 0.884, 0.921, 0.955, 0.975, 0.986, 0.993, 0.995, 0.998, 1.0),
    "header": (0.4, 0.474, 0.744, 0.837, 0.921, 0.959, 0.98, 0.99, 0.994, 0.998, 1.0),
    "print": (0.5, 0.575, 0.791, 0.846, 0.917, 0.96, 0.977, 0.987, 0.99, 0.995, 1.0),
    "cut10": (0.84, 0.852, 0.883, 0.888, 0.893, 0.899, 0.903, 0.91, 0.916, 0.977, 1.0),
}
"""The similarity of copies to their originals at each of `LEVELS`, of 381 texts."""
OTHERS = {
    "cut30": (0.6, 0.635, 0.674, 0.682, 0.691, 0.699, 0.706, 0.713, 0.733, 0.79, 0.79),
    "cut50": (0.4, 0.401, 0.466, 0.478, 0.49, 0.498, 0.506, 0.514, 0.53, 0.774, 0.79),
}
STEPS = (0.8, 0.85, 0.9, 0.95, 1.0)
AT_ONCE = 10_000
ADDRESS = len("http://site.example/a/usual/address/of/a/page/1234567")
PARAGRAPHS, WORDS, PAGES_OF_A_SITE, MOST_TEXTS = 10, 12, 1_000, 200_000


@dataclass
class MadePages:
    """Stands for the pages of a database, which are made again each time that they are read."""

    count: int
    seconds: float = 0.0
    """Processor time of making them."""
    original: Any = field(init=False)
    """For each page the page that it is made of."""
    likeness: Any = field(init=False)
    """How similar it is to that page; 1 for exact copies and pages of their own."""

    def __post_init__(self) -> None:
        chance = np.random.default_rng(1)
        copies, related = round(self.count * COPIES), round(self.count * RELATED)
        self.first = self.count - copies - related
        drawn = (self.first * chance.random(copies + related) ** POWER).astype(np.int32)
        self.original = np.concatenate([np.arange(self.first, dtype=np.int32), drawn])
        self.likeness = np.ones(self.count, np.float32)
        near = self.first + np.flatnonzero(chance.random(copies) >= EXACT)
        for pages, kinds in ((near, KINDS), (np.arange(self.count - related, self.count), OTHERS)):
            for number, quantiles in enumerate(kinds.values()):
                some = pages[number :: len(kinds)]
                self.likeness[some] = np.interp(chance.random(len(some)), LEVELS, quantiles)

    def pages(self, *_: Any) -> Iterator[StoredPage]:
        for at in range(0, self.count, AT_ONCE):
            started = time.thread_time()
            pages = self._made(np.arange(at, min(at + AT_ONCE, self.count)))
            self.seconds += time.thread_time() - started
            yield from pages

    def _made(self, numbers: Any) -> list[StoredPage]:
        chance = np.random.default_rng(int(numbers[0]))
        originals, likeness = self.original[numbers].astype(np.uint64), self.likeness[numbers]
        words = originals[:, None] * np.uint64(PERMUTATIONS) + np.arange(PERMUTATIONS // 4, dtype=np.uint64)
        places = _mixed(_mixed(words * np.uint64(0x9E3779B97F4A7C15))).view(np.uint16)
        changed = np.flatnonzero(likeness < 1)
        is_other = chance.random((len(changed), PERMUTATIONS), np.float32) >= likeness[changed, None]
        drawn = chance.integers(0, 1 << 16, is_other.shape, np.uint16)
        places[changed] = np.where(is_other, drawn, places[changed])
        same = np.where(likeness < 1, numbers.astype(np.uint64), originals) * np.uint64(0x9E3779B97F4A7C15)
        rows = zip(numbers.tolist(), same.tolist(), places, strict=True)
        return [
            StoredPage(
                number,
                {
                    "text_fingerprint": f"{fingerprint:016x}",
                    "signature": signature.tobytes(),
                    "text_owner": 1,
                    "url": f"http://site.example/a/usual/address/of/a/page/{number}",
                    "first_seen": f"2026-11-{1 + number // 864_000:02}T{number // 36_000 % 24:02}:"
                    f"{number // 600 % 60:02}:{number // 10 % 60:02}+00:00",
                },
            )
            for number, fingerprint, signature in rows
        ]

    def similarity(self, first: int, other: int) -> float:
        """How similar two pages were made."""
        if self.original[first] != self.original[other]:
            return 0.0
        return float(self.likeness[first] * self.likeness[other])


class Counted:
    """Counts the copies that are removed, by how similar they were made."""

    def __init__(self, source: MadePages) -> None:
        self.source = source
        self.is_removed = np.zeros(source.count, np.bool_)
        self.likeness = np.zeros(source.count, np.float32)

    def add(self, url: str, reason: RemovalReason) -> None:
        number, kept = (int(address.rpartition("/")[2]) for address in (url, reason.copy_of or ""))
        self.is_removed[number] = True
        self.likeness[number] = self.source.similarity(number, kept)

    def show(self) -> None:
        source = self.source
        is_copy = source.original != np.arange(source.count)
        shares = []
        for least, below in zip(STEPS, (*STEPS[1:], 2.0), strict=True):
            is_one = is_copy & (source.likeness >= least) & (source.likeness < below)
            name = "exact" if least == 1 else f"{least:.2f}"
            shares.append(f"{name}: {self.is_removed[is_one].mean():.4f} of {is_one.sum():,}")
        print(f"  found of copies by similarity, from: {'; '.join(shares)}")
        is_due = is_copy & (source.likeness >= NEAR)
        likeness = self.likeness[self.is_removed]
        print(
            f"  recall {self.is_removed[is_due].mean():.4f}; removed {len(likeness):,}, of which "
            f"{(likeness >= NEAR).mean():.4f} are {NEAR} similar or more to the page that stays, "
            f"{(likeness >= NEAR - 0.05).mean():.5f} {NEAR - 0.05:.2f} or more; the least {likeness.min():.2f}"
        )


def texts(count: int) -> Iterator[StoredPage]:
    """Pages of sites that repeat a paragraph."""
    for number in range(count):
        host = number // PAGES_OF_A_SITE
        own = [" ".join(f"{number}w{line}x{word}" for word in range(WORDS)) for line in range(PARAGRAPHS - 1)]
        box = " ".join(f"box{host}x{word}" for word in range(WORDS))
        yield StoredPage(number, {"url": f"http://site{host}.example/{number}", "text": "\n".join([*own, box])})


def memory() -> int:
    """The bytes of memory that this process has for itself, without files."""
    status = Path("/proc/self/status")
    match = re.search(r"RssAnon:\s+(\d+) kB", status.read_text() if status.exists() else "")
    return int(match[1]) * 1024 if match else 0


def peak_of(work: Callable[[], object]) -> int:
    """Do the work; the peak of the memory that it needs beside what there was."""
    before, ended = memory(), Event()

    def watch() -> int:
        most = before
        while not ended.wait(0.1):
            most = max(most, memory())
        return most

    with ThreadPoolExecutor(1) as pool:
        most = pool.submit(watch)
        try:
            work()
        finally:
            ended.set()
        return most.result() - before


def measure_copies(is_near: bool, count: int, folder: Path | None) -> None:
    source: Any = MadePages(count)
    counted: Any = Counted(source)
    search = CopySearch(is_near, Preference(), folder)
    started, began = time.process_time(), time.monotonic()
    peak = peak_of(lambda: without_copies(source, search, counted))
    cpu, passed = time.process_time() - started - source.seconds, time.monotonic() - began
    print(
        f"{'near' if is_near else 'exact'}: {cpu:,.0f} s of the processor, {1e6 * cpu / count:.0f} µs a page "
        f"({passed:,.0f} s with making the pages); memory {peak / 1e9:.2f} GB, {peak / count:.0f} bytes a page; "
        f"temporary files {(ROW.itemsize + ADDRESS) * count / 1e9:.1f} GB"
    )
    counted.show()


def measure_paragraphs(count: int) -> None:
    site_texts = list(texts(count))
    started = time.process_time()
    repeated_paragraphs(site_texts, None)
    cpu = time.process_time() - started
    tracemalloc.start()
    repeated_paragraphs(site_texts, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"paragraphs, {count:,} pages: {1e6 * cpu / count:.0f} µs a page; memory {peak / count:.0f} bytes a page; "
        f"temporary files {16 * PARAGRAPHS} bytes a page"
    )


def store(url: URL, count: int) -> None:
    """Have a crawl of these pages in the database."""
    engine = open_database(url)
    pages_left = MadePages(count).pages()
    with engine.begin() as connection:
        connection.execute(insert(crawl).values(id=1, name="crawl", seeds="[]", started_at=0.0))
        for rows in whole_export.rows(count):
            compared = [{name: value for name, value in next(pages_left).values.items() if name != "url"} for _ in rows]
            connection.execute(insert(page), [row | more for row, more in zip(rows, compared, strict=True)])
    engine.dispose()


def measure_command(count: int, place: Path | None) -> None:
    with TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        url = make_url(f"sqlite:///{folder / 'crawl.db'}")
        store(url, count)
        for words in ([], ["--dedupe", "exact"], ["--dedupe", "near"]):
            seconds, spent, size = whole_export.measured(folder, url, "jsonl", words)
            print(
                f"scrapy export {' '.join(words)}: {seconds:,.0f} s, {spent:,.0f} of the processor, {size:,.0f} MB of "
                "memory, with what of the temporary file is in it",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--folder", type=Path, help="where the temporary file is")
    parser.add_argument("--stored", action="store_true", help="store the pages, and measure the whole command")
    options = parser.parse_args()
    print(f"{machine()}\n{options.pages:,} pages", flush=True)
    if options.stored:
        measure_command(options.pages, options.folder)
        return
    for is_near in (False, True):
        measure_copies(is_near, options.pages, options.folder)
        sys.stdout.flush()
    measure_paragraphs(min(options.pages, MOST_TEXTS))


if __name__ == "__main__":
    main()
