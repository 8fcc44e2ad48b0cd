"""Labels the blocks of a page as main text or not, by its gold text.

The label of a block is the share of its tokens that are in the gold. It is not enough to search the gold for each run
of four tokens: short blocks have no run, and a text that the page repeats may be in the gold only once. So page and
gold are aligned:

1. The runs that occur once in each text are anchors: a position in the page and one in the gold.
2. The longest chain of anchors in the same order is kept.
3. The tokens between two anchors are compared one by one.
4. The alignment misses a block if the gold has another order. So the runs of a block of four tokens or more are also
   searched in the gold, and the larger share counts. The runs are not searched if a block with the same text was
   aligned, because then this block is a repetition.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

RUN = 4
"""Tokens of a run."""
GAP = 300
"""If the gold has more tokens than this between two anchors, only this many near each anchor are compared one by one.
Tokens further away can only match as runs.
"""
SLACK = 20
"""If the page has more than twice the gold's tokens there, plus SLACK, they too are compared only near the anchors."""
Span = tuple[int, int]
"""The positions of the first token of a passage, and of the first one after it."""
Anchor = tuple[int, int]
"""The positions of a run in the page and in the gold."""


def labels(blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> list[float]:
    """The label of each block: the share of its tokens that are in the gold text."""
    page = [token for block in blocks for token in block]
    aligned = set(_aligned(page, gold))
    gold_runs = set(_runs(gold))

    # A block is aligned if at least half of its tokens are.
    aligned_texts: set[tuple[str, ...]] = set()
    spans = []
    start = 0
    for block in blocks:
        end = start + len(block)
        spans.append((start, end))
        hits = sum(position in aligned for position in range(start, end))
        if block and hits >= len(block) / 2:
            aligned_texts.add(tuple(block))
        start = end
    return [_share(block, span, aligned, gold_runs, aligned_texts) for block, span in zip(blocks, spans, strict=True)]


def _share(
    block: Sequence[str],
    span: Span,
    aligned: set[int],
    gold_runs: set[tuple[str, ...]],
    aligned_texts: set[tuple[str, ...]],
) -> float:
    """The share of a block's tokens that are in the gold, by the alignment or by the block's runs (step 4)."""
    if not block:
        return 0.0
    share = sum(position in aligned for position in range(*span)) / len(block)
    if len(block) < RUN or tuple(block) in aligned_texts:
        return share
    covered: set[int] = set()
    for start, run in enumerate(_runs(block)):
        if run in gold_runs:
            covered.update(range(start, start + RUN))
    return max(share, len(covered) / len(block))


def _runs(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The runs of four tokens, one from each token on."""
    return zip(*(tokens[start:] for start in range(RUN)), strict=False)


def _aligned(page: Sequence[str], gold: Sequence[str]) -> Iterator[int]:
    """The positions of the tokens of the page that the alignment finds in the gold."""
    page_runs = _unique_runs(page)
    gold_runs = _unique_runs(gold)
    anchors = sorted((position, gold_runs[run]) for run, position in page_runs.items() if run in gold_runs)
    before_all = (-RUN, -RUN)  # a run that ends where the texts begin
    after_all = (len(page), len(gold))
    for (left, gold_left), (right, gold_right) in pairwise([before_all, *_chain(anchors), after_all]):
        # The tokens of the left anchor itself. If the anchors overlap, only those before the right one in both texts.
        for position in range(max(left, 0), min(left + RUN, right)):
            if gold_left + position - left < gold_right:
                yield position
        # The tokens between the two anchors.
        yield from _between(page, (left + RUN, right), gold, (gold_left + RUN, gold_right))


def _between(page: Sequence[str], page_span: Span, gold: Sequence[str], gold_span: Span) -> Iterator[int]:
    """The positions of the page's tokens between two anchors that match tokens of the gold between the same anchors."""
    start, end = page_span
    gold_start, gold_end = gold_span
    if start >= end or gold_start >= gold_end:
        return
    pieces = [(start, end, gold_start, gold_end)]
    gold_length = gold_end - gold_start
    # If much lies between the anchors, only the tokens after the left one and before the right one are compared. The
    # second piece may be empty.
    if gold_length > GAP or end - start > 2 * gold_length + SLACK:
        pieces = [
            (start, min(end, start + GAP), gold_start, min(gold_end, gold_start + GAP)),
            (max(start + GAP, end - GAP), end, max(gold_start + GAP, gold_end - GAP), gold_end),
        ]
    for left, right, gold_left, gold_right in pieces:
        if left < right and gold_left < gold_right:
            matcher = SequenceMatcher(None, page[left:right], gold[gold_left:gold_right], autojunk=False)
            for match in matcher.get_matching_blocks():
                yield from range(left + match.a, left + match.a + match.size)


def _unique_runs(tokens: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The positions of the runs that occur once."""
    positions: dict[tuple[str, ...], int] = {}
    repeated = set()
    for position, run in enumerate(_runs(tokens)):
        if run in positions:
            repeated.add(run)
        positions[run] = position
    return {run: position for run, position in positions.items() if run not in repeated}


def _chain(anchors: Sequence[Anchor]) -> list[Anchor]:
    """The longest sequence of anchors in which both positions increase, by patience sorting.

    The anchors are in the order of the page, each on another position.
    """
    # For each length, one chain is remembered: the one that ends earliest in the gold. `gold_ends` has the position of
    # its last anchor in the gold, `last_anchors` the index of this anchor.
    gold_ends: list[int] = []
    last_anchors: list[int] = []
    previous: list[int] = []  # for each anchor the index of the anchor before it in its chain; -1 for the first one
    for index, (_, gold_position) in enumerate(anchors):
        length = bisect_left(gold_ends, gold_position)
        if length == len(gold_ends):
            gold_ends.append(gold_position)
            last_anchors.append(index)
        else:
            gold_ends[length] = gold_position
            last_anchors[length] = index
        previous.append(last_anchors[length - 1] if length else -1)

    # From the last anchor of the longest chain back to its first.
    chain = []
    index = last_anchors[-1] if last_anchors else -1
    while index >= 0:
        chain.append(anchors[index])
        index = previous[index]
    return chain[::-1]
