"""Whether a search index stays equal to a site that changes and fails at times, while its crawl is killed.

`python tests/bench/index.py [--pages N] [--rounds N] [--kills N] [--seed N]` crawls a site on loopback in a new folder.
In each round a tenth of the pages is edited; others move, are deleted, get noindex, lose it, or are new; 5 % of the
answers are 503, and 5 % of the pages answer nothing else. Each crawl is killed with SIGKILL, then continued. After each
round the index of docs/how-to/search-index.md is updated from its offset, and compared with what the site answered:

- pages: in the index;
- changed: pages that had to be added, deleted or written anew;
- written: pages that were;
- wrong: pages that differ, are missing or are too many;
- needless: pages that were written and had not changed.

In the end the site stops failing, and the index is compared with the live pages; then it reads from each offset that it
ever had. The exit status is 1 if anything differs.

A wrong page is printed with the answers that the site gave for it in that round: s(hown), n(oindex), not f(ound),
d(eleted), m(oved), u(navailable), and | for each kill. It may be wrong for one round without a fault of the index: its
answer was lost by a kill (s|), and three answers 503 in a row then closed the host for the rest of the round. The site
counts that answer, and the crawl cannot.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from changing_site import MISSES_UNTIL_GONE, ChangingSite
from how_to_files import how_to_program
from index_rounds import FollowingIndex, IndexRound
from sites import serving

SHARE = 0.1
SECONDS_OF_PAGE = 1.0
"""Of a crawl, on a machine with much else to do."""


def different_paths(texts: dict[str, str], other: dict[str, str]) -> set[str]:
    """The pages whose texts differ, or that only one has."""
    return {path for path, _ in texts.items() ^ other.items()}


def print_round(number: int, index_round: IndexRound, site: ChangingSite) -> int:
    """Print what a round came to; returns how many pages are wrong or were written for nothing."""
    wrong = different_paths(index_round.indexed_texts, index_round.expected_texts)
    needless = index_round.written_paths - index_round.changed_paths
    counts = (index_round.indexed_texts, index_round.changed_paths, index_round.written_paths, wrong, needless)
    print(f"{number:5}", *(f"{len(count):9}" for count in counts), flush=True)
    for path in sorted(wrong):
        print(f"      {path}: {site.pages[path].answers}")
    return len(wrong) + len(needless)


def follow(index: FollowingIndex, rounds: int, kills: int, chance: random.Random) -> int:
    """Follow the site for some rounds; returns how many pages were wrong."""
    print("round", *(f"{name:>9}" for name in ("pages", "changed", "written", "wrong", "needless")))
    site = index.site
    files = []
    wrong_count = 0
    for number in range(1, rounds + MISSES_UNTIL_GONE + 1):
        if 1 < number <= rounds:
            site.change(SHARE)
        if number == rounds + 1:
            site.recover()
        requests = [chance.randint(1, len(site.pages) // (kills + 1)) for _ in range(kills)]
        index_round = index.follow_round(requests, seconds=60 + SECONDS_OF_PAGE * len(site.pages))
        files.append(index_round.file)
        wrong_count += print_round(number, index_round, site)
    live = site.live_texts()
    wrong_at_end = len(different_paths(index_round.indexed_texts, live))
    print(f"{len(live)} live pages, of which {wrong_at_end} are wrong in the index.")
    wrong_from_offsets = 0
    for file in [b"", *files]:
        index.path.write_bytes(file)
        with index.open() as old:
            index.update(old)
            wrong_from_offsets += len(different_paths(index.texts(old), live))
    print(f"Read again from {len(files) + 1} offsets: {wrong_from_offsets} pages are wrong.")
    return wrong_count + wrong_at_end + wrong_from_offsets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--kills", type=int, default=2, help="of the crawl of each round")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    site = ChangingSite(options.pages, seed=options.seed)
    program = how_to_program("search-index.md", "search_index.py")
    with tempfile.TemporaryDirectory() as folder, serving(site):
        index = FollowingIndex(program, site, Path(folder))
        sys.exit(1 if follow(index, options.rounds, options.kills, random.Random(options.seed)) else 0)


if __name__ == "__main__":
    main()
