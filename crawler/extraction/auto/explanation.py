"""Explains why the model keeps or drops a block, by how its probability changes if some features are replaced.

The features of one group after another are set to their usual values, for all blocks of the page at once, because the
neighbours of a block also affect it. The groups whose replacement makes the verdict least certain become its reasons
(`BlockReason`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import auto
from functools import cache
from math import expm1

import numpy as np

from crawler.extraction.auto import BALANCE, FAVOURS, block_features, network, page_arrays
from crawler.extraction.auto.model import Model, best_f, judge, judged, shipped, together, tokens
from crawler.extraction.auto.page_arrays import TAGS, Floats
from crawler.extraction.auto.repeated_blocks import alike
from crawler.page.page import Page
from crawler.translation.message import N_
from crawler.translation.reasons import Groups, Judged, Reason, ReasonCode, has, weightiest

MOST_EXPLAINED = 1_000
"""The most blocks of a page that is explained, because the page is judged once more for each group of features."""
_LEAST_P = 1e-6
"""The least probability whose logit is computed, as that of 0 is infinite."""


@dataclass(frozen=True, slots=True)
class BlockExplanation:
    """The model's verdict on a block."""

    probability: float
    """The probability that it is main text."""
    reasons: tuple[Reason, ...]
    """Why the probability is above or below the threshold, the strongest reason first; empty if the page has too many
    blocks.
    """


@dataclass(frozen=True, slots=True)
class PageExplanation:
    """The model's verdict on a page."""

    limit: float
    """The least probability of a kept block: `share * best`."""
    best: float
    """The best F that can be expected."""
    share: float
    """The weight of precision."""
    blocks: tuple[BlockExplanation, ...]


def explain(page: Page, favour: str = BALANCE, model: Model | None = None) -> PageExplanation:
    """Why each block of a page is main text or not. Only the first blocks of a page are judged and explained."""
    share = FAVOURS[favour]
    if not page.blocks:
        return PageExplanation(limit=0.0, best=0.0, share=share, blocks=())
    if len(page.blocks) > MOST_EXPLAINED:
        judgement = page.once(judged) if model is None else judge(page, model)
        best = best_f(judgement.probabilities, judgement.tokens, share)
        unexplained = tuple(
            BlockExplanation(probability=chance, reasons=()) for chance in judgement.probabilities.tolist()
        )
        return PageExplanation(limit=share * best, best=best, share=share, blocks=unexplained)

    # The same steps as in `judge`: here the features are changed, and the network computes the probabilities again.
    model = model or shipped()
    arrays = page_arrays.page_arrays(page)
    levels = page_arrays.ranges(arrays)
    outline = arrays.outline
    groups_of_blocks = network.block_groups(levels, outline.starts, outline.ends, outline.paths[arrays.homes])
    features = block_features.features(arrays, model.vocabulary.scores(arrays), levels)
    matrix = features.matrix
    names = features.names
    first = model.networks[0]
    normalized = np.clip((matrix - first.means[:, None]) * first.scales[:, None], -network.LIMIT, network.LIMIT).T

    def probabilities_of(rows: Floats) -> Floats:
        return together(model.networks, network.hidden_of(model.networks, rows, groups_of_blocks))[1]

    network_probabilities = probabilities_of(normalized)
    changes = _changes(names, normalized, probabilities_of, network_probabilities)
    chances = alike(network_probabilities, arrays)
    best = best_f(chances, tokens(arrays), share)
    limit = share * best
    blocks = []
    for at, chance in enumerate(chances.tolist()):
        feature_values = dict(zip(names, matrix[:, at].tolist(), strict=True))
        block = JudgedBlock(feature_values.__getitem__, chance >= limit)
        change_of_group = {group: float(change[at]) for group, change in changes.items()}
        reasons = weightiest(GROUPS, change_of_group, block) or (Reason(BlockReason.ALL_TOGETHER, {}),)
        blocks.append(BlockExplanation(probability=chance, reasons=reasons))
    return PageExplanation(limit=limit, best=best, share=share, blocks=tuple(blocks))


def _changes(
    names: list[str], normalized: Floats, probabilities_of: Callable[[Floats], Floats], probabilities: Floats
) -> dict[str, Floats]:
    """For each group, by how much the logit of each block would fall if the group had its usual values."""
    groups = np.array([group_of(name) for name in names])
    changes: dict[str, Floats] = {}
    for group in GROUPS:
        usual = normalized.copy()
        usual[:, groups == group] = 0  # the mean of a normalized feature
        changes[group] = _logit(probabilities) - _logit(probabilities_of(usual))
    return changes


def _logit(values: Floats) -> Floats:
    sure = np.clip(values.astype(np.float64), _LEAST_P, 1 - _LEAST_P)
    return np.log(sure / (1 - sure))


