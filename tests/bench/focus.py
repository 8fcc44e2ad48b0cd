"""How early a crawl finds the pages of its topic, beside simpler orders and beside the best possible one.

`python tests/bench/focus.py` takes the encyclopaedia of ../shared/data/wiki as a web. For each topic and draw, three of
the topic's pages are the seeds, and only they define the topic. It prints the share of the topic's pages that are among
the first tenth of all pages: the mean of the draws, and in brackets the lowest and the highest share. The orders are

- breadth-first;
- best-first: links first whose page and anchor text are similar to the seeds' texts, by the word statistics of the
  whole web;
- unlearned, ours: real crawls over HTTP, the first by unlearned.py; with --simulate Focus alone, which takes a second;
- oracle: knows all pages, but must follow links, and takes the shortest way to the next page of the topic.

`--chinese` crawls two Chinese sites for words instead: the share of the pages with the word among the first quarter.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE.parent / "support")]

import chinese
from crawls import asked_for, pages_of
from driven import focused
from orders import Vectors, best_first, breadth_first, oracle
from webs import PROCESSES, SHARED, Web, built, recall, web_of

from crawler.topic.link_scores import FocusOptions

TOPICS = "Science.Biology.Birds Geography.Natural_Disasters Design_and_Technology.Railway_transport Music".split()
ORDERS = "breadth-first best-first unlearned ours oracle".split()
CRAWLED = {"unlearned": {"SPIDER_MODULES": "crawler.spiders,tests.bench.unlearned"}, "ours": {}}
SEEDS = 3
SHARE = 0.1


class Job(NamedTuple):
    """One order from the seeds of one draw."""

    order: str
    topic: str
    draw: int


class Bench:
    """A web, and what is asked of all orders."""

    def __init__(self, site: Path, web: Web, settings: Mapping[str, str]) -> None:
        self.site, self.web, self.settings = site, web, settings
        self.pages = int(SHARE * len(web.categories))
        self._vectors: Vectors | None = None

    @property
    def vectors(self) -> Vectors:
        if self._vectors is None:
            self._vectors = Vectors(self.web)
        return self._vectors

    def seeds(self, job: Job) -> list[str]:
        return Random(f"{job.topic} {job.draw}").sample(sorted(self.web.about(job.topic)), SEEDS)

    def recall(self, job: Job, order: Iterator[str] | Sequence[str]) -> float:
        return recall(order, self.web.categories, self.web.about(job.topic), self.pages)

    def within_reach(self, job: Job) -> float:
        """The share of the topic's pages that links lead to, however late."""
        on_topic = self.web.about(job.topic)
        return len(on_topic.intersection(breadth_first(self.web, self.seeds(job)))) / len(on_topic)

    def simulated(self, job: Job) -> float:
        """The recall of an order that is worked out without a crawl."""
        web, seeds = self.web, self.seeds(job)
        if job.order == "breadth-first":
            return self.recall(job, breadth_first(web, seeds))
        if job.order == "best-first":
            return self.recall(job, best_first(web, seeds, self.vectors))
        if job.order == "oracle":
            return self.recall(job, oracle(web, seeds, web.about(job.topic)))
        return self.recall(job, focused(web, seeds, replace(manner(self.settings), learning=job.order != "unlearned")))

    def crawled(self, job: Job) -> float:
        """The recall of a real crawl; the pages that are none of the encyclopaedia come on top."""
        most = self.pages + len(self.web.pages) - len(self.web.categories)
        order = asked_for(pages_of(self.site), self.seeds(job), most, self.settings | CRAWLED[job.order])
        return self.recall(job, order)


def manner(settings: Mapping[str, str]) -> FocusOptions:
    """The settings as Focus alone knows them."""
    known_options = {f"FOCUS_{part.name.upper()}": part for part in fields(FocusOptions)}
    if unknown := settings.keys() - known_options.keys():
        sys.exit(
            f"Without a crawl there are the settings {', '.join(known_options)}, and no {', '.join(sorted(unknown))}."
        )
    values = {}
    for name, value in settings.items():
        option = known_options[name]
        values[option.name] = _value(value, option.default)
    return FocusOptions(**values)


