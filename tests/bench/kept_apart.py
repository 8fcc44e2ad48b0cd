"""Writes the pages of the sites that `scrapy train auto` holds out, so that other programs are judged on them, too.

`python kept_apart.py FOLDER GOLD... [--seed N] [--part N] [--rest FOLDER]` takes the files of the training. FOLDER gets
a file for each set with gold text, for `scrapy evaluate`. The sites are divided into five parts, of which the training
holds out the first. The folder of --rest gets the pages of the other four parts, to train weights without the held-out
sites.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from crawler.contrib.lab.evaluation.gold import opened, set_name
from crawler.contrib.lab.training.auto_model import FOLDS
from crawler.contrib.lab.training.auto_weights import HELD_OUT_PART
from crawler.contrib.lab.training.examples import parts_of, read_pages


def main() -> None:
    """Write the files and say how many pages are in each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gold", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=int, default=HELD_OUT_PART, choices=range(FOLDS))
    parser.add_argument("--rest", type=Path)
    options = parser.parse_args()
    sites = {path: [row.site for row in read_pages(path, with_snippets=True)] for path in options.gold}
    parts = parts_of({site for sites_of_set in sites.values() for site in sites_of_set}, FOLDS, options.seed)
    for folder in filter(None, (options.folder, options.rest)):
        folder.mkdir(parents=True, exist_ok=True)
    for path, sites_of_set in sites.items():
        with opened(path) as lines:
            pages = [line.decode() for line in lines if line.strip()]
        is_apart = [parts[site] == options.part for site in sites_of_set]
        name = f"{set_name(path)}.jsonl"
        if options.rest:
            rest = [page for page, apart in zip(pages, is_apart, strict=True) if not apart]
            (options.rest / name).write_text("".join(rest), encoding="utf-8")
        if '"gold"' in pages[0] and '"gold_partial"' not in pages[0]:
            kept = [page for page, apart in zip(pages, is_apart, strict=True) if apart]
            (options.folder / name).write_text("".join(kept), encoding="utf-8")
            print(f"{name}: {len(kept)} of {len(pages)} pages")


if __name__ == "__main__":
    main()
