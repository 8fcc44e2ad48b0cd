"""How quickly the dashboard answers and searches, and what it costs a crawl: `python tests/bench/dashboard.py [PART]`.

answers  the time of each page of the dashboard, with each filter and on its next pages, over a database of a million
         pages that is made first (tests/support/million_pages.py), in the folder of --keep or in a temporary one. The
         exit status is 1 if an answer takes longer than --limit on a later request. A request is repeated, and counted,
         if the host of a virtual machine gave its processors to others meanwhile. --postgres: on a private PostgreSQL
search   how long it takes to search all pages of that database for a word, answer after answer, as a browser requests
         them that continues by itself
corpus   how long the numbers of the corpus views take over that database, which are computed in the background
crawl    pages a second of a crawl beside a dashboard with three visitors, each of whom sends a request a second, and
         of the same crawl alone
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE.parent / "support")]

import dashboard_requests
import dashboards
import million_pages
import postgres
from made_up_texts import ABSENT, COMMON, RARE
from server import serving
from sqlalchemy import make_url
from sqlalchemy.engine import URL
from state import in_turns, ratios
from synthetic import site_of
from throughput import FAST_TOPIC, _finish, machine

from crawler.contrib.corpus.views.copy_clusters import corpus_copies
from crawler.contrib.corpus.views.corpus_pages import sampled_ids
from crawler.contrib.corpus.views.export_form import ExportForm, pages_left
from crawler.contrib.corpus.views.quality_sample import corpus_quality
from crawler.contrib.corpus.views.rights_shares import corpus_rights
from crawler.store.batch.addresses import AddressKeys
from crawler.store.read_only import reading

VISITORS, EACH = 3, 1.0
LOOKED_AT = ("/", "/crawls/1", "/api/crawls/1/course", "/pages?q=river")
LOOKED_FOR = (ABSENT, *RARE, COMMON)


def answers(options: argparse.Namespace) -> int:
    """Print how long each address takes; the exit status."""
    with ExitStack() as block:
        url, output = block.enter_context(database(options))
        with reading(url) as connection:
            facts = dashboard_requests.facts(connection)
        dashboard = block.enter_context(dashboards.running(output, "-s", f"STATE_URL={url_text(url)}"))
        file = output / "crawl.db" if url.drivername == "sqlite" else None
        print(f"\n{machine()}; {options.pages:,} pages in {url.drivername}, each address {options.times} times\n")
        print(dashboard_requests.HEADING)
        timings = []
        firsts = [address for address in dashboard_requests.addresses(facts) if options.only in address]
        limits = dashboard_requests.Limits(options.times, options.limit, file)
        for timing in dashboard_requests.all_timed(
            dashboard_requests.Asker(dashboard.address, dashboard.pid), firsts, limits
        ):
            timings.append(timing)
            print(dashboard_requests.shown(timing), flush=True)
    slow = sorted((timing for timing in timings if timing.worst > options.limit), key=lambda timing: -timing.worst)
    wrong = [timing for timing in timings if timing.status >= 500]
    usual, cold = sorted(timing.usual for timing in timings), sorted(timing.cold for timing in timings)
    cpu = sorted(timing.cpu or 0.0 for timing in timings)
    print(f"\n{len(timings)} addresses: usually {median(usual):.0f} ms, at most {usual[-1]:.0f}; ", end="")
    print(f"cold {median(cold):.0f}, at most {cold[-1]:.0f}; ", end="")
    print(
        f"of the processor {median(cpu):.0f}, at most {cpu[-1]:.0f}. Over {options.limit:g} ms at worst: {len(slow)}."
    )
    if again := sum(timing.again for timing in timings):
        print(f"Asked for again, because the machine's host kept its processors for others in late answers: {again}.")
    for timing in [*slow, *wrong]:
        print(dashboard_requests.shown(timing))
    return 1 if slow or wrong else 0


def search(options: argparse.Namespace) -> int:
    """Print how long it takes to look for words in all pages; the exit status."""
    with ExitStack() as block:
        url, output = block.enter_context(database(options))
        dashboard = block.enter_context(dashboards.running(output, "-s", f"STATE_URL={url_text(url)}"))
        asker = dashboard_requests.Asker(dashboard.address)
        print(f"\n{machine()}; {options.pages:,} pages in {url.drivername}\n")
        for word in LOOKED_FOR:
            begun, slowest, answers, after = time.perf_counter(), 0.0, 0, ""
            while after is not None:
                _, body, took = asker.ask(f"/api/pages?crawl=million&q={word}&after={after}")
                found = json.loads(body)
                slowest, answers, after = max(slowest, took), answers + 1, found["after"]
            seconds = time.perf_counter() - begun
            print(f"{word}: {found['found']:,} of {found['looked']:,} pages in {seconds:.0f} s, ", end="")
            print(f"{answers:,} answers, the slowest {slowest:.0f} ms", flush=True)
    return 0


@contextmanager
def database(options: argparse.Namespace) -> Iterator[tuple[URL, Path]]:
    """Where the pages are, and the folder of output; made if they are not there yet."""
    with ExitStack() as block:
        output = options.keep or Path(block.enter_context(TemporaryDirectory(prefix="million-")))
        output.mkdir(parents=True, exist_ok=True)
        if options.postgres:
            url = make_url(block.enter_context(postgres.running("on")).database())
        else:
            url = URL.create("sqlite", database=str(output / "crawl.db"))
        if options.postgres or not (output / "crawl.db").exists():
            million_pages.make(url, output, options.pages)
        elif options.renew:
            million_pages.renew(url)
        yield url, output


def url_text(url: URL) -> str:
    return url.render_as_string(hide_password=False) if url.drivername != "sqlite" else ""


def corpus(options: argparse.Namespace) -> int:
    """Print how long each number of the corpus views takes; the exit status."""
    form = ExportForm(million_pages.NAME, where="quality.words > 100 and relevance > 0.5", keep=("gopher",))
    numbers = {
        "rights": lambda connection: corpus_rights(connection, 1),
        "quality": lambda connection: corpus_quality(connection, 1),
        "copies": lambda connection: corpus_copies(connection, AddressKeys(1, str), 1),
        "sample": lambda connection: sampled_ids(connection, 1, 1_001),
        "pages left": lambda connection: pages_left(connection, sampled, form),
    }
    with database(options) as (url, _):
        print(f"\n{machine()}; {options.pages:,} pages in {url.drivername}, each number {options.times} times\n")
        with reading(url, one_process=True) as connection:
            sampled = sampled_ids(connection, 1, 1_001)
            for name, compute in numbers.items():
                took = []
                for _ in range(options.times):
                    begun = time.perf_counter()
                    compute(connection)
                    took.append(1_000 * (time.perf_counter() - begun))
                print(f"{name:12} usually {median(took):8,.0f} ms, at most {max(took):8,.0f}", flush=True)
    return 0


def crawl(options: argparse.Namespace) -> int:
    """Print what a dashboard that is looked at costs a crawl; the exit status."""
    rates: tuple[list[float], list[float]] = [], []
    looks = []
    with site_of(None, options.site_pages) as site:
        for pair in in_turns(options.runs):
            for which in pair:
                rate, looked = one_crawl(site, watched=which == 0)
                rates[which].append(rate)
                looks.append(looked)
            print(f"looked at {rates[0][-1]:.1f} pages/s, alone {rates[1][-1]:.1f}", file=sys.stderr)
    print(f"\n{machine()}; a made-up site of {options.site_pages:,} pages, {options.runs} pairs of crawls")
    print(
        f"looked at {median(rates[0]):.1f} pages/s ({max(looks)} answers a crawl), alone {median(rates[1]):.1f}, ",
        end="",
    )
    print(f"looked at / alone, pair by pair: {ratios(*rates)}")
    return 0


def one_crawl(site: Path, watched: bool) -> tuple[float, int]:
    """Pages a second of one crawl, and how many answers visitors got."""
    with TemporaryDirectory(prefix="dashboard-") as name, ExitStack() as block:
        folder, looks = Path(name), [0]
        (folder / "output").mkdir()
        port, got = block.enter_context(serving(site))
        if watched:
            looks = block.enter_context(visited(block.enter_context(dashboards.dashboard(folder / "output"))))
        line = [sys.executable, "-m", "scrapy", *(word.format(f"http://127.0.0.1:{port}/") for word in FAST_TOPIC)]
        _finish(line, folder, 900.0)
    return len(got.pages) / got.seconds, looks[0]


@contextmanager
def visited(address: str) -> Iterator[list[int]]:
    """Visitors who ask for their pages each second until the block ends, and how many answers they got."""
    ended, looks = threading.Event(), [0]

    def visit() -> None:
        asker, number = dashboard_requests.Asker(address), 0
        while not ended.wait(EACH):
            with suppress(OSError, HTTPException):
                looks[0] += asker.ask(LOOKED_AT[number % len(LOOKED_AT)])[0] == 200
            number += 1
        asker.connection.close()

    threads = [threading.Thread(target=visit) for _ in range(VISITORS)]
    for thread in threads:
        thread.start()
        time.sleep(EACH / VISITORS)
    try:
        yield looks
    finally:
        ended.set()
        for thread in threads:
            thread.join()


PARTS = {"answers": answers, "search": search, "corpus": corpus, "crawl": crawl}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--pages", type=int, default=1_000_000, help="pages of the database (1000000)")
    parser.add_argument("--keep", type=Path, help="folder of the database, which is made once and left there")
    parser.add_argument("--renew", action="store_true", help="give a database that was kept the indexes of today")
    parser.add_argument("--postgres", action="store_true", help="on a private PostgreSQL, which is made each time")
    parser.add_argument("--times", type=int, default=5, help="that each address is asked for once it is warm (5)")
    parser.add_argument("--limit", type=float, default=200.0, help="milliseconds an answer may take (200)")
    parser.add_argument("--only", default="", metavar="PART", help="addresses in which this stands")
    parser.add_argument("--site-pages", type=int, default=1_000, help="pages of the site that is crawled (1000)")
    parser.add_argument("--runs", type=int, default=4, help="pairs of crawls (4)")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    sys.exit(max([PARTS[name](options) for name in options.parts or PARTS]))


if __name__ == "__main__":
    main()
