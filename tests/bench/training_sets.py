"""Writes the sets that the shipped weights of `auto` are trained on, with the type of each page.

`python training_sets.py FOLDER`, with the data in the folder WINNOW_DATA or in shared/data beside this checkout: FOLDER
gets a file for each set. marked.jsonl is made from the saved pages and the marks in tests/bench/marks. The types are
those of the set, or of the kind that the set gives a page. The manuals come from manuals.py.
"""

import json
import lzma
import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("WINNOW_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
TOOLS = DATA.parent / "tools"
MARKS = Path(__file__).with_name("marks")
MARKED = {"pages.jsonl": "unmarked/pages.jsonl.xz", "more.jsonl": "unmarked/more.jsonl.xz"}
SETS = {
    **dict.fromkeys(("fundus", "andy_articles", "magic_article", "crf_id"), "article"),
    **dict.fromkeys(("magic_forum", "harvest_forums"), "forum"),
    **dict.fromkeys(("wcxb_dev", "zh_handcrafted", "trafilatura_snippets", "dragnet", "canola"), ""),
    **dict.fromkeys(("mercury_rules", "known_markup", "recipes_partial"), ""),
}
"""The sets, each with the type of its pages if they have one."""
KINDS = {
    **dict.fromkeys(("article", "blog", "news", "recipe"), "article"),
    **dict.fromkeys(("forum", "qa", "thread"), "forum"),
    **dict.fromkeys(("documentation", "reference"), "documentation"),
    **dict.fromkeys(("listing", "home"), "listing"),
    **{kind: kind for kind in ("product", "collection", "service")},
}
"""The type of each kind of page."""

Row = dict[str, Any]


def rows(path: Path) -> Iterator[Row]:
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def marked() -> Iterator[Row]:
    """The marked pages with their main text."""
    marking = runpy.run_path(str(TOOLS / "marking.py"))
    for name, pages in MARKED.items():
        marks = {mark["id"]: mark for mark in rows(MARKS / name)}
        for page in rows(DATA / pages):
            if mark := marks.get(page["id"]):
                main_numbers = set(marking["numbers"](mark["in"]))
                texts = [text for at, (_, text) in enumerate(marking["blocks"](page["html"])) if at in main_numbers]
                kept = {key: page.get(key, "") for key in ("id", "url", "lang", "html")}
                yield {**kept, "gold": "\n".join(texts), "kind": mark["kind"]}


def main() -> None:
    """Write the files and say how many pages are in each."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    sets = {"marked": (marked(), "")}
    sets |= {name: (rows(DATA / "extraction" / f"{name}.jsonl.xz"), page_type) for name, page_type in SETS.items()}
    for name, (set_rows, page_type) in sets.items():
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            count = 0
            for row in set_rows:
                count += 1
                row["page_type"] = page_type or row.get("page_type") or KINDS.get(row.get("kind", ""), "")
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(f"{name}: {count} pages")


if __name__ == "__main__":
    main()
