"""What `auto` makes of small pages of every kind, whose main text is marked: it must not fall below these floors.

`gold/<kind>/page.html` is a page made for this, with markup as such pages have; `gold.txt` its main text as a reader
would mark it, a line a block, the headline first. The headline may be in a method's text or not.
"""

from pathlib import Path

import pytest

from crawler.contrib.lab.evaluation.text_metrics import CountedText, f1, precision_recall
from crawler.extraction import extract
from crawler.page.page import Page

GOLD = Path(__file__).parents[2] / "gold"
# Shingle F1, in hundredths: three below the least that several trainings made of it, that trifles may differ.
FLOORS = {
    "blog_wordpress": 83,
    "documentation": 97,
    "forum_phpbb": 71,
    "forum_zh_discuz": 58,
    "listing": 62,  # cards are kept whole, with their dates and buttons
    "news_de": 93,
    "news_modern": 92,
    "news_zh_modern": 88,
    "news_zh_table": 97,
    "old_table": 91,
    "product": 76,
    "qa": 82,
    "recipe": 91,  # the numbers of its steps are in no page
    "rendered_dom": 92,
    "service": 82,
    "wiki": 80,
}
MEAN = 87


def score(kind: str) -> float:
    """The shingle F1 of what is taken out of a page."""
    found = CountedText(extract((GOLD / kind / "page.html").read_bytes(), "http://example.com/a").text)
    marked = (GOLD / kind / "gold.txt").read_text(encoding="utf-8")
    golds = (CountedText(marked), CountedText(marked.partition("\n")[2]))
    return max(f1(*(share or 0.0 for share in precision_recall(found.shingles, gold.shingles))) for gold in golds)


@pytest.fixture(scope="module")
def scores() -> dict[str, float]:
    return {kind: score(kind) for kind in FLOORS}


def test_every_page_has_a_floor() -> None:
    assert sorted(path.name for path in GOLD.iterdir()) == list(FLOORS)


@pytest.mark.parametrize("kind", FLOORS)
def test_no_kind_of_page_falls_below_its_floor(kind: str, scores: dict[str, float]) -> None:
    assert 100 * scores[kind] >= FLOORS[kind]


def test_the_average_does_not_fall(scores: dict[str, float]) -> None:
    assert 100 * sum(scores.values()) / len(scores) >= MEAN


def test_the_gold_is_in_its_page() -> None:
    """Or the marks would be of another page."""
    for kind in FLOORS:
        page = Page("", (GOLD / kind / "page.html").read_bytes())
        shown = CountedText(" ".join(block.text for block in page.blocks)).words
        gold = CountedText((GOLD / kind / "gold.txt").read_text(encoding="utf-8")).words
        assert gold <= shown
