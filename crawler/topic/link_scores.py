"""The scores and priorities of queued links, learned from what links and pages led to.

S. Chakrabarti, K. Punera, M. Subramanyam, "Accelerated Focused Crawling through Online Relevance Feedback", WWW 2002,
call what judges a link before it is fetched the apprentice, and what judges a page the critic.

`Apprentice`: a link has features, which are the words of its anchor, of its address and of the text around it, and its
host; each is a number (crawler/topic/word_statistics.py). The value of a feature is the mean relevance of the pages
that links with it led to; the mean of all links counts as PRIOR_LINKS further links. The promise of a link is the mean
of two values: the highest and the lowest among the values of its features and the mean of all links. If most pages are
off the topic, each page on the topic counts several times (MOST_BALANCE at most), so that both kinds weigh the same.

The relevance of a page is its training relevance in this module, see crawler/topic/focus.py.

`PageCredits`: for each page
    worth   its relevance, plus CREDIT * s / max(n, PRIOR_PAGES), where n is the number of fetched pages whose links
            were first found on it, and s is the sum of the relevance of these n pages
    track   the mean relevance of the pages that its links led to; its own relevance counts as PRIOR_PAGES of them

`Scorer`: the score of a link, at most 1, is the weighted mean of these parts, times a factor that is higher for
preferred domains:

    shown    the mean worth of the pages that show it; the mean relevance of all pages counts as one more
    track    the mean track of the pages that show it; if none is known, the mean relevance of all pages
    words    the relevance of the words of its anchor, as if they were a page
    near     the relevance of the text around it, as if it were a page
    promise  the promise of the link
    texts    like promise, but learned from the texts of pages: the value of a word of its anchor is the mean relevance
             of the pages whose texts contain the word

The weights were found on a web of 4,598 pages of an encyclopaedia with four topics; they are few on purpose, and
halving or doubling any of them changes little.

`Prioritizer`: the priority of a link is lower if its site has had its share of the last pages, and now and then a link
with a low score is tried.
"""

import random
from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.topic.aims import Aims
from crawler.topic.link_table import FACTOR, LinkTable
from crawler.topic.priorities import HIGHEST, SCALE, UNLIKELY
from crawler.topic.relevance import Subject
from crawler.topic.word_statistics import KINDS, PLACES, FeatureCounts, Numbers, Pairs, Values

PRIOR_LINKS = 4.0
"""The weight of the overall mean, in links."""
MOST_BALANCE = 10.0
"""The largest weight of a page on the topic."""
MOST_SHARED = 5_000
"""How many features are shared with other workers: those with the greatest weights."""


