"""What it costs to keep the responses of pages: CPU, pages a second, and the size of the database.

`python tests/bench/kept_responses.py [FOLDER] [--pages N] [--runs K]` crawls FOLDER, a folder of HTML reached from its
index.html, or else a made-up site of N pages, by topic without and with stored responses. The two take turns, and the
ratio of neighbours is what counts on a machine that has other work.
"""

import argparse
import sys
from pathlib import Path
from statistics import median

from synthetic import site_of
from throughput import TOPIC, Run, crawl, machine

CRAWLERS = {"none": [*TOPIC, "-s", "KEEP_RESPONSES=0"], "kept": TOPIC}
FIGURES = {
    "pages a second": lambda run: run.rate,
    "CPU milliseconds a page, with the start": lambda run: 1000 * run.cpu / len(run.pages),
    "peak memory, MB": lambda run: run.memory,
    "database, bytes a page": lambda run: run.database / len(run.pages),
}


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
            print(f"run {number + 1}: {', '.join(f'{made[-1].rate:.1f}' for made in done.values())}", file=sys.stderr)
        size = median(path.stat().st_size for path in site.rglob("*.html"))
    print(f"\n{machine()}\n{len(done['kept'][0].pages):,} pages of {size:,.0f} bytes, {options.runs} runs of each\n")
    for figure, value in FIGURES.items():
        none, kept = ([value(run) for run in done[name]] for name in CRAWLERS)
        ratios = sorted(with_it / without for without, with_it in zip(none, kept, strict=True))
        spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
        print(f"{figure:42}{median(none):12,.2f}{median(kept):12,.2f}   ratio {median(ratios):.3f} ({spread})")


if __name__ == "__main__":
    main()
