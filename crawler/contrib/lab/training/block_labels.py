"""Labels the blocks of a page as main text or not, by its gold text.

The label of a block is the share of its tokens that are in the gold. If a run of four tokens of the page is in the
gold, so are its tokens; but short blocks have no such run, and a text that a page repeats is in the gold once. So page
and gold are aligned: the runs that occur once in each are anchors, the longest chain of anchors in the same order is
kept, and the tokens between two anchors are compared one by one. A block of four tokens or more may be missed by the
alignment because the gold has another order. Such a block is judged by its runs alone, unless another copy of it was
aligned.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

RUN = 4
"""Tokens of a run."""
GAP = 300
"""Tokens after or before an anchor that are compared one by one; tokens further away can only match as runs."""
Span = tuple[int, int]


def labels(blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> list[float]:
    """The label of each block: the share of its tokens that are in the gold text."""
    page = [token for block in blocks for token in block]
    aligned = set(_aligned(page, gold))
    runs = set(_runs(gold))
    copies: Counter[tuple[str, ...]] = Counter()
    spans = []
    start = 0
    for block in blocks:
        spans.append((start, start + len(block)))
        start += len(block)
        hits = sum(at in aligned for at in range(*spans[-1]))
        if block and hits >= len(block) / 2:
            copies[tuple(block)] += 1
    return [_share(block, span, aligned, runs, copies) for block, span in zip(blocks, spans, strict=True)]


def _share(
    block: Sequence[str],
    span: Span,
    aligned: set[int],
    runs: set[tuple[str, ...]],
    copies: Counter[tuple[str, ...]],
) -> float:
    if not block:
        return 0.0
    share = sum(at in aligned for at in range(*span)) / len(block)
    if len(block) < RUN or copies[tuple(block)]:
        return share
    covered: set[int] = set()
    for at, run in enumerate(_runs(block)):
        if run in runs:
            covered.update(range(at, at + RUN))
    return max(share, len(covered) / len(block))


def _runs(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[start:] for start in range(RUN)), strict=False)


def _aligned(page: Sequence[str], gold: Sequence[str]) -> Iterator[int]:
    """The positions of the tokens of the page that the alignment finds in the gold."""
    in_page = _unique_runs(page)
    in_gold = _unique_runs(gold)
    anchors = sorted((place, in_gold[run]) for run, place in in_page.items() if run in in_gold)
    chain = [(-1, -1), *_chain(anchors), (len(page), len(gold))]
    for (left, other_left), (right, other_right) in pairwise(chain):
        for at in range(left, min(left + RUN, right)):
            if at >= 0 and other_left + at - left < other_right:
                yield at
        start = left + 1 if left < 0 else left + RUN
        other = other_left + 1 if left < 0 else other_left + RUN
        yield from _between(page, (start, right), gold, (other, other_right))


def _between(page: Sequence[str], page_span: Span, gold: Sequence[str], gold_span: Span) -> Iterator[int]:
    """The positions between two anchors whose tokens the gold also has between them, near one of the anchors."""
    start, end = page_span
    other, other_end = gold_span
    if start >= end or other >= other_end:
        return
    length = min(other_end - other, GAP)
    # Tokens of the page that are far from both anchors do not match the few tokens between them in the gold.
    pieces = [(start, min(end, start + 2 * length + 20), other, other + length)]
    if end - start > 2 * length + 20 or other_end - other > GAP:
        pieces = [
            (start, min(end, start + GAP), other, min(other_end, other + GAP)),
            (max(start + GAP, end - GAP), end, max(other + GAP, other_end - GAP), other_end),
        ]
    for left, right, other_left, other_right in pieces:
        if left < right and other_left < other_right:
            matcher = SequenceMatcher(None, page[left:right], gold[other_left:other_right], autojunk=False)
            for match in matcher.get_matching_blocks():
                yield from range(left + match.a, left + match.a + match.size)


def _unique_runs(tokens: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The positions of the runs that occur once."""
    places: dict[tuple[str, ...], int] = {}
    repeated = set()
    for at, run in enumerate(_runs(tokens)):
        if run in places:
            repeated.add(run)
        places[run] = at
    return {run: at for run, at in places.items() if run not in repeated}


def _chain(pairs: Sequence[Span]) -> list[Span]:
    """The longest sequence of pairs in which both numbers increase, by patience sorting."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, other) in enumerate(pairs):
        place = bisect_left(tops, other)
        if place == len(tops):
            tops.append(other)
            ends.append(index)
        else:
            tops[place] = other
            ends[place] = index
        before.append(ends[place - 1] if place else -1)
    chain = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]
