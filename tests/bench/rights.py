"""What reading the rights to a page costs, beside extracting its text, on the pages of a site.

`python tests/bench/rights.py [FOLDER] [--pages N]` reads the HTML of FOLDER, or of a made-up site of N pages, as a
crawl does: with a robots.txt that has signals, without headers, and with the two texts of JSON that the item and the
database need. Each figure is the least of five rounds.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from synthetic import site_of

from crawler.extraction import EXTRACTORS
from crawler.page.page import Page
from crawler.rights.page_rights import SiteFiles, read_rights
from crawler.rights.robots_file import read_robots

ROBOTS = """User-agent: *
Disallow: /admin
Disallow: /*?s=
Content-Signal: search=yes, ai-train=no

User-agent: GPTBot
User-agent: CCBot
Disallow: /
"""
URL = "http://a.example/"
ROUNDS = 5


def least(work: Callable[[Page], object], fresh: Callable[[], Sequence[Page]]) -> float:
    """Microseconds of work for a page, in the fastest round; the pages are parsed before."""
    rounds = []
    for _ in range(ROUNDS):
        pages = fresh()
        begin = time.process_time()
        for page in pages:
            work(page)
        rounds.append(1e6 * (time.process_time() - begin) / len(pages))
    return min(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="static HTML; else a site is made up")
    parser.add_argument("--pages", type=int, default=300, help="pages of the made-up site (300)")
    options = parser.parse_args()
    files = SiteFiles(read_robots(ROBOTS.encode(), f"{URL}robots.txt", "now"))
    with site_of(options.folder, options.pages) as site:
        sources = [path.read_bytes() for path in sorted(Path(site).rglob("*.html"))[: options.pages]]

    def rights(page: Page) -> None:
        field = read_rights(page, {}, files).field("now")
        json.dumps(field), json.dumps(field)

    def parsed() -> list[Page]:
        pages = [Page(URL, source, "text/html; charset=utf-8") for source in sources]
        for page in pages:
            assert page.links is not None and page.images is not None and page.head is not None  # noqa: PT018
            assert page.meta is not None and page.robots is not None  # noqa: PT018
        return pages

    def whole(page: Page) -> None:
        page.once(EXTRACTORS["auto"])

    def unparsed() -> list[Page]:
        return [Page(URL, source, "text/html; charset=utf-8") for source in sources]

    cost, text = least(rights, parsed), least(whole, unparsed)
    size = sum(map(len, sources)) / len(sources) / 1000
    print(f"{len(sources)} pages of {size:.0f} KB: rights {cost:.0f} us a page, text {text:.0f} us; {cost / text:.2%}")


if __name__ == "__main__":
    main()
