"""How often the recrawl counts a page as changed although only a banner or a footer around its text has changed.

`python false_changes.py [--pages N]` takes N pages of each set in WINNOW_DATA, by default shared/data beside this
checkout. Each page is checked twice, with random words in a banner above or in a footer below. It prints how often the
text of `auto` differs, and how often the page counts as changed (crawler/recrawl/change_check.py), which is rarer.
"""

import argparse
import os
import random
import sys
from collections import Counter
from pathlib import Path

from lxml import etree, html

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from crawler.contrib.lab.evaluation.gold import set_name
from crawler.contrib.lab.training.examples import read_pages
from crawler.extraction.auto import auto
from crawler.page.page import Page
from crawler.recrawl.change_check import ChangeDetector
from crawler.recrawl.page_history import PageChange, PageHistory

DATA = Path(os.environ.get("WINNOW_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
SETS = ("wcxb_dev", "fundus", "dragnet", "andy_articles", "known_markup", "daniel")
WORDS = "summer sale now on half price subscribe today weather sunny jobs cars houses offers win tickets local".split()
LONGEST = 400_000
BANNER = '<div class="banner"><a href="/advert"><b>{}</b> {}</a></div>'
FOOTER = '<div class="footer"><p>{}. Copyright 2026</p><a href="/about">{}</a></div>'


def disturbed(page: str, kind: str, chance: random.Random) -> str:
    """The page with a banner or a footer of random words."""
    root = html.document_fromstring(page)
    body = root.find("body")
    added = (BANNER if kind == "banner" else FOOTER).format(*(" ".join(chance.choices(WORDS, k=k)) for k in (4, 9)))
    body.insert(0 if kind == "banner" else len(body), html.fragment_fromstring(added))
    return str(html.tostring(root, encoding="unicode"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100, help="pages of each set")
    options = parser.parse_args()
    chance, detector = random.Random(1), ChangeDetector("auto", "balance", auto)
    print(f"{'set':14} {'what changed':12} {'pages':>6} {'other text':>11} {'changed':>8}")
    totals: Counter[str] = Counter()
    for name in SETS:
        path = DATA / "extraction" / f"{name}.jsonl.xz"
        rows = [row for row in read_pages(path) if row.gold and 0 < len(row.html) <= LONGEST]
        for kind in ("banner", "footer"):
            counts: Counter[str] = Counter()
            for row in chance.sample(rows, min(options.pages, len(rows))):
                try:
                    before, after = (
                        Page.from_html(text, row.url)
                        for text in (disturbed(row.html, kind, chance), disturbed(row.html, kind, chance))
                    )
                except (etree.ParserError, ValueError, AttributeError):  # it has no element, or declares an encoding
                    continue
                first_check = detector.check(before, before.once(auto), None)
                history = PageHistory(
                    extractor_version=first_check.extractor_version, source_fingerprint=first_check.source_fingerprint
                )
                change = detector.check(after, after.once(auto), history).change
                counts["pages"] += 1
                counts["other"] += before.once(auto).text != after.once(auto).text
                counts["changed"] += change is PageChange.CHANGED
            totals += counts
            print(f"{set_name(path):14} {kind:12} {counts['pages']:6} {counts['other']:11} {counts['changed']:8}")
    print(f"{'all':27} {totals['pages']:6} {totals['other']:11} {totals['changed']:8}")


if __name__ == "__main__":
    main()