MOSTLY = 0.5
"""A property holds for most of a text above this share."""
SOME = 0.15
"""A property holds for a notable part of a text or page above this share."""
LITTLE = 0.05
"""A property holds for almost nothing below this share."""
LINE = 40
"""A line with fewer characters is short."""
PARAGRAPH = 200
"""A block with at least this many characters is long."""
NEAR = 2  # blocks up to the next sentences: they are beside the block
FAR = 6  # blocks beyond which the next sentences are far from the block
SPEAKS = 0.5
"""The least score of names or words that is a reason."""
# Elements that support the verdicts.
TEXT_ELEMENTS = ("article", "main", "p", "blockquote", "figcaption", "pre")
FRAME_ELEMENTS = ("nav", "header", "footer", "aside", "form", "button", "label", "iframe")


class JudgedBlock(Judged):
    """A block by its features; the verdict is whether it is main text."""

    @property
    def characters(self) -> int:
        return self.number("length")

    @property
    def linked(self) -> float:
        """The share of the block's text in links."""
        return self.feature("density")

    @property
    def element(self) -> str:
        """An element around it that supports the verdict."""
        return next(
            (tag for tag in (TEXT_ELEMENTS if self.verdict else FRAME_ELEMENTS) if self.feature(f"in {tag}")), ""
        )

    @property
    def tag(self) -> str:
        return next((tag for at, tag in enumerate(TAGS, 1) if self.feature(f"tag {at}")), "")

    @property
    def name_score(self) -> float:
        """How much the names of the elements around it indicate main text."""
        return self.feature("own names") + self.feature("names around")

    @property
    def lines(self) -> int:
        """The distance of the nearest sentences, in lines."""
        return min(self.number("prose ago"), self.number("prose ahead"))

    @property
    def share(self) -> float:
        """The largest share of the page's sentences in a container around it."""
        return max(self.feature(f"prose share ^{level}") for level in (1, 2, 3))

    @property
    def links(self) -> float:
        """The largest share of links in a container around it."""
        return max(self.feature(f"density ^{level}") for level in (0, 1))

    def path(self, part: str) -> float:
        """The share of `linked` text or `prose` in the text of the lines with the same path."""
        return expm1(self.feature(f"path {part}")) / max(1.0, expm1(self.feature("path width")))


class BlockReason(ReasonCode):
    """The reasons why a block is main text or not, with their conditions on the judged block, `b`. If several reasons
    of a group hold, the first one counts.
    """

    SENTENCES = auto(), N_("it has sentences ({characters:,} characters)"), has("stops")
    LONG = auto(), N_("it is long ({characters:,} characters)"), lambda b: b.characters >= PARAGRAPH
    SHORT = (
        auto(),
        N_("it is short and has no full stop ({characters:,} characters)"),
        lambda b: not b.feature("stops") and b.characters < LINE,
    )
    NO_STOP = auto(), N_("it has no full stop ({characters:,} characters)"), lambda b: not b.feature("stops")

    NO_LINKS = auto(), N_("almost none of it is links"), lambda b: b.linked < LITTLE
    FEW_LINKS = auto(), N_("no more than {linked:.0%} of it is links"), lambda b: b.linked <= SOME
    LINKS = auto(), N_("{linked:.0%} of it is links"), lambda b: b.linked > SOME

    TEXT_WORDS = auto(), N_("its words are typical of main text"), has("word score", over=SPEAKS)
    MENU_WORDS = auto(), N_("its words are typical of menus and notices"), lambda b: b.feature("word score") < -SPEAKS

    IN_ELEMENT = auto(), N_("it is in <{element}>"), lambda b: b.element
    ELEMENT = auto(), N_("its element is <{tag}>"), lambda b: b.tag

    NAMED_TEXT = auto(), N_("the elements around it have names typical of main text"), lambda b: b.name_score > SPEAKS
    NAMED_FRAME = (
        auto(),
        N_("the elements around it have names typical of a page's frame"),
        lambda b: b.name_score < -SPEAKS,
    )

    MIDDLE = (
        auto(),
        N_("it is in the middle of the page"),
        lambda b: min(b.feature("text before"), b.feature("text after")) > LITTLE,
    )
    REPEATED = auto(), N_("the page contains the same text more than once"), lambda b: b.number("copies") >= 1
    START = auto(), N_("it is at the start of the page"), lambda b: b.feature("text before") < SOME
    END = auto(), N_("it is at the end of the page"), lambda b: b.feature("text after") < SOME

    HEADLINE = auto(), N_("it is the headline"), has("is title")
    OF_TITLE = auto(), N_("it repeats the title"), has("in title", over=MOSTLY)
    UNDER_HEADLINE = auto(), N_("it is below the headline"), has("after title")
    BEFORE_HEADLINE = auto(), N_("it is before the headline"), has("before title")

    ARTICLE = auto(), N_("the page's structured data names it as the article"), has("in body", over=MOSTLY)
    OF_DESCRIPTION = auto(), N_("it repeats the page's description"), has("in description", over=MOSTLY)

    BESIDE_SENTENCES = auto(), N_("there are sentences next to it"), lambda b: b.lines <= NEAR
    BETWEEN_LINKS = (
        auto(),
        N_("there are links before it and after it"),
        lambda b: min(b.feature("density +1"), b.feature("density -1")) > MOSTLY,
    )
    FAR_FROM_SENTENCES = auto(), N_("the next sentences are {lines:,} lines away"), lambda b: b.lines > FAR

    UNDER_HEADING = auto(), N_("it is below a heading"), lambda b: not b.feature("heading 0")
    HEADING_OF_MENU = (
        auto(),
        N_("the heading above it has words typical of menus and notices"),
        lambda b: b.feature("heading words") < -SPEAKS,
    )
    NO_HEADING = auto(), N_("there is no heading above it"), has("heading 0")

    AMONG_SENTENCES = (
        auto(),
        N_("the elements around it have {share:.0%} of the page's sentences"),
        lambda b: b.share > SOME,
    )
    AMONG_LINKS = auto(), N_("{links:.0%} of the elements around it is links"), lambda b: b.links > MOSTLY
    APART_FROM_SENTENCES = (
        auto(),
        N_("the elements around it have almost none of the page's sentences"),
        lambda b: b.feature("prose share ^1") < LITTLE,
    )

    PATH_OF_SENTENCES = auto(), N_("most lines of the same elements are sentences"), lambda b: b.path("prose") > MOSTLY
    PATH_OF_LINKS = auto(), N_("most lines of the same elements are links"), lambda b: b.path("linked") > MOSTLY
    PATH_WITHOUT_SENTENCES = (
        auto(),
        N_("no line of the same elements is a sentence"),
        lambda b: b.path("prose") < LITTLE,
    )

    ALL_TOGETHER = auto(), N_("no single feature, but all of them together")
    COMMON = auto(), N_("other pages of its host contain it too")
    PART = auto(), N_("it is part of a table, a list or readers' comments, which are kept or left out as a whole")
    IN_DOUBT = (
        auto(),
        N_("the page is in doubt: elements that are alike are judged together, and one container has most of the text"),
    )


