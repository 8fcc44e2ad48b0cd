"""What a page costs the focus early and late in a crawl of made-up pages, and how much memory it keeps.

`python tests/bench/focus_soak.py` prints both for each quarter of 20,000 pages.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

from bee_web import soaked  # noqa: E402 - found by the paths that are set first


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=20_000, help="so many (20,000)")
    for number, part in enumerate(soaked(parser.parse_args().pages), 1):
        print(
            f"quarter {number}: {1000 * part.seconds / part.pages:.2f} ms a page while memory is watched, "
            f"{part.grown / 1e6:.1f} MB more, {part.waiting:,} links wait"
        )


if __name__ == "__main__":
    main()
