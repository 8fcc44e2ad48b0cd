"""How many saved pages are taken for walls against robots, and how long the check takes for a page.

`python walls.py [--data FOLDER]` reads the sets of saved pages in the folders extraction, sites and unmarked of FOLDER,
by default WINNOW_DATA, as if each had been answered with status 200. It lists each page that is taken for a wall, with
its title, for a person to check: some saved pages may be walls. The times are the median and the 99th percentile, and
include parsing if the check needs the text.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from training_sets import DATA, rows

from crawler.page.page import Page
from crawler.page.walls import wall_service

FOLDERS = ("extraction", "sites", "unmarked")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    folder = parser.parse_args().data
    times: list[float] = []
    total = walls = 0
    for path in (path for name in FOLDERS for path in sorted((folder / name).glob("*.jsonl.xz"))):
        pages = refused = 0
        for row in rows(path):
            page = Page.from_html(row["html"], row.get("url") or "")
            start = time.perf_counter()
            service = wall_service(200, {}, page)
            times.append(time.perf_counter() - start)
            pages += 1
            if service:
                refused += 1
                print(f"  {service}: {row['id']} {row.get('url')} {page.title[:80]!r}")
        print(f"{path.parent.name}/{path.stem}: {refused} of {pages} pages are taken for walls")
        total, walls = total + pages, walls + refused
    slow = statistics.quantiles(times, n=100)[98]
    usual = statistics.median(times)
    print(f"{walls} of {total} pages; {usual * 1e6:.0f} us a page, 99th percentile {slow * 1e6:.0f} us")


if __name__ == "__main__":
    main()
