"""What it costs to store the responses of pages: CPU, pages a second, memory, and the size of the database.

`python tests/bench/kept_responses.py [FOLDER] [--pages N] [--runs K]` crawls FOLDER, a folder of HTML reached from its
index.html, or else a made-up site of N pages, by topic without and with stored responses. The two take turns, because
on a machine with other work only the ratio of neighbouring runs is reliable. Even this ratio is uncertain by some per
cent for CPU time. So the work for the responses is also measured by itself, in batches into SQLite.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time, thread_time

from scrapy.http import HtmlResponse, Request
from sqlalchemy import insert
from sqlalchemy.engine import make_url
from synthetic import site_of
from throughput import FAST_TOPIC, Run, crawl, machine

from crawler import settings
from crawler.frontier.page_result import Candidate, Completion, Lease, PageResult, StoredResponse, raw_digest
from crawler.spiders.page_reader import stored_response
from crawler.store import crawl_tables
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.responses import Responses
from crawler.store.database import open_database
from crawler.urls.canonical import Canonical

CRAWLERS = {"none": [*FAST_TOPIC, "-s", "KEEP_RESPONSES=0"], "kept": FAST_TOPIC}
FIGURES: dict[str, Callable[[Run], float]] = {
    "pages a second": lambda run: run.rate,
    "CPU milliseconds a page, with the start": lambda run: 1000 * run.cpu / len(run.pages),
    "peak memory, MB": lambda run: run.memory,
    "database, bytes a page": lambda run: run.database / len(run.pages),
}
BATCH = 20  # pages that a crawl commits together
HEADERS = {"Content-Type": "text/html", "Server": "nginx", "Date": "Fri, 27 Nov 2026 20:25:01 GMT", "ETag": '"1"'}


def alone(bodies: list[bytes]) -> tuple[float, float, float]:
    """CPU milliseconds a page in the crawl's thread and in the database's, and bytes of a compressed body."""
    with TemporaryDirectory(prefix="kept-responses-") as folder:
        engine = open_database(make_url(f"sqlite:///{folder}/crawl.db"))
        with engine.begin() as connection:
            connection.execute(insert(crawl_tables.crawl).values(id=1, name="a", seeds="[]", started_at=0.0))
        responses = Responses(1, AddressKeys(1, Canonical(settings.IGNORED_PARAMETERS)))
        urls = [f"http://a.example/{number}" for number in range(len(bodies))]
        came = [
            HtmlResponse(url, body=body, headers=HEADERS, request=Request(url, headers={"User-Agent": "Winnow"}))
            for url, body in zip(urls, bodies, strict=True)
        ]
        began = thread_time()
        read = [(stored_response(response), raw_digest(response.body)) for response in came]
        in_crawl = thread_time() - began
        ended = [_ended(number, urls[number], response) for number, (response, _) in enumerate(read)]
        began, size = process_time(), 0
        for at in range(0, len(ended), BATCH):
            responses.compress(ended[at : at + BATCH])
            with engine.begin() as connection:
                packed = responses.pack(connection, ended[at : at + BATCH])
                responses.save(connection, packed)
            responses.committed()
            size += sum(len(row["body"]) for row in packed.rows.values())
        in_database = process_time() - began
        engine.dispose()
    return 1000 * in_crawl / len(bodies), 1000 * in_database / len(bodies), size / len(bodies)


def _ended(number: int, url: str, response: StoredResponse) -> Completion:
    result = PageResult(record={"fetched_at": "2026-11-27T20:25:02+00:00"}, response=response)
    return Completion(Lease(number, Candidate(url), 1, 1), result)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="static HTML with an index.html; else a site is made up")
    parser.add_argument("--pages", type=int, default=300, help="pages of the made-up site (300)")
    parser.add_argument("--runs", type=int, default=8, help="crawls by each (8)")
    options = parser.parse_args()
    done: dict[str, list[Run]] = {name: [] for name in CRAWLERS}
    with site_of(options.folder, options.pages) as site:
        for number in range(options.runs):
            # A, B, B, A: neither is always the second.
            for name in list(CRAWLERS)[:: 1 if number % 2 else -1]:
                done[name].append(crawl(site, CRAWLERS[name], timeout=600))
            print(f"run {number + 1}: {', '.join(f'{runs[-1].rate:.1f}' for runs in done.values())}", file=sys.stderr)
        bodies = [path.read_bytes() for path in sorted(site.rglob("*.html"))]
    costs = [median(values) for values in zip(*(alone(bodies) for _ in range(5)), strict=True)]
    print(f"\n{machine()}\n{len(bodies):,} pages of {sum(map(len, bodies)) / len(bodies):,.0f} bytes on average\n")
    for figure, value in FIGURES.items() if options.runs else ():
        none, kept = ([value(run) for run in done[name]] for name in CRAWLERS)
        ratios = sorted(with_it / without for without, with_it in zip(none, kept, strict=True))
        spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
        print(f"{figure:42}{median(none):12,.2f}{median(kept):12,.2f}   ratio {median(ratios):.3f} ({spread})")
    sentence = (
        "By itself: {:.3f} ms a page in the crawl's thread, {:.3f} ms in the database's; {:,.0f} bytes compressed"
    )
    print(sentence.format(*costs))


if __name__ == "__main__":
    main()
