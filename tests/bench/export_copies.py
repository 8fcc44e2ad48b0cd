"""What `scrapy export --dedupe` takes of memory, disk and time, and how many copies it finds.

`python tests/bench/export_copies.py [--pages N]` makes N signatures and fingerprints, by default 200,000, in three
mixes: no copies, a fifth copies of others, and half copies. Of the copies, a quarter each are exact and agree in 122,
115 and 109 of 128 places (.95, .9, .85). It runs `--dedupe near` over them, twice: once for the time, once for the
peak of memory. Then the same for `--dedupe paragraphs`, with 10 paragraphs a page, one of which its site repeats.
Ten million pages are taken to need as much for each page.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]

import numpy as np
from throughput import machine

from crawler.export.copies import ROW, CopySearch, Preference, without_copies
from crawler.export.paragraphs import repeated_paragraphs
from crawler.export.selection import Reason
from crawler.recrawl.near_duplicates import PERMUTATIONS
from crawler.reports.stored_pages import StoredPage

AGREEING = (PERMUTATIONS, 122, 115, 109)
SHARES = (0.0, 0.2, 0.5)
MANY = 10_000_000
PARAGRAPHS, WORDS, PAGES_OF_A_SITE = 10, 12, 1_000


@dataclass(frozen=True)
class MadePages:
    """Stands for the pages of a database: copies of earlier ones with this probability."""

    count: int
    share: float

    @property
    def crawls(self) -> tuple["MadePages", ...]:
        return (self,)

    def urls(self, keys: list[int]) -> dict[int, str]:
        return {key: f"http://site.example/{key}" for key in keys}

    def pages(self, *_: Any) -> list[StoredPage]:
        return self.made

    @cached_property
    def made(self) -> list[StoredPage]:
        return list(self._made())

    def _made(self) -> Iterator[StoredPage]:
        chance = np.random.default_rng(1)
        first = round(self.count * (1 - self.share))
        for number in range(self.count):
            original = number if number < first else int(chance.integers(first))
            places = np.random.default_rng((2, original)).integers(0, 1 << 16, PERMUTATIONS, np.uint16)
            agreeing = AGREEING[number % len(AGREEING)] if original != number else PERMUTATIONS
            others = chance.permutation(PERMUTATIONS)[agreeing:]
            places[others] ^= chance.integers(1, 1 << 16, len(others), np.uint16)
            same = original if agreeing == PERMUTATIONS else number
            values = {
                "text_fingerprint": f"{same * 0x9E3779B97F4A7C15 % 2**64:016x}",
                "signature": places.tobytes(),
                "url": f"http://site.example/{number}",
                "first_seen": f"2026-11-22T12:{number // 60_000 % 60:02}:{number // 1000 % 60:02}+00:00",
            }
            yield StoredPage(number, values)


class Counted:
    """Counts the copies that are removed, by how similar they were made."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.right = dict.fromkeys(AGREEING, 0)
        self.wrong = 0

    def add(self, url: str, reason: Reason) -> None:
        number = int(url.rpartition("/")[2])
        if number < self.first:
            self.wrong += 1
        else:
            self.right[AGREEING[number % len(AGREEING)]] += 1


def texts(count: int) -> Iterator[StoredPage]:
    """Pages of sites that repeat a paragraph."""
    for number in range(count):
        host = number // PAGES_OF_A_SITE
        own = [" ".join(f"{number}w{line}x{word}" for word in range(WORDS)) for line in range(PARAGRAPHS - 1)]
        box = " ".join(f"box{host}x{word}" for word in range(WORDS))
        yield StoredPage(number, {"url": f"http://site{host}.example/{number}", "text": "\n".join([*own, box])})


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the processor, and the peak of memory in bytes."""
    started = time.process_time()
    work()
    taken = time.process_time() - started
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return taken, peak


def show(name: str, count: int, result: tuple[float, float], disk: float) -> None:
    taken, peak = result
    print(
        f"{name}: {1e6 * taken / count:.0f} µs a page; memory {peak / count:.0f} bytes a page, "
        f"{peak / count * MANY / 1e9:.1f} GB for ten million; temporary files {disk:.0f} bytes a page, "
        f"{disk * MANY / 1e9:.1f} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=200_000)
    count = parser.parse_args().pages
    print(f"{machine()}\n{count:,} pages")
    for share in SHARES:
        source: Any = MadePages(count, share)
        found: Any = Counted(round(count * (1 - share)))
        search = CopySearch(True, Preference())
        source.pages()
        result = measured(lambda: without_copies(source, search, found))  # noqa: B023 - called at once
        show(f"near, {share:.0%} copies", count, result, ROW.itemsize)
        of_each = count * share / len(AGREEING) * 2  # it ran twice
        if share:
            recall = [
                f"{agreeing / PERMUTATIONS:.2f}: {right / of_each:.4f}" for agreeing, right in found.right.items()
            ]
            print(f"  found of copies by similarity: {', '.join(recall)}; others removed: {found.wrong // 2}")
    made = list(texts(count))
    result = measured(lambda: repeated_paragraphs(made, None))
    show("paragraphs", count, result, 16 * PARAGRAPHS)


if __name__ == "__main__":
    main()
