"""The keyword model's learner as a classifier of adverts: F1 on the Internet Advertisements of Kushmerick (1999).

`python tests/bench/uci.py FOLDER`, where `uci-ad.data.gz` and `uci-ad.names` are. The words of a link are the names of
the features it has; with sizes, width, height and their ratio become words too, in steps. F1 is that of `ad` over all
links, each judged by a vector learned from the other nine of ten folds, where folds hold as much noise each. Without
duplicates every row counts once: copies in two folds make learning by heart pay.
"""

import gzip
import re
import sys
from math import log2
from pathlib import Path
from random import Random

from crawler.noise.keyword_learner import learned

FOLDS = 10
SIZES = 3
"""Features that are numbers: height, width and their ratio come first."""
Row = tuple[tuple[str, ...], bool]


def names(path: Path) -> list[str]:
    """The names of the features."""
    lines = path.read_text(encoding="latin-1").splitlines()
    return [line.partition(":")[0] for line in lines if re.match(r"[^|].*: *(0,1|continuous)\.", line)]


def rows(path: Path) -> list[Row]:
    """The values of each link, and whether it is an advert."""
    with gzip.open(path, "rt") as lines:
        cut = [[value.strip() for value in line.split(",")] for line in lines]
    return [(tuple(values), label == "ad.") for *values, label in cut]


def described(values: tuple[str, ...], features: list[str], sizes: bool) -> list[str]:
    """The words of a link."""
    found = [name for name, value in zip(features[SIZES:], values[SIZES:], strict=True) if value == "1"]
    numbers = [float(value) if value != "?" else None for value in values[:SIZES]]
    if sizes:
        steps = (lambda n: round(n / 10), lambda n: round(n / 10), lambda n: round(2 * log2(max(n, 0.01))))
        named = zip(features, numbers, steps, strict=False)
        found += [f"{name}={step(number)}" for name, number, step in named if number is not None]
    return found


def f1(links: list[tuple[list[str], bool]], seed: int = 0) -> float:
    """F1 of `ad`, by folds."""
    by_fold: list[list[tuple[list[str], bool]]] = [[] for _ in range(FOLDS)]
    for label in (True, False):
        same = [link for link in links if link[1] is label]
        Random(seed).shuffle(same)
        for at, link in enumerate(same):
            by_fold[at % FOLDS].append(link)
    right = called = 0
    for at, held in enumerate(by_fold):
        vector = learned(link for other, fold in enumerate(by_fold) if other != at for link in fold)
        verdicts = [(vector.is_over(vector.score(words)), is_ad) for words, is_ad in held]
        right += sum(verdict and is_ad for verdict, is_ad in verdicts)
        called += sum(verdict for verdict, _ in verdicts)
    return 2 * right / (called + sum(is_ad for _, is_ad in links))


def main(folder: Path) -> None:
    """Print the table."""
    features, all_rows = names(folder / "uci-ad.names"), rows(folder / "uci-ad.data.gz")
    print(f"{'rows':24}{'links':>7}{'ads':>6}{'words':>8}{'and sizes':>11}")
    for name, some in (("all", all_rows), ("without duplicates", sorted(set(all_rows)))):
        scores = [f1([(described(values, features, sizes), ad) for values, ad in some]) for sizes in (False, True)]
        print(f"{name:24}{len(some):7}{sum(ad for _, ad in some):6}{scores[0]:8.3f}{scores[1]:11.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