def _value(value: str, default: Any) -> Any:
    return value.casefold() in ("true", "1") if isinstance(default, bool) else type(default)(value)


_bench: Bench


def _start(bench: Bench) -> None:
    global _bench
    _bench = bench


def _simulate(job: Job) -> float:
    return _bench.simulated(job)


def measured(bench: Bench, jobs: Sequence[Job], simulate: bool) -> Iterator[tuple[Job, float]]:
    """The recall of each, real crawls one after the other."""
    alone = [job for job in jobs if simulate or job.order not in CRAWLED]
    if alone:
        with ProcessPoolExecutor(PROCESSES, get_context("spawn"), _start, (bench,)) as pool:
            yield from zip(alone, pool.map(_simulate, alone), strict=True)
    for job in jobs:
        if job not in alone:
            yield job, bench.crawled(job)


def table(recalls_by_job: Mapping[Job, float], orders: Sequence[str], topics: Sequence[str]) -> Iterator[str]:
    """The orders side by side."""
    yield f"{'':40}" + "".join(f"{order:>20}" for order in orders)
    means: dict[str, list[float]] = {order: [] for order in orders}
    for topic in topics:
        cells = []
        for order in orders:
            recalls = [value for job, value in recalls_by_job.items() if (job.order, job.topic) == (order, topic)]
            means[order].append(mean(recalls))
            cells.append(f"{mean(recalls):.3f} ({min(recalls):.2f}-{max(recalls):.2f})")
        yield f"{topic:40}" + "".join(f"{cell:>20}" for cell in cells)
    yield f"{'mean':40}" + "".join(f"{f'{mean(values):.3f}            ':>20}" for values in means.values())


def setting(text: str) -> tuple[str, str]:
    """A setting's name and value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def options() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--site", type=Path, help="the encyclopaedia as wikiweb.py built it; else it is built anew")
    parser.add_argument("--topics", nargs="+", default=TOPICS, metavar="CATEGORY", help="categories (four)")
    parser.add_argument("--draws", type=int, default=5, help="so many times other seeds (5)")
    parser.add_argument("--only", nargs="+", default=ORDERS, choices=ORDERS, metavar="ORDER", help=", ".join(ORDERS))
    parser.add_argument(
        "--settings", nargs="+", default=[], type=setting, metavar="NAME=VALUE", help="of ours, unlearned"
    )
    parser.add_argument("--simulate", action="store_true", help="drive Focus alone instead of crawling")
    parser.add_argument("--cache", type=Path, help="a folder that keeps what is read of the web for the next time")
    parser.add_argument("--chinese", action="store_true", help="crawl Chinese sites instead")
    return parser.parse_args()


def main() -> None:
    opts = options()
    settings = dict(opts.settings)
    if opts.chinese:
        orders = {name: settings | CRAWLED[name] for name in opts.only if name in CRAWLED}
        if not orders:
            sys.exit(f"Of Chinese sites there are the orders {', '.join(CRAWLED)}.")
        print("\n".join(chinese.table(SHARED, orders)))
        return
    jobs = [Job(o, topic, draw) for o in opts.only for topic in opts.topics for draw in range(opts.draws)]
    with built(opts.site) as site:
        bench = Bench(site.resolve(), web_of(site, opts.cache), settings)
        started, recalls = time.monotonic(), {}
        for job, value in measured(bench, jobs, opts.simulate):
            recalls[job] = value
            print(f"{job.order} {job.topic} {job.draw}: {value:.3f}", file=sys.stderr)
    print(f"{len(jobs)} crawls of {bench.pages} pages, {time.monotonic() - started:.0f} seconds\n")
    print("\n".join(table(recalls, opts.only, opts.topics)))
    print(f"\nFrom these seeds links lead to {mean(map(bench.within_reach, jobs)):.3f} of the topics' pages.")


if __name__ == "__main__":
    main()
