"""What it costs to judge images before the download, and which requests it saves.

`python tests/bench/image_noise.py [FOLDER] [--pages N] [--runs K]` crawls FOLDER, a folder of HTML reached from its
index.html, or else a made-up site of N pages, without its images. Crawls with and without the judge take turns, so that
neighbouring runs can be compared. The judge then judges links behind images, and counts all images.

If FOLDER has a truth.json, with the paths of `content` and `noise` images, it is crawled once more with its images, and
the requests are compared with it.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from synthetic import site_of
from throughput import FAST_TOPIC, Run, crawl, machine, start_cpu

UNJUDGED = [*FAST_TOPIC, "-s", "IMAGE_NOISE_ENABLED=False"]
IMAGES = ["images=yes" if word == "images=no" else word for word in FAST_TOPIC]


def interleaved(site: Path, runs: int, timeout: float) -> list[tuple[Run, Run]]:
    """Pairs of a crawl without the judge and one with it; the one that runs first alternates."""
    pairs = []
    for number in range(runs):
        order = (UNJUDGED, FAST_TOPIC) if number % 2 == 0 else (FAST_TOPIC, UNJUDGED)
        first, other = (crawl(site, words, timeout) for words in order)
        pairs.append((first, other) if number % 2 == 0 else (other, first))
        without, with_judge = pairs[-1]
        print(f"run {number + 1}: without {without.rate:.1f} pages/s, with {with_judge.rate:.1f}", file=sys.stderr)
    return pairs


def table(pairs: list[tuple[Run, Run]], start: float) -> Iterator[str]:
    """Both crawls side by side."""
    yield f"{'':32}{'without':>12}{'with':>12}{'with / without, pair by pair':>32}"
    for name, value in {
        "pages a second": lambda run: run.rate,
        "CPU milliseconds a page": lambda run: 1000 * (run.cpu - start) / len(run.pages),
        "requests": lambda run: run.answers,
        "peak memory, MB": lambda run: run.memory,
    }.items():
        before, after = ([value(run) for run in runs] for runs in zip(*pairs, strict=True))
        ratios = [ours / other for ours, other in zip(after, before, strict=True)]
        spread = f"{median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        yield f"{name:32}{median(before):12.1f}{median(after):12.1f}{spread:>32}"


def wire(targets: list[str], truth: dict[str, list[str]]) -> Iterator[str]:
    """How many images and how many targets of adverts were requested."""
    paths = {target.partition("?")[0] for target in targets}
    content, noise = (set(truth[name]) for name in ("content", "noise"))
    share = len(content & paths) / len(content)
    yield f"{len(targets):,} requests. Content images: {len(content & paths):,} of {len(content):,} ({share:.2%})."
    yield f"Noise images: {len(noise & paths)} of {len(noise)} {sorted(noise & paths)}."
    yield f"Requests for targets of adverts (/ads/click): {sum(target.startswith('/ads/click') for target in targets)}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="static HTML with an index.html; else a site is made up")
    parser.add_argument("--pages", type=int, default=1500, help="pages of the made-up site (1500)")
    parser.add_argument("--runs", type=int, default=3, help="pairs of crawls; 0: what is asked for alone (3)")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds a crawl may take (600)")
    options = parser.parse_args()
    print(machine())
    with site_of(options.folder, options.pages) as site:
        if pairs := interleaved(site, options.runs, options.timeout):
            print("\n".join(table(pairs, start_cpu(FAST_TOPIC, options.timeout))))
        if (site / "truth.json").exists():
            truth = json.loads((site / "truth.json").read_text(encoding="utf-8"))
            print("\n".join(wire(crawl(site, IMAGES, options.timeout).requested, truth)))


if __name__ == "__main__":
    main()
