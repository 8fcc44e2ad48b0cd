"""Joins pages with the metadata that people found, for `scrapy train metadata` and `scrapy evaluate --metadata`.

`python metadata_gold.py FOLDER` reads the data in WINNOW_DATA, by default shared/data beside this checkout. It writes
into FOLDER

- dates.jsonl, whose pages have `published`;
- wcxb_dev.jsonl, whose pages have `title`, `author` and `published`;
- marked.jsonl, the pages of marks/metadata.jsonl, none in English, with `author` and `published`;
- dragnet.jsonl, whose pages have `comments`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training_sets import DATA, MARKS, rows

METADATA = MARKS / "metadata.jsonl"


def marked() -> Iterator[dict[str, Any]]:
    """The pages that were read for their author and date."""
    marks = {mark.pop("key"): mark for mark in map(json.loads, METADATA.read_text(encoding="utf-8").splitlines())}
    for name in sorted({key.partition("/")[0] for key in marks}):
        folder = "unmarked" if name in ("pages", "more") else "extraction"
        for row in rows(DATA / folder / f"{name}.jsonl.xz"):
            if mark := marks.get(f"{name}/{row['id']}"):
                yield {key: row.get(key, "") for key in ("id", "url", "lang", "html")} | mark


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    metadata = {row.pop("id"): row for row in rows(DATA / "metadata" / "wcxb_dev.jsonl")}
    joined = ({**row, **metadata[row["id"]]} for row in rows(DATA / "extraction" / "wcxb_dev.jsonl.xz"))
    dated = (row for row in rows(DATA / "metadata" / "dates.jsonl.xz") if isinstance(row["published"], str))
    remarks = (
        {"html": row["html"], "url": row.get("url", ""), "comments": row.get("gold_comments") or ""}
        for row in rows(DATA / "extraction" / "dragnet.jsonl.xz")
    )
    sets = {"wcxb_dev": joined, "dates": dated, "marked": marked(), "dragnet": remarks}
    for name, set_rows in sets.items():
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for row in set_rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
