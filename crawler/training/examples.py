"""What there is to learn from: pages with gold text, and pages of which some snippets are known."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from crawler.evaluation.metrics import tokens
from crawler.extraction.auto import sight
from crawler.extraction.auto.sight import Floats, Sight
from crawler.page.page import Page
from crawler.training.labels import labels

SET_EXPONENT = 0.35
"""A set of so many times fewer pages than the largest weighs that number to this power more."""
MOST_WEIGHT = 3.0
SNIPPETS_WEIGHT = 0.7
MOST_PLACES = 3
"""Blocks that have a snippet: what stands in more of them may be meant in one alone."""


class Example(NamedTuple):
    """A page to learn from."""

    group: str
    """The set it is of."""
    site: str
    seen: Sight
    labels: Floats
    """The share of each block that is main text, NaN where it is not known."""
    page_type: str

    @property
    def is_golden(self) -> bool:
        """Whether all of the page is known."""
        return not np.isnan(self.labels).any()


def example(group: str, site: str, page: Page, gold: str, page_type: str) -> Example:
    """A page with its gold text; there must be a block."""
    found = labels([tokens(block.text) for block in page.blocks], tokens(gold))
    return Example(group, site, sight.sight(page), np.array(found, np.float32), page_type)


def snippets(group: str, site: str, page: Page, present: Iterable[str], absent: Iterable[str]) -> Example:
    """A page of which it is known that its main text has some snippets and lacks others."""
    texts = [" ".join(tokens(block.text)) for block in page.blocks]
    found = np.full(len(texts), np.nan, np.float32)
    for value, wanted in ((0.0, absent), (1.0, present)):
        for snippet in wanted:
            words = " ".join(tokens(snippet))
            places = [place for place, text in enumerate(texts) if words and words in text]
            if len(places) <= MOST_PLACES or not value:
                found[places] = value
    return Example(group, site, sight.sight(page), found, "")


def parts_of(sites: Iterable[str], parts: int, seed: int) -> dict[str, int]:
    """The part that each site is in."""
    found = sorted(set(sites))
    np.random.default_rng(seed).shuffle(found)
    return {site: place % parts for place, site in enumerate(found)}


def weights_of(examples: Sequence[Example]) -> list[float]:
    """What each example weighs.

    A set with few pages counts more than its number, or the largest set's idea of main text would be everyone's.
    """
    sizes: dict[str, int] = {}
    for one in examples:
        sizes[one.group] = sizes.get(one.group, 0) + 1
    most = max(sizes.values())
    weight = {group: min(MOST_WEIGHT, (most / size) ** SET_EXPONENT) for group, size in sizes.items()}
    return [weight[one.group] if one.is_golden else SNIPPETS_WEIGHT for one in examples]
