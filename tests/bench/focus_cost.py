"""What the choice of links costs: milliseconds a page and microseconds a link, of Focus alone on one core.

`python tests/bench/focus_cost.py` shows Focus all pages of the encyclopaedia in ../shared/data/wiki that its seed leads
to, in breadth-first order, as a crawl does: each page's text, its links, and the priorities that are renewed. The
quarters of the pages are printed separately, because later most links are queued and much was learned.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

from driven import Driver
from orders import breadth_first
from throughput import machine
from webs import Web, built, web_of

from crawler.topic.link_scores import FocusOptions

SEED = "http://127.0.0.1/wiki/Bird.html"
AIM_PAGE, AIM_LINK = 1.0, 20.0  # milliseconds, microseconds
STEPS = "example learn_page see_again queue_links renew_if_due".split()
"""The methods of TopicFocus that are timed."""


class Clock:
    """CPU seconds by method."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    def timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same method, whose CPU time is added up."""

        def counted(*arguments: Any) -> Any:
            started = time.process_time()
            try:
                return call(*arguments)
            finally:
                self.spent[name] += time.process_time() - started

        return counted


def quarters(web: Web, topic: str) -> Iterator[tuple[int, int, Counter[str]]]:
    """Pages, links and what each step took, of each quarter of the pages."""
    order = list(breadth_first(web, [SEED]))
    driver, clock = Driver([SEED], FocusOptions(), topic), Clock()
    for name in STEPS:
        setattr(driver.focus, name, clock.timed(name, getattr(driver.focus, name)))
    parts = [order[len(order) * part // 4 : len(order) * (part + 1) // 4] for part in range(4)]
    for part in parts:
        for url in part:
            driver.take(url, web.pages[url])
        yield len(part), sum(len(web.pages[url].links) for url in part), clock.spent.copy()
        clock.spent.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--site", type=Path, help="the encyclopaedia as wikiweb.py built it; else it is built anew")
    parser.add_argument("--cache", type=Path, help="a folder that keeps what is read of the web for the next time")
    parser.add_argument("--topic", default="", help="words; without them it is the text of the first page")
    options = parser.parse_args()
    with built(options.site) as site:
        web = web_of(site, options.cache)
    print(f"{machine()}\n\n{'':12}{'pages':>8}{'links':>9}" + "".join(f"{name:>14}" for name in STEPS))
    total, links, pages = Counter[str](), 0, 0
    for number, (some, shown, spent) in enumerate(quarters(web, options.topic), 1):
        cells = "".join(f"{1000 * spent[name] / some:11.3f} ms" for name in STEPS)
        print(f"quarter {number}   {some:8,}{shown:9,}{cells}   {1000 * spent.total() / some:.2f} ms a page")
        total, links, pages = total + spent, links + shown, pages + some
    of_links = total["queue_links"] + total["see_again"]
    print(
        f"\n{1000 * total.total() / pages:.2f} ms a page (aim {AIM_PAGE:.0f}); "
        f"{1e6 * of_links / links:.1f} us a link as it is found (aim {AIM_LINK:.0f}), "
        f"{1e6 * (of_links + total['renew_if_due']) / links:.1f} with its later priorities. "
        f"A page has {links / pages:.0f} links."
    )


if __name__ == "__main__":
    main()
