"""What the second look of `auto` gains: the F1 of pages in doubt by the first and by the second choice of blocks.

`python doubt.py GOLD... [--weights FILE]` reads files as `scrapy evaluate` does. Pages of sites that the weights were
trained on are of little use: give the pages of one part of the sites, and weights that were trained on the others.
kept_apart.py writes both parts. The interval is a bootstrap over sites, with 95% of the gains.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from crawler.contrib.lab.evaluation.gold import set_name
from crawler.contrib.lab.evaluation.significance import DRAWS, bootstrap_draws, middle_interval
from crawler.contrib.lab.evaluation.text_metrics import CountedText, f1, mean, precision_recall
from crawler.contrib.lab.training.examples import TrainingPage, read_pages
from crawler.extraction.auto import DOUBT, main_text
from crawler.extraction.auto.model import WEIGHTS, Model, load
from crawler.page.page import Page

Score = tuple[float | None, float | None]
"""Precision and recall of a text."""


class PageInDoubt(NamedTuple):
    site: str
    first: Score
    second: Score


def first_text(page: Page, model: Model) -> str:
    """The text of the first choice."""
    with patch.object(sys.modules["crawler.extraction.auto"], "DOUBT", 0.0):
        return main_text(page, model=model).text


def page_in_doubt(row: TrainingPage, model: Model) -> PageInDoubt | None:
    """The scores of both choices; None if the page is not in doubt."""
    page = row.page
    text = main_text(page, model=model)
    if text.certainty is None or text.certainty >= DOUBT:
        return None
    gold = CountedText(row.gold or "").shingles
    first = precision_recall(CountedText(first_text(page, model)).shingles, gold)
    second = precision_recall(CountedText(text.text).shingles, gold)
    return PageInDoubt(row.site, first, second)


def f1_of(scores: Sequence[Score]) -> float:
    """The F1 of the mean precision and the mean recall."""
    return f1(mean(score[0] for score in scores) or 0.0, mean(score[1] for score in scores) or 0.0)


def interval_of_gain(pages: Sequence[PageInDoubt]) -> tuple[float, float]:
    """The 95% interval of what the second choice adds to the F1."""
    by_site = defaultdict(list)
    for page in pages:
        by_site[page.site].append(page)
    sites = list(by_site.values())
    gains = []
    for times in bootstrap_draws(len(sites), DRAWS):
        for counts in times:
            sample = [page for site, count in zip(sites, counts, strict=True) for page in site * int(count)]
            gains.append(f1_of([page.second for page in sample]) - f1_of([page.first for page in sample]))
    return middle_interval(np.array(gains))


def line(name: str, pages: Sequence[PageInDoubt], of_pages: int) -> str:
    """A line of the output."""
    first, second = f1_of([page.first for page in pages]), f1_of([page.second for page in pages])
    low, high = interval_of_gain(pages) if pages else (0.0, 0.0)
    return f"{name}: {len(pages)} of {of_pages} in doubt, F1 {first:.3f} and {second:.3f} [{low:+.3f}, {high:+.3f}]"


def main() -> None:
    """Print a line for each file, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold", type=Path, nargs="+")
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    model = load(options.weights)
    all_in_doubt: list[PageInDoubt] = []
    all_pages = 0
    for path in options.gold:
        pages = [page_in_doubt(row, model) for row in read_pages(path)]
        in_doubt = [page for page in pages if page is not None]
        print(line(set_name(path), in_doubt, len(pages)))
        all_in_doubt += in_doubt
        all_pages += len(pages)
    print(line("all", all_in_doubt, all_pages))


if __name__ == "__main__":
    main()
