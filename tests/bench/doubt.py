"""What the second look of `auto` is worth: the F1 of pages in doubt by the first and by the second choice.

`python doubt.py GOLD... [--weights FILE]` reads files as `scrapy evaluate` does. Sites that the weights were trained on
say little: give files that they were not trained on, such as those that kept_apart.py writes and weights of the other
sites.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from crawler.contrib.lab.evaluation.gold import set_name
from crawler.contrib.lab.evaluation.text_metrics import CountedText, f1, mean, precision_recall
from crawler.contrib.lab.training.examples import read_pages
from crawler.extraction.auto import DOUBT, main_text
from crawler.extraction.auto.model import WEIGHTS, Model, load
from crawler.page.page import Page


@dataclass
class Scores:
    """Precision and recall of texts, a pair a page."""

    precision: list[float | None] = field(default_factory=list)
    recall: list[float | None] = field(default_factory=list)

    def add(self, text: str, gold: CountedText) -> None:
        precision, recall = precision_recall(CountedText(text).shingles, gold.shingles)
        self.precision.append(precision)
        self.recall.append(recall)

    @property
    def f1(self) -> float:
        return f1(mean(self.precision) or 0.0, mean(self.recall) or 0.0)


def first_text(page: Page, model: Model) -> str:
    """The text of the first choice."""
    with patch.object(sys.modules["crawler.extraction.auto"], "DOUBT", 0.0):
        return main_text(page, model=model).text


def main() -> None:
    """Print a line for each file, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold", type=Path, nargs="+")
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    model = load(options.weights)
    first_of_all, second_of_all = Scores(), Scores()
    for path in options.gold:
        first, second, pages = Scores(), Scores(), 0
        for row in read_pages(path):
            page = row.page
            pages += 1
            text = main_text(page, model=model)
            if text.certainty is None or text.certainty >= DOUBT:
                continue
            gold = CountedText(row.gold or "")
            for scores in (first, first_of_all):
                scores.add(first_text(page, model), gold)
            for scores in (second, second_of_all):
                scores.add(text.text, gold)
        share = len(first.precision) / max(pages, 1)
        print(f"{set_name(path)}: {pages} pages, {share:.1%} in doubt, F1 {first.f1:.3f} and {second.f1:.3f}")
    print(f"all in doubt: {len(first_of_all.precision)}, F1 {first_of_all.f1:.3f} and {second_of_all.f1:.3f}")


if __name__ == "__main__":
    main()