class Apprentice:
    """Learns the relevance of the pages that links with a feature led to. `features` is the number of features."""

    def __init__(self, features: int = len(KINDS) * PLACES) -> None:
        self._own = np.zeros((2, features), np.float32)
        """For each feature the sum of the relevance of the pages that links with it led to, and their weight."""
        self._all = self._own
        """`_own` plus the counts of other workers. It is `_own` itself until another worker shares its counts, because
        a copy takes 8 MB.
        """
        self.good = self.bad = 0.0
        """The sum of the relevance, and the sum of 1 - relevance, of all pages that this worker learned from, including
        an earlier run.
        """
        self._others: dict[int, FeatureCounts] = {}
        """The counts of other workers, by worker number."""

    def learn(self, features: Sequence[int] | Numbers, relevance: float) -> None:
        """Learn the relevance of the page that a link with these features led to."""
        self.good += relevance
        self.bad += 1 - relevance
        # A page of relevance .7 is .7 pages on the topic, which are weighted, and .3 pages off it.
        weighted_relevance = relevance * self._balance()
        for sums, weights in self._tables():
            sums[features] += weighted_relevance
            weights[features] += weighted_relevance + (1 - relevance)

    def promise(self, features: Pairs, count: int) -> Values:
        """The promise of each of `count` links, by its features; links without features get the overall mean."""
        mean = self.mean()
        sums, weights = self._all[:, features.numbers]
        values = ((sums + PRIOR_LINKS * mean) / (weights + PRIOR_LINKS)).astype(np.float64)
        best = np.full(count, mean)
        worst = np.full(count, mean)
        np.maximum.at(best, features.rows, values)
        np.minimum.at(worst, features.rows, values)
        return np.asarray((best + worst) / 2)

    def mean(self) -> float:
        """The mean relevance of the pages that links led to, with good and bad pages in balance; 0.5 without pages."""
        good, bad = self._totals()
        good *= self._balance()
        return good / (good + bad) if good + bad else 0.5

    def shared(self) -> FeatureCounts:
        """The counts of this worker for the features with the greatest weights, for other workers."""
        sums, weights = self._own
        seen_features = np.flatnonzero(weights)  # few of a million places
        common = seen_features[np.argsort(-weights[seen_features], kind="stable")][:MOST_SHARED]
        sums_and_weights = zip(sums[common].tolist(), weights[common].tolist(), strict=True)
        features = dict(zip(common.tolist(), sums_and_weights, strict=True))
        return FeatureCounts(features, self.good, self.bad)

    def resume(self, counts: FeatureCounts) -> None:
        """Add the counts of an earlier run."""
        self.good += counts.good
        self.bad += counts.bad
        for feature, sum_and_weight in counts.features.items():
            for table in self._tables():
                table[:, feature] += sum_and_weight

    def take_over(self, worker_number: int, counts: FeatureCounts) -> None:
        """Use the counts of another worker, in place of those that it shared before."""
        self._others[worker_number] = counts
        # Added up anew each time: subtracting the earlier counts of the worker would leave rounding errors.
        self._all = self._own.copy()
        for counts_of_worker in self._others.values():
            features = np.fromiter(counts_of_worker.features, np.int32, len(counts_of_worker.features))
            self._all[:, features] += np.array(list(counts_of_worker.features.values()), np.float32).reshape(-1, 2).T

    def extremes(self, least_weight: float, most: int) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
        """The `most` features with the highest values and the `most` with the lowest, each with its value. Features
        whose weight is below `least_weight`, in pages, are ignored.
        """
        sums, weights = self._all
        frequent = np.flatnonzero(weights >= least_weight)
        values = (sums[frequent] + PRIOR_LINKS * self.mean()) / (weights[frequent] + PRIOR_LINKS)
        order = np.argsort(-values, kind="stable")
        ranked = [(int(frequent[at]), float(values[at])) for at in order.tolist()]
        return ranked[:most], ranked[::-1][:most]

    def _tables(self) -> list[NDArray[np.float32]]:
        """The arrays in which a count must be changed, each of sums and weights."""
        if self._all is self._own:
            return [self._own]
        return [self._own, self._all]

    def _totals(self) -> tuple[float, float]:
        """The sums of `good` and `bad` of all workers."""
        good = self.good + sum(counts.good for counts in self._others.values())
        bad = self.bad + sum(counts.bad for counts in self._others.values())
        return good, bad

    def _balance(self) -> float:
        """The weight of a page on the topic."""
        good, bad = self._totals()
        if good:
            return min(MOST_BALANCE, max(1.0, bad / good))
        return 1.0


CREDIT = 0.3
"""The share of the relevance of a link's target that is credited to the page on which the link was first found."""
PRIOR_PAGES = 3.0
"""The weight of a page's own relevance in its track, in pages that it led to; and the least divisor of its credit."""
MOST_PAGES = 1 << 18
"""How many pages have numbers of their own; later pages get the numbers of the oldest pages."""
RELEVANCE, TARGET_SUM, TARGETS, FIRST_SUM, FIRST_TARGETS = range(5)
"""The columns of the table of pages: the relevance of a page; the sum of the relevance of its targets, which are the
pages that its links led to, and their number; the same sum and number for the links first found on it.
"""


