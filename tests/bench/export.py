"""The time and memory of `scrapy export` for few pages and for many, and how much it slows down a crawl beside it.

`python tests/bench/export.py` fills a SQLite database with 1,000 pages, then with 1,000,000, with texts of 1,500
characters each, and exports them in each format in a separate process. Then it measures how many pages a second a
worker stores, alone and while an export runs. `--folder` is the folder for all this (some 5 GB), `--state-url` an empty
PostgreSQL database to use instead.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crawler.frontier.page_result import AddressKind

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

from sites import environment
from sqlalchemy import Engine, insert
from sqlalchemy.engine import URL, make_url
from throughput import machine

from crawler.frontier.batch import Batch, ClaimRequest
from crawler.frontier.page_result import Candidate, Completion, PageResult
from crawler.items import PageItem
from crawler.store.crawl_tables import crawl, tables
from crawler.store.database import open_database
from crawler.store.page_tables import page
from crawler.store.worker_session import CrawlPlan, WorkerSession
from crawler.urls.canonical import Canonical

LENGTH, AT_ONCE = 1_500, 5_000
NAMES = {"jsonl": "a.jsonl", "csv": "a.csv", "parquet": "a.parquet", "warc": "a.warc.gz", "markdown": "pages/"}
SEED = "http://seed.example/"
# A process counts as its own the memory of the one that started it: this one has hardly any.
SMALL = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def rows(count: int) -> Iterator[list[dict[str, Any]]]:
    """Rows of the table of pages, in batches."""
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randrange(2, 9))) for _ in range(3_000)]
    speech = " ".join(chance.choices(words, k=60_000))
    for first in range(0, count, AT_ONCE):
        page_rows = []
        for number in range(first, min(count, first + AT_ONCE)):
            url, at = f"http://site{number % 500}.example/page/{number}", chance.randrange(len(speech) - LENGTH)
            item = asdict(PageItem(url, url, "2026-11-22T12:00:00+00:00", 200, 3, SEED, "en", f"Page {number}"))
            page_rows.append(item | {"text": speech[at : at + LENGTH], "images": "[]", "key": number, "crawl_id": 1})
        yield page_rows


def fill(engine: Engine, count: int) -> None:
    """Replace the content of the database by a crawl of so many pages."""
    with engine.begin() as connection:
        for table in reversed(tables.sorted_tables):
            if table.name != "winnow_state":
                connection.execute(table.delete())
        connection.execute(insert(crawl).values(id=1, name="crawl", seeds="[]", started_at=0.0))
        for some in rows(count):
            connection.execute(insert(page), some)


def export(folder: Path, url: URL, kind: str, more: Sequence[str] = ()) -> "subprocess.Popen[str]":
    """A running export, which prints its exit status, CPU seconds and memory at its end."""
    words = [sys.executable, "-m", "scrapy", "export", "--name", "crawl", "-o", NAMES[kind], *more]
    words += ["-s", f"STATE_URL={url.render_as_string(hide_password=False)}"]
    line = [sys.executable, "-c", SMALL, *words]
    return subprocess.Popen(line, cwd=folder, env=environment(), encoding="ascii", stdout=subprocess.PIPE)


def measured(folder: Path, url: URL, kind: str, more: Sequence[str] = ()) -> tuple[float, float, float]:
    """The wall-clock seconds, CPU seconds and MB of memory of an export."""
    began = time.monotonic()
    output, _ = export(folder, url, kind, more).communicate()
    status, spent, size = output.split()
    if status != "0":
        raise ChildProcessError(f"{kind}: {status}")
    return time.monotonic() - began, float(spent), int(size) / 1024


def stored(url: URL, folder: Path, seconds: float, name: str) -> float:
    """Pages a second that a worker stores by itself, with ten links each."""
    plan = CrawlPlan(name, folder=folder / name, seeds=(SEED,), site_limit=10**6, canonical=Canonical(()))
    session, count, began = WorkerSession(open_database(url), plan), 0, time.monotonic()
    session.seed([Candidate(SEED, kind=AddressKind.SEED)])
    leases = session.committer.commit(Batch(demand=ClaimRequest(1_000, 1_000, 1_000))).leases
    while time.monotonic() - began < seconds and leases:
        ended = []
        for lease in leases:
            links = tuple(Candidate(f"http://s{count % 40}.example/{count}/{n}", 5, 1) for n in range(10))
            here = lease.candidate.url
            item = asdict(PageItem(here, here, "2026-11-22T12:00:00+00:00", 200, 0, None, text="Bees. " * 250))
            ended.append(Completion(lease, PageResult(record=item, links=links)))
            count += 1
        session.committer.commit(
            Batch(ended, rests_of_dropped_hosts=dict.fromkeys((lease.host_id for lease in leases), 0.0))
        )
        leases = session.committer.commit(Batch(demand=ClaimRequest(50, 50, 50))).leases
    session.leave()
    return count / (time.monotonic() - began)


def beside(folder: Path, url: URL, seconds: float) -> tuple[float, float]:
    """Pages a second that a worker stores alone, and while one export after the other runs."""
    alone = stored(url, folder, seconds, "alone")
    running = export(folder, url, "jsonl")
    with_export = stored(url, folder, seconds, "beside")
    if running.poll() is not None:
        print("(the export ended before the worker did: with fewer seconds it would not)")
    running.wait()
    return alone, with_export


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument("--formats", nargs="+", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--seconds", type=float, default=8.0, help="that a worker stores pages for; 0: none does")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--state-url")
    options = parser.parse_args()
    print(f"{machine()}\n\n{'pages':>10}  {'format':10}{'seconds':>9}{'processor':>11}{'MB':>7}")
    with TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        url = make_url(options.state_url or f"sqlite:///{folder / 'crawl.db'}")
        engine = open_database(url)
        for count in options.pages:
            fill(engine, count)
            for kind in options.formats:
                seconds, spent, size = measured(folder, url, kind)
                print(f"{count:10,}  {kind:10}{seconds:9.1f}{spent:11.1f}{size:7.0f}", flush=True)
                shutil.rmtree(folder / "pages", ignore_errors=True)
        if options.seconds:
            alone, shared = beside(folder, url, options.seconds)
            print(f"\nstored a second: {alone:.0f} pages alone, {shared:.0f} beside an export of {count:,}")
        engine.dispose()


if __name__ == "__main__":
    main()