_R = BlockReason
GROUPS: Groups = {
    "text": ((_R.SHORT, _R.NO_STOP), (_R.SENTENCES, _R.LONG)),
    "links": ((_R.LINKS,), (_R.NO_LINKS, _R.FEW_LINKS)),
    "words": ((_R.MENU_WORDS,), (_R.TEXT_WORDS,)),
    "elements": ((_R.IN_ELEMENT, _R.ELEMENT), (_R.IN_ELEMENT, _R.ELEMENT)),
    "names": ((_R.NAMED_FRAME,), (_R.NAMED_TEXT,)),
    "place": ((_R.REPEATED, _R.START, _R.END), (_R.MIDDLE,)),
    "titles": ((_R.BEFORE_HEADLINE,), (_R.HEADLINE, _R.OF_TITLE, _R.UNDER_HEADLINE)),
    "described": ((), (_R.ARTICLE, _R.OF_DESCRIPTION)),
    "neighbours": ((_R.BETWEEN_LINKS, _R.FAR_FROM_SENTENCES), (_R.BESIDE_SENTENCES,)),
    "headings": ((_R.HEADING_OF_MENU, _R.NO_HEADING), (_R.UNDER_HEADING,)),
    "containers": ((_R.AMONG_LINKS, _R.APART_FROM_SENTENCES), (_R.AMONG_SENTENCES,)),
    "path": ((_R.PATH_OF_LINKS, _R.PATH_WITHOUT_SENTENCES), (_R.PATH_OF_SENTENCES,)),
}
"""For each group of features the reasons against main text, and the reasons for it."""
_GROUP_OF_NAME = {
    **dict.fromkeys(("density", "links"), "links"),
    "word score": "words",
    **dict.fromkeys(("own names", "names around"), "names"),
    **dict.fromkeys(("text before", "text after", "at", "log at", "log from end", "copies"), "place"),
    **dict.fromkeys(("in title", "of title", "after title", "before title", "is title"), "titles"),
    **dict.fromkeys(("in description", "of description", "in body"), "described"),
    **dict.fromkeys(("depth", "images", "images after"), "elements"),
    **dict.fromkeys(("prose ago", "prose ahead", "step", "step after"), "neighbours"),
    **dict.fromkeys(("same home before", "same home after", "sibling before", "sibling after"), "neighbours"),
}
_GROUP_OF_FIRST_WORD = {
    **dict.fromkeys(("tag", "wrap", "in"), "elements"),
    "heading": "headings",
    "path": "path",
    "page": "page",
}


@cache
def group_of(name: str) -> str:
    """The group that explains a feature; the type of page (`page`) is not used as an explanation.

    >>> group_of("density"), group_of("density ^2"), group_of("in nav"), group_of("width -1")
    ('links', 'containers', 'elements', 'neighbours')
    """
    if name in _GROUP_OF_NAME:
        return _GROUP_OF_NAME[name]
    last = name.rpartition(" ")[2]
    if last[0] == "^":
        return "containers"
    if last[0] == "±" or last in ("+1", "-1"):
        return "neighbours"
    return _GROUP_OF_FIRST_WORD.get(name.partition(" ")[0], "text")