class PageCredits:
    """The relevance of the pages seen and of the pages that their links led to, by page number."""

    def __init__(self) -> None:
        self.pages = 0
        """How many pages were added."""
        self._table = np.zeros((5, 1024))

    @property
    def count(self) -> int:
        """How many pages have their own number."""
        return min(self.pages, MOST_PAGES)

    def add(self, relevance: float) -> int:
        """Add a page; returns its number, which is that of the oldest page if all numbers are in use."""
        number = self.pages % MOST_PAGES
        if number == self._table.shape[1]:
            self._table = np.concatenate([self._table, np.zeros_like(self._table)], axis=1)
        self._table[:, number] = (relevance, 0.0, 0.0, 0.0, 0.0)
        self.pages += 1
        return number

    def record_target(self, pages: Sequence[int], relevance: float) -> None:
        """Record the relevance of the page that a link led to; `pages` are those that show the link, in the order in
        which they were seen.
        """
        for page in dict.fromkeys(pages):
            self._table[TARGET_SUM, page] += relevance
            self._table[TARGETS, page] += 1
        if pages:
            self._table[FIRST_SUM, pages[0]] += relevance
            self._table[FIRST_TARGETS, pages[0]] += 1

    def record_known_target(self, page: int, target: int) -> None:
        """Record that a page shows a link to a page that was fetched before."""
        self._table[TARGET_SUM, page] += self._table[RELEVANCE, target]
        self._table[TARGETS, page] += 1

    def set_relevance(self, pages: Sequence[int], relevance: Values) -> None:
        """Record the new relevance of pages."""
        self._table[RELEVANCE, pages] = relevance

    def mean(self) -> float:
        """The mean relevance of all pages; one half if there are none."""
        if self.count:
            return float(self._table[RELEVANCE, : self.count].mean())
        return 0.5

    def worth(self, pages: Sequence[int] | Numbers) -> Values:
        """The worth of each of these pages."""
        relevance, _, _, first_sum, first_targets = self._table[:, pages]
        return np.asarray(relevance + CREDIT * first_sum / np.maximum(first_targets, PRIOR_PAGES))

    def track(self, pages: Sequence[int] | Numbers) -> Values:
        """The track of each of these pages."""
        relevance, target_sum, targets, _, _ = self._table[:, pages]
        return np.asarray((target_sum + PRIOR_PAGES * relevance) / (targets + PRIOR_PAGES))


WINDOW = 200
"""The number of last pages from which the shares of sites are computed."""
SITE_FACTOR = 0.1
"""The factor of the scores of links to a site that has had its share."""
FOREFRONT = 300
"""How many of the best queued links are requested soon anyway: exploration chooses among the links after them."""


@dataclass(frozen=True)
class FocusOptions:
    """Options for choosing links."""

    learning: bool = True
    """Whether links are scored by what other links led to."""
    exploration: float = 0.02
    """The share of pages that are fetched for exploration."""
    site_share: float = 0.5
    """The share of the last pages that one site may have, as long as links to other sites are queued."""
    min_chance: float = 0.0
    """The least chance of leading to the topic; less likely links come last."""


class Prioritizer:
    """Converts scores into priorities, which are lower for sites that had their share of the last pages."""

    def __init__(self, options: FocusOptions, worker_number: int) -> None:
        self.options = options
        self._sites: deque[int] = deque(maxlen=WINDOW)
        """The sites of the last pages."""
        self._owed = 0.0
        """How many links exploration may choose now; each page adds `FocusOptions.exploration`."""
        self._random = random.Random(worker_number)  # noqa: S311 - a choice among links, no secret

    def count_page(self, site: int) -> None:
        """Count a page of a site."""
        self._sites.append(site)
        self._owed += self.options.exploration

    def priorities(
        self, scores: Values, sites: Values, waiting_sites: Collection[int], least_scores: float | Values = 0.0
    ) -> NDArray[np.int32]:
        """The priorities of links, by their scores and sites; `waiting_sites` are the sites with queued links.

        Links to sites that have had their share get lower priorities, as long as links to other sites are queued. Links
        with scores below `least_scores` get the lowest priorities (UNLIKELY).
        """
        full_sites = self._full_sites()
        offsets = np.where(scores < least_scores, UNLIKELY, 0)
        has_other_sites = sum(site in waiting_sites for site in full_sites) < len(waiting_sites)
        if has_other_sites:
            scores = scores * np.where(np.isin(sites, full_sites), SITE_FACTOR, 1.0)
        # Only links that exploration chooses have the priority HIGHEST.
        return (np.minimum(np.round(SCALE * scores), HIGHEST - 1) + offsets).astype(np.int32)

    def _full_sites(self) -> list[int]:
        """The sites that had more than their share of the last pages. Shares of fewer than WINDOW // 10 pages say too
        little to name any.
        """
        if len(self._sites) < WINDOW // 10:
            return []
        most = self.options.site_share * len(self._sites)
        return [site for site, count in Counter(self._sites).items() if count > most]

    def choose_explored(self, priorities: NDArray[np.int32], waits: NDArray[np.bool_]) -> list[int]:
        """Choose the links that are requested now for exploration; returns their rows."""
        rows = np.flatnonzero(waits & (priorities < HIGHEST))
        if self._owed < 1 or len(rows) <= FOREFRONT:
            return []
        behind = rows[np.argsort(-priorities[rows], kind="stable")[FOREFRONT:]]
        chosen = self._random.sample(behind.tolist(), min(int(self._owed), len(behind)))
        self._owed -= len(chosen)
        return chosen


