"""How much work a crawl does: what must not grow with its pages, counted without a clock."""

import json
from pathlib import Path

from sites import OPEN, Site, crawl, page, serving
from work_counts import FILE

PAGES = 200
STATEMENTS = 28
"""Of a commit, whatever its number of pages."""
COUNTED = OPEN | {"EXTENSIONS": json.dumps({"work_counts.WorkCounts": 1})}


def text_of(number: int) -> str:
    return " ".join(f"The bees of hive {number} carry home {at} loads of pollen." for at in range(number, number + 10))


def test_the_work_for_a_page_is_done_once(tmp_path: Path) -> None:
    links = {f"/{number}": f"hive {number}" for number in range(PAGES)}
    routes = {"/": page("Hello there.", links=links)}
    routes |= {path: page(text_of(number), links=links) for number, path in enumerate(links)}
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED)
    assert len(ended.items()) == PAGES + 1
    counts = json.loads((tmp_path / FILE).read_text())
    assert counts["statements"] <= STATEMENTS * counts["commits"]
    assert sorted(counts["cuts"])[-PAGES:] == [1] * PAGES
    assert counts["extractions"] == PAGES + 1
    assert counts["model_uses"] == 0
