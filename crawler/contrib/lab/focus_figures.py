"""How well a crawl kept to its topic: figures of its pages, in the order in which they were fetched.

    on topic    a page is on topic if its relevance, when it was fetched, reaches a limit
    harvest     the share of pages that are on topic
    lately      the harvest of the last WINDOW pages
    ranking     the share of pairs of a page on topic and a page off topic in which the page on topic had the higher
                link score (the area under the ROC curve); .5 is chance

Memory grows with the number of sites, not of pages.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappush, heappushpop

from crawler.contrib.lab.focus_data import STEPS, FetchedPage, Recall, Truth, TruthCounter, ranking
from crawler.topic.stop_rule import ON_TOPIC
from crawler.translation.message import N_
from crawler.urls.address import address_of

WINDOW = 200
MOST_POINTS = 500
"""The most points in the course of a crawl; a point has the figures after a certain number of pages."""
MOST_SITES = 50
"""The most sites that are listed."""
MOST_EXTREMES = 10
"""How many of the best pages, and of the worst, are listed."""
TENTHS = 10
"""How many groups pages are divided into by their link score."""
UNKNOWN = N_("not known")
"""The group of the pages for which the way of finding them is not stored."""


@dataclass(frozen=True, slots=True)
class FocusPoint:
    """The figures of the first `pages` pages."""

    pages: int
    lately: float
    """The harvest of the last WINDOW of these pages."""
    harvest: float
    on_topic: int
    found: int
    """Addresses of the truth list that were found."""


@dataclass(frozen=True, slots=True)
class FocusGroup:
    """The figures of a group of pages."""

    name: str
    pages: int
    on_topic: int
    harvest: float
    """The share of pages that are on topic."""
    relevance: float
    """The mean relevance."""
    link_score: float | None
    """The mean link score of the pages that have one; None if none has."""
    best: str
    """The address of the page with the highest relevance."""


@dataclass(frozen=True)
class FocusFigures:
    """The figures of a crawl with at least one page."""

    limit: float
    """The relevance from which a page is on topic."""
    total: FocusGroup
    window: int
    """WINDOW, for the templates."""
    lately: float
    """The harvest of the last WINDOW pages."""
    ways: tuple[FocusGroup, ...]
    """The pages by the way in which they were found, such as a link or a sitemap."""
    sites: tuple[FocusGroup, ...]
    """The MOST_SITES sites with the most pages on topic."""
    others: FocusGroup | None
    """All other sites together, if there are any."""
    site_count: int
    course: tuple[FocusPoint, ...]
    """At most MOST_POINTS points; the last one covers all pages."""
    tenths: tuple[FocusGroup | None, ...]
    """The pages by tenths of their link score, the lowest first."""
    ranking: float | None
    """See the head of this module; None if all pages with a link score are on topic, or all off topic."""
    best: tuple[int, ...]
    """The ids of the pages with the highest relevance."""
    worst: tuple[int, ...]
    """The ids of the pages with the lowest relevance."""
    truth: Recall | None
    """The comparison with a truth list; None without a list."""


class FocusCounter:
    """Counts pages one after another; `figures` can be called at any time."""

    def __init__(self, limit: float = ON_TOPIC, truth: Truth | None = None) -> None:
        self.limit = limit
        self._pages = self._on_topic = 0
        self._ways: defaultdict[str, _Tally] = defaultdict(_Tally)
        self._sites: defaultdict[str, _Tally] = defaultdict(_Tally)
        self._tenths = [_Tally() for _ in range(TENTHS)]
        # Two lists with the number of pages of each link score: of the pages off topic, and of those on topic.
        self._counts_by_score = ([0] * (STEPS + 1), [0] * (STEPS + 1))
        self._recent: deque[bool] = deque(maxlen=WINDOW)
        self._course: list[FocusPoint] = []
        self._pages_per_point = 1
        # Heaps that drop their smallest entries. An entry is a relevance, negated in `_worst`, and a negated id: of
        # equally relevant pages, those with the lowest ids are kept.
        self._best: list[tuple[float, int]] = []
        self._worst: list[tuple[float, int]] = []
        self._truth = TruthCounter(truth) if truth is not None else None

    def take(self, page: FetchedPage) -> None:
        """Count the next page."""
        relevance = page.relevance
        score = page.link_score
        on_topic = relevance >= self.limit
        self._recent.append(on_topic)
        self._pages += 1
        self._on_topic += on_topic
        self._ways[page.via or UNKNOWN].take(page, on_topic)
        self._sites[address_of(page.url).site].take(page, on_topic)
        if score is not None:
            bounded_score = min(max(score, 0.0), 1.0)  # the database does not limit scores to 0 to 1
            tenth = min(int(bounded_score * TENTHS), TENTHS - 1)  # 1.0 belongs to the last tenth
            self._tenths[tenth].take(page, on_topic)
            self._counts_by_score[on_topic][round(bounded_score * STEPS)] += 1
        _keep_largest(self._best, (relevance, -page.id))
        _keep_largest(self._worst, (-relevance, -page.id))
        if self._truth is not None:
            self._truth.take(page, on_topic)
        if self._pages % self._pages_per_point == 0:
            self._add_point()

    def take_all(self, pages: Iterable[FetchedPage]) -> "FocusCounter":
        """Count all these pages; returns the counter itself."""
        for page in pages:
            self.take(page)
        return self

    def _add_point(self) -> None:
        """Add a point to the course; if there are too many, drop every other one."""
        self._course.append(self._point())
        if len(self._course) >= MOST_POINTS:
            self._course = self._course[1::2]
            self._pages_per_point = 2 * self._pages_per_point

    def _point(self) -> FocusPoint:
        """The figures after the pages counted so far."""
        lately = sum(self._recent) / len(self._recent)
        found_addresses = self._truth.count if self._truth is not None else 0
        return FocusPoint(
            pages=self._pages,
            lately=lately,
            harvest=self._on_topic / self._pages,
            on_topic=self._on_topic,
            found=found_addresses,
        )

    def figures(self) -> FocusFigures | None:
        """The figures of all counted pages; None if there are none."""
        total = _together(self._ways.values())
        if total is None:
            return None
        course = self._course
        if self._pages % self._pages_per_point:  # the last pages have no point yet
            course = [*course, self._point()]
        sites = sorted(_groups(self._sites), key=lambda group: (-group.on_topic, -group.pages, group.name))
        return FocusFigures(
            limit=self.limit,
            total=total,
            window=WINDOW,
            lately=course[-1].lately,
            ways=tuple(sorted(_groups(self._ways), key=lambda group: (-group.pages, group.name))),
            sites=tuple(sites[:MOST_SITES]),
            others=_together(self._sites[group.name] for group in sites[MOST_SITES:]),
            site_count=len(sites),
            course=tuple(course),
            tenths=tuple(
                tally.group(f"{n / TENTHS:.1f}") if tally.pages else None for n, tally in enumerate(self._tenths)
            ),
            ranking=ranking(*self._counts_by_score),
            best=tuple(-negated_id for _, negated_id in sorted(self._best, reverse=True)),
            worst=tuple(-negated_id for _, negated_id in sorted(self._worst, reverse=True)),
            truth=self._truth.recall(self._on_topic) if self._truth is not None else None,
        )


class _Tally:
    """Sums over a group of pages. `scored` pages have a link score, and `scores` is the sum of these link scores.

    `best` is the address of the page with the `highest` relevance.
    """

    __slots__ = ("best", "highest", "on_topic", "pages", "relevance", "scored", "scores")

    def __init__(self) -> None:
        self.pages = self.on_topic = self.scored = 0
        self.relevance = self.scores = 0.0
        self.highest = -1.0
        self.best = ""

    def take(self, page: FetchedPage, on_topic: bool) -> None:
        self.pages += 1
        self.on_topic += on_topic
        self.relevance += page.relevance
        if page.link_score is not None:
            self.scored += 1
            self.scores += page.link_score
        if page.relevance > self.highest:
            self.highest = page.relevance
            self.best = page.url

    def add(self, other: "_Tally") -> None:
        """Add the sums of another group. The best page is not updated: no report shows it for groups taken together."""
        for name in ("pages", "on_topic", "relevance", "scored", "scores"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def group(self, name: str) -> FocusGroup:
        score = self.scores / self.scored if self.scored else None
        harvest = self.on_topic / self.pages
        relevance = self.relevance / self.pages
        return FocusGroup(
            name=name,
            pages=self.pages,
            on_topic=self.on_topic,
            harvest=harvest,
            relevance=relevance,
            link_score=score,
            best=self.best,
        )


def _groups(tallies: dict[str, _Tally]) -> list[FocusGroup]:
    return [tally.group(name) for name, tally in tallies.items()]


def _together(tallies: Iterable[_Tally]) -> FocusGroup | None:
    """The figures of all these groups as one; None if they have no pages."""
    sums = _Tally()
    for tally in tallies:
        sums.add(tally)
    return sums.group("") if sums.pages else None


def _keep_largest(heap: list[tuple[float, int]], entry: tuple[float, int]) -> None:
    """Add an entry to a heap that keeps the MOST_EXTREMES largest."""
    if len(heap) < MOST_EXTREMES:
        heappush(heap, entry)
    elif entry > heap[0]:
        heappushpop(heap, entry)
