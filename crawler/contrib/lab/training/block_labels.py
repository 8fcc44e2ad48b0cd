"""Which blocks of a page are main text, by its gold text.

A block's label is the share of its tokens that stands in the gold. Where a run of four tokens of the page is in the
gold its tokens do, but short blocks have no such run, and what a page says twice is in the gold once. So page and gold
are laid side by side: runs that are once in each are anchors, the longest chain of anchors in order is kept, and what
lies between two anchors is compared token by token. A block of four tokens or more that the alignment leaves out, since
the gold has another order, is judged by its runs alone; a repeated one is not, when another copy of it was aligned.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

RUN = 4
# Tokens between two anchors that are compared: beyond, only a run can match, which is what anchors are.
GAP = 300
Span = tuple[int, int]


def labels(blocks: Sequence[Sequence[str]], gold: Sequence[str]) -> list[float]:
    """For each block, the share of its tokens that is in the gold text."""
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
    """The positions of the page's tokens that the alignment finds in the gold."""
    in_page = _once(page)
    in_gold = _once(gold)
    anchors = sorted((place, in_gold[run]) for run, place in in_page.items() if run in in_gold)
    chain = [(-1, -1), *_chain(anchors), (len(page), len(gold))]
    for (left, other_left), (right, other_right) in pairwise(chain):
        for at in range(left, min(left + RUN, right)):
            if at >= 0 and other_left + at - left < other_right:
                yield at
        start = left + 1 if left < 0 else left + RUN
        other = other_left + 1 if left < 0 else other_left + RUN
        yield from _between(page, (start, right), gold, (other, other_right))


def _between(page: Sequence[str], page_span: Span, gold: Sequence[str], theirs: Span) -> Iterator[int]:
    """The positions between two anchors whose tokens are between them in the gold too, near one of the anchors."""
    (start, end), (other, other_end) = page_span, theirs
    if start >= end or other >= other_end:
        return
    length = min(other_end - other, GAP)
    # Tokens far from both anchors on a page are not those between them in the gold.
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


def _once(tokens: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The runs that occur once, and their positions."""
    places: dict[tuple[str, ...], int] = {}
    twice = set()
    for at, run in enumerate(_runs(tokens)):
        if run in places:
            twice.add(run)
        places[run] = at
    return {run: at for run, at in places.items() if run not in twice}


def _chain(pairs: Sequence[Span]) -> list[Span]:
    """The longest sequence of pairs that grow on both sides, by patience sorting."""
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
