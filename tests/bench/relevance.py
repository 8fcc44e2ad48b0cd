"""Whether relevance is the probability that a page is about the topic, in whichever form the topic is given.

`python tests/bench/relevance.py` takes the encyclopaedia of ../shared/data/wiki as a web and drives Focus over it,
without a crawl, from three pages of each topic. The topic is given in one word, a few, ten, a sentence, or only by the
seeds. It prints the share of pages that are on the topic (true), and from the relevance of each page when it was
fetched:

- said: the share of pages with a relevance of .5 or more, and in how many runs it is within .1 of the true share;
- Brier: the mean squared difference of relevance and truth (0 or 1);
- AUC: how often, in a pair of a page on topic and one off topic, the first has the higher relevance;
- recall: the share of the topic's pages among the first tenth of the web.

With --labels N, a person labels N of the first 100 pages. The figures are then of the later pages, also with 0.
"""

# ruff: noqa: E402 - what is imported is found by the paths that are set first
import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import mean
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "support")]

from driven import Driver
from webs import PROCESSES, Web, built, web_of

from crawler.topic.link_scores import FocusOptions
from crawler.topic.stop_rule import ON_TOPIC

PHRASINGS = {
    "Science.Biology.Birds": (
        "birds",
        "birds, ornithology, seabird, songbird, plumage",
        "bird birds species wings feathers beak nest eggs plumage ornithology",
        "How birds live, breed, feed and migrate",
        "",
    ),
    "Geography.Natural_Disasters": (
        "disasters",
        "earthquake, hurricane, flood, volcano, tsunami",
        "disaster earthquake hurricane cyclone tornado flood eruption tsunami storm avalanche",
        "Natural disasters and the damage that storms, floods and earthquakes cause",
        "",
    ),
    "Design_and_Technology.Railway_transport": (
        "railway",
        "railway, train, locomotive, station, tram",
        "railway rail train trains locomotive station track tram metro underground",
        "Railways, their trains and the stations at which they stop",
        "",
    ),
    "Music": (
        "music",
        "music, song, composer, band, orchestra",
        "music song album band singer composer orchestra opera instrument concert",
        "Composers, bands and singers, and the music that they play",
        "",
    ),
}
SEEDS, TENTH, LABELLED_AFTER = 3, 460, 100


class Run(NamedTuple):
    """One crawl to drive."""

    topic: str
    phrasing: str
    draw: int
    pages: int
    labels: int | None


class Figures(NamedTuple):
    """The share of pages on topic in a run, truly and by their relevance, and how good the relevance was."""

    true: float
    predicted: float
    brier: float
    auc: float
    recall: float


def driven(web: Web, run: Run) -> Iterator[tuple[str, float]]:
    """The pages in the order in which Focus has them fetched, with the relevance that each had then."""
    on_topic = web.about(run.topic)
    driver = Driver(Random(f"{run.topic} {run.draw}").sample(sorted(on_topic), SEEDS), FocusOptions(), run.phrasing)
    fetched: list[str] = []
    for url in driver.waiting:
        if run.labels and len(fetched) == LABELLED_AFTER:
            chosen = Random(run.draw).sample(fetched, run.labels)
            driver.focus.label([(web.pages[url].title, web.pages[url].text, url in on_topic) for url in chosen])
        fetched.append(url)
        yield url, driver.take(url, web.pages[url])


def figures(web: Web, run: Run) -> Figures:
    """The figures of a run."""
    on_topic, first = web.about(run.topic), 0 if run.labels is None else LABELLED_AFTER
    order = [(url, relevance) for url, relevance in islice(driven(web, run), run.pages) if url in web.categories]
    judged = [(url in on_topic, relevance) for url, relevance in order[first:]]
    good, bad = ([relevance for is_true, relevance in judged if is_true is which] for which in (True, False))
    won = sum((g > b) + (g == b) / 2 for g in good for b in bad)
    return Figures(
        len(good) / len(judged),
        mean(relevance >= ON_TOPIC for _, relevance in judged),
        mean((is_true - relevance) ** 2 for is_true, relevance in judged),
        won / (len(good) * len(bad)) if good and bad else 1.0,
        len(on_topic.intersection(url for url, _ in order[:TENTH])) / len(on_topic),
    )


_web: Web


def _start(site: Path, cache: Path | None) -> None:
    global _web
    _web = web_of(site, cache)


def _figures(run: Run) -> Figures:
    return figures(_web, run)


def table(figures_of_runs: Sequence[tuple[Run, Figures]]) -> Iterator[str]:
    """The means of each topic and phrasing, and of all."""
    yield f"{'':46}{'true':>8}{'said':>8}{'Brier':>8}{'AUC':>8}{'recall':>8}"
    for topic, phrasing in dict.fromkeys((run.topic, run.phrasing) for run, _ in figures_of_runs):
        some = [of for run, of in figures_of_runs if (run.topic, run.phrasing) == (topic, phrasing)]
        name = f"{topic.rpartition('.')[2]}: {phrasing or 'seeds'}"
        yield f"{name[:45]:46}" + "".join(f"{mean(values):8.3f}" for values in zip(*some, strict=True))
    every = [of for _, of in figures_of_runs]
    yield f"{'mean':46}" + "".join(f"{mean(values):8.3f}" for values in zip(*every, strict=True))
    near = sum(abs(of.predicted - of.true) <= 0.1 for of in every)
    difference = mean(abs(of.predicted - of.true) for of in every)
    yield f"Within .1 in {near} of {len(every)}; mean difference {difference:.3f}."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--site", type=Path, help="the encyclopaedia as wikiweb.py built it; else it is built anew")
    parser.add_argument("--cache", type=Path, help="a folder that keeps what is read of the web for the next time")
    parser.add_argument("--pages", type=int, default=TENTH, help=f"so many pages in a run ({TENTH})")
    parser.add_argument(
        "--draws", type=int, nargs="+", default=[0, 1], metavar="N", help="the draws of the seeds (0 1)"
    )
    parser.add_argument("--labels", type=int, help="so many of the first 100 pages are labelled")
    options = parser.parse_args()
    runs = [
        Run(topic, phrasing, draw, options.pages, options.labels)
        for topic, phrasings in PHRASINGS.items()
        for phrasing in phrasings
        for draw in options.draws
    ]
    with (
        built(options.site) as site,
        ProcessPoolExecutor(PROCESSES, get_context("spawn"), _start, (site, options.cache)) as pool,
    ):
        print("\n".join(table(list(zip(runs, pool.map(_figures, runs), strict=True)))))


if __name__ == "__main__":
    main()