# The weights of the parts of a score, which the head of this module explains.
SHOWN_WEIGHT = 0.5
TRACK_WEIGHT = 1.2
WORDS_WEIGHT = 1.0
NEAR_WEIGHT = 0.3
PROMISE_WEIGHT = 0.25
TEXTS_WEIGHT = 0.5
PAGES_OF_MEAN = 1.0
"""The weight of the mean relevance of all pages in `shown`, in pages that show a link."""


@dataclass(frozen=True)
class Scorer:
    """Computes the scores of links from what is known now."""

    aims: Aims
    page_credits: PageCredits
    apprentice: Apprentice
    texts: Apprentice
    """Has learned for each word the relevance of the pages whose texts contain it."""
    learning: bool = True
    """Whether the results of other links count."""

    def scores(self, links: LinkTable) -> Values:
        """The score of each link, from 0 to 1."""
        count = links.count
        shown = links.shown
        page_counts = shown.sizes(count)
        mean = self.page_credits.mean()
        sums = shown.sums(self.page_credits.worth(shown.numbers), count)
        worth = (sums + PAGES_OF_MEAN * mean) / (page_counts + PAGES_OF_MEAN)
        words = self._relevance_of_words(links.anchors, count)
        near = self._relevance_of_words(links.nears, count)
        total = SHOWN_WEIGHT * worth + WORDS_WEIGHT * words + NEAR_WEIGHT * near
        weight = SHOWN_WEIGHT + WORDS_WEIGHT + NEAR_WEIGHT

        if self.learning:
            tracks = shown.sums(self.page_credits.track(shown.numbers), count)
            total = total + TRACK_WEIGHT * np.where(page_counts > 0, tracks / np.maximum(page_counts, 1), mean)
            total = total + PROMISE_WEIGHT * self.apprentice.promise(links.features, count)
            total = total + TEXTS_WEIGHT * self.texts.promise(links.anchors, count)
            weight += TRACK_WEIGHT + PROMISE_WEIGHT + TEXTS_WEIGHT
        return np.asarray(np.clip(links.table[FACTOR] * total / weight, 0.0, 1.0))

    def _relevance_of_words(self, words: Pairs, count: int) -> Values:
        """The highest relevance of the words of each of `count` links by the aim of any language.

        Aims of foreign languages count less if they were learned from few pages (`Subject.trust`).
        """
        best = _relevance_by_aim(self.aims.first, words, count)
        for subject in self.aims.others.values():
            best = np.maximum(best, subject.trust * _relevance_by_aim(subject, words, count))
        return best


def _relevance_by_aim(subject: Subject, words: Pairs, count: int) -> Values:
    """The relevance of the words in each row by one aim."""
    weights = subject.weights[words.numbers]
    lengths = np.sqrt(words.sums(np.square(weights), count))
    likeness = words.sums(weights * subject.aim[words.numbers], count) / np.where(lengths > 0, lengths, 1.0)
    return subject.relevance(likeness)
