"""Writes the pages of the sites that `scrapy train auto` keeps apart, so that other programs are judged on them too.

`python kept_apart.py FOLDER GOLD... [--seed N]`, with the files of the training: FOLDER gets a file for each set with
gold text, to be given to `scrapy evaluate`.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from crawler.contrib.lab.evaluation.gold import opened, set_name
from crawler.contrib.lab.training.auto_model import FOLDS
from crawler.contrib.lab.training.auto_weights import APART
from crawler.contrib.lab.training.examples import parts_of, read_pages


def main() -> None:
    """Write the files and say how many pages are in each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gold", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sites = {path: [row.site for row in read_pages(path, snippets=True)] for path in given.gold}
    parts = parts_of({site for found in sites.values() for site in found}, FOLDS, given.seed)
    given.folder.mkdir(parents=True, exist_ok=True)
    for path, found in sites.items():
        with opened(path) as lines:
            pages = [line.decode() for line in lines if line.strip()]
        kept = [line for line, site in zip(pages, found, strict=True) if parts[site] == APART]
        if '"gold"' in pages[0] and '"gold_partial"' not in pages[0]:
            name = f"{set_name(path)}.jsonl"
            (given.folder / name).write_text("".join(kept), encoding="utf-8")
            print(f"{name}: {len(kept)} of {len(pages)} pages")


if __name__ == "__main__":
    main()
