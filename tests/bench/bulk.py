"""How fast whole archives are cleaned: `scrapy clean --into` with one worker and with two, by both engines, in turns.

`python bulk.py [FILE...] [--runs R] [--pages P]` cleans the given files. By default it makes archives of different
sizes from the pages of WINNOW_DATA (extraction/*.jsonl.xz), WARC and JSON lines, the largest of P pages. It prints the
pages a second of each run as the command prints them, with start and end. All outputs must be the same.
"""

import argparse
import gzip
import json
import lzma
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "support")]

import saved_pages  # noqa: E402
from sites import environment  # noqa: E402

LINE = re.compile(r"^(\d+) files? \(.*? by (\d+) workers?: ([\d.]+) pages", re.MULTILINE)
SHARES = (1.0, 0.5, 0.5, 0.25, 0.25, 0.1, 0.1, 0.1)


def pages() -> Iterator[dict[str, str]]:
    """The pages of all sets, again and again."""
    folder = Path(os.environ.get("WINNOW_DATA", "")) / "extraction"
    sets = sorted(folder.glob("*.jsonl.xz"))
    if not sets:
        sys.exit("WINNOW_DATA names no folder with extraction/*.jsonl.xz")
    for path in cycle(sets):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)


def archives(folder: Path, count: int) -> list[str]:
    """Files of at most `count` pages, alternately WARC and JSON lines."""
    pages_left, names = pages(), []
    for number, share in enumerate(SHARES):
        packed = number % 2 == 0
        names.append(str(folder / f"{number}.{'warc.gz' if packed else 'jsonl'}"))
        with Path(names[-1]).open("wb") as file:
            for at, page in enumerate(islice(pages_left, int(count * share))):
                if packed:
                    sent = saved_pages.answer(page["html"].encode("utf-8", "replace"))
                    file.write(gzip.compress(saved_pages.warc(at, sent), 1))
                else:
                    file.write(saved_pages.line(at, html=page["html"], url=page.get("url") or ""))
    return names


def run(inputs: list[str], output: Path, engine: str, workers: int) -> float:
    """The pages a second of one run."""
    options = ["--into", str(output), "--engine", engine, "--jobs", str(workers)]
    line = [sys.executable, "-m", "scrapy", "clean", *inputs, *options]
    ended = subprocess.run(line, env=environment(), capture_output=True, encoding="utf-8", check=False)
    summary = LINE.search(ended.stderr)
    if summary is None or ended.returncode or int(summary[1]) != len(inputs):
        sys.exit(ended.stderr)
    return float(summary[3])


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pages", type=int, default=400)
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        inputs = options.inputs or archives(folder, options.pages)
        rates: dict[tuple[str, int], list[float]] = {(e, n): [] for e in ("local", "dask") for n in (1, 2)}
        outputs = []
        for turn in range(options.runs):
            for (engine, workers), rates_of_kind in rates.items():
                output = folder / f"{engine}-{workers}-{turn}"
                rates_of_kind.append(run(inputs, output, engine, workers))
                outputs.append(content(output))
                print(f"{engine}, {workers} workers: {rates_of_kind[-1]:.1f} pages/s", flush=True)
        for engine in ("local", "dask"):
            single, double = (statistics.median(rates[engine, n]) for n in (1, 2))
            print(
                f"{engine}, medians: {single:.1f} pages/s with 1 worker, {double:.1f} with 2: "
                f"{double / single:.2f} times as many"
            )
        if any(output != outputs[0] for output in outputs):
            sys.exit("the outputs differ")


if __name__ == "__main__":
    main()
