"""The chance that a link leads to the topic, by its score.

Scores put links in order, but the chance that belongs to a score differs from crawl to crawl. It is the share of pages
on the topic among the pages that links with about this score led to. A page counts as on the topic if it is, or if a
link that was first seen on it led to a page that is. The chance never falls when the score rises: it is the isotonic
regression of the pages on the scores of their links (B. Zadrozny, C. Elkan, "Transforming Classifier Scores into
Accurate Multiclass Probability Estimates", KDD 2002). It is computed by pooling: links with neighbouring scores get one
chance, their mean, if the chances were in the wrong order.

A prior of `PRIOR_PAGES` imaginary pages gives a score s the chance 2.5 s²: on a web of 4,598 pages of an encyclopaedia,
links with scores around .12, .17, .25 and .35 led to the topic in 1.6, 5, 17 and 42 % of cases.

The yield of a site is the share of its pages that are on the topic. The present yield is the share of the last pages of
the crawl that count as on the topic. The chance of a promising link is at least a share of the present yield:
PROMISING_SHARE if it leads to a good site, otherwise GOOD_SHARE.
"""

from collections import deque
from dataclasses import dataclass
from itertools import islice, takewhile

REMEMBERED = 1_000
"""How many links are remembered: those requested last."""
PRIOR_PAGES = 100
"""The number of imaginary pages of the prior."""
PRIOR_FACTOR = 2.5
PRIOR_STEPS = 50
"""The prior pages have the scores 0, 1 / PRIOR_STEPS, 2 / PRIOR_STEPS and so on, up to 1."""
NO_SCORE = 2.0
"""A least score that no link reaches, as scores are at most 1."""
WINDOW = 200
"""How many of the last pages the present yield is computed from."""
FIRST_PAGES = 20
"""How many imaginary pages off the topic are added to these, so that the first few pages decide nothing."""
PROMISING_SHARE = 0.25
"""The least chance of a promising link to a good site, as a share of the present yield."""
GOOD_SHARE = 0.5
"""The least yield of a good site, and the least chance of a promising link to any other site, as shares of the present
yield.
"""


@dataclass
class JudgedLink:
    """A link that was requested."""

    score: float
    """The score when the link was requested."""
    page: int
    """The number of the page that the link led to."""
    is_on_topic: bool
    """Whether the page counts as on the topic; `LinkChances.add` sets this if a link on the page led to the topic."""


@dataclass
class SiteYield:
    """How many pages of a site were fetched, and how many of these are on the topic."""

    pages: int = 0
    on_topic: int = 0


@dataclass
class Pool:
    """Links with neighbouring scores and one chance."""

    least_score: float
    links: float
    on_topic: float

    @property
    def chance(self) -> float:
        """The share of the links in the pool that led to the topic."""
        return self.on_topic / self.links

    @property
    def highest_chance(self) -> float:
        """The chance if one more link had led to the topic: a few failures do not rule out a small chance."""
        return (self.on_topic + 1) / (self.links + 1)


class LinkChances:
    """Learns the chances of scores from the links that were requested."""

    def __init__(self) -> None:
        self._links: deque[JudgedLink] = deque(maxlen=REMEMBERED)
        self._by_page: dict[int, JudgedLink] = {}
        """The remembered links, by the numbers of the pages that they led to."""
        self._sites: dict[int, SiteYield] = {}
        """The yields of sites, by their numbers."""

    def add(self, link: JudgedLink, site: int, first_seen_on: int | None) -> None:
        """Count a link that was requested, for itself, its site and the page on which it was first seen."""
        # The site.
        site_yield = self._sites.setdefault(site, SiteYield())
        site_yield.pages += 1
        site_yield.on_topic += link.is_on_topic

        # The link itself, in place of the oldest one.
        if len(self._links) == REMEMBERED:
            self._by_page.pop(self._links[0].page, None)
        self._links.append(link)
        self._by_page[link.page] = link

        # The page on which it was first seen.
        link_to_source = self._by_page.get(first_seen_on) if first_seen_on is not None else None
        if link.is_on_topic and link_to_source is not None:
            link_to_source.is_on_topic = True

    def present_yield(self) -> float:
        """The share of the last pages that count as on the topic.

        >>> LinkChances().present_yield()
        0.0
        """
        last_links = list(islice(reversed(self._links), WINDOW))
        return sum(link.is_on_topic for link in last_links) / (len(last_links) + FIRST_PAGES)

    def least_promising(self) -> float:
        """The least score of promising links to good sites."""
        return self.least_score(PROMISING_SHARE * self.present_yield())

    def least_to_others(self) -> float:
        """The least score of promising links to other sites."""
        return self.least_score(GOOD_SHARE * self.present_yield())

    def good_sites(self) -> list[int]:
        """The sites whose yield is at least `GOOD_SHARE` of the present yield."""
        least_yield = GOOD_SHARE * self.present_yield()
        return [number for number, site in self._sites.items() if site.on_topic >= least_yield * site.pages]

    def least_possible(self, min_chance: float) -> float:
        """The score below which links certainly have less than this chance, as far as has been learned
        (`Pool.highest_chance`); `NO_SCORE` if all links have less.
        """
        possible = takewhile(lambda pool: pool.highest_chance >= min_chance, reversed(self._pools()))
        return min((pool.least_score for pool in possible), default=NO_SCORE)

    def least_score(self, min_chance: float) -> float:
        """The least score whose links lead to the topic with at least this chance; `NO_SCORE` if there is none.

        >>> chances = LinkChances()
        >>> chances.least_score(0.05)
        0.16
        >>> for page in range(30):
        ...     chances.add(JudgedLink(0.2, page, is_on_topic=False), site=1, first_seen_on=None)
        >>> chances.least_score(0.05)
        0.22
        """
        return next((pool.least_score for pool in self._pools() if pool.chance >= min_chance), NO_SCORE)

    def _pools(self) -> list[Pool]:
        """The remembered links and the prior in pools of rising score and chance."""
        scores = [step / PRIOR_STEPS for step in range(PRIOR_STEPS + 1)]
        prior_pages = PRIOR_PAGES / PRIOR_STEPS
        single_pools = [Pool(score, prior_pages, prior_pages * min(1.0, PRIOR_FACTOR * score**2)) for score in scores]
        single_pools += [Pool(link.score, 1.0, float(link.is_on_topic)) for link in self._links]
        pools: list[Pool] = []
        for pool in sorted(single_pools, key=lambda pool: pool.least_score):
            pools.append(pool)
            while len(pools) > 1 and pools[-2].chance >= pools[-1].chance:
                above = pools.pop()
                pools[-1].links += above.links
                pools[-1].on_topic += above.on_topic
        return pools
