"""What a text says that another did not: by paragraphs, and within those that changed by words, or characters.

Two sequences are matched from both ends; what is left is cut where something stands once in each of them (Bram Cohen's
patience diff), and what is left of that, where it is short, is matched by difflib, whose time grows with the square of
the length. So a long text takes no longer than it must, and one that was made to take long is matched less finely.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from crawler.text import UNSPACED

MOST_LETTERS = 200_000
"""Of each text that are compared."""
MOST_TOKENS = 50_000
"""Of all changed paragraphs that are compared by words."""
MOST_LINES = 4_000
FINE, ALL_FINE = 200 * 200, 150_000
"""Pairs of one place, and of all, that difflib may look at."""
MOST_STEPS = 2_000
"""Places that are cut further."""
ALIKE = 0.35
"""The share of two paragraphs that must be the same to show what changed within them."""
AROUND = 1
"""Paragraphs that are shown beside a change."""
LONG, EDGE = 400, 120
"""From how many characters on an unchanged stretch of a paragraph is cut, and what stays at its ends."""
_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+|\n|[^\S\n]+|.")

SAME, REMOVED, ADDED, FOLDED = "same", "removed", "added", "folded"


class Piece(NamedTuple):
    """A stretch of text that is the same, removed, added, or folded."""

    kind: str
    text: str
    """Empty where it is folded."""
    letters: int


class Paragraph(NamedTuple):
    """A line of the comparison, or some that are the same and folded."""

    kind: str
    """same, removed, added, changed, or folded."""
    pieces: tuple[Piece, ...]
    number: int = 1
    """Of paragraphs, where some are folded."""


class Difference(NamedTuple):
    """How one text became another."""

    paragraphs: tuple[Paragraph, ...]
    removed: int
    """Characters."""
    added: int
    share: float
    """How much of both texts is in one alone, from 0 to 1."""
    unread: int
    """Characters that are not compared as the texts are too long."""
    is_coarse: bool
    """Whether some changes are shown larger than they are, as it would take too long to find what is the same."""


class Match(NamedTuple):
    """Where a stretch of one sequence is the same in the other."""

    old: int
    new: int
    size: int


@dataclass
class _Budget:
    """What may still be looked at."""

    pairs: int = ALL_FINE
    tokens: int = MOST_TOKENS
    is_spent: bool = False


def difference(old: str, new: str) -> Difference:
    """How the old text became the new one.

    >>> [one.kind for one in difference("Bees dance.\\nBees hum.", "Bees dance.\\nBees sting.").paragraphs]
    ['same', 'changed']
    """
    lines, unread = [], 0
    for text in (old, new):
        mine = [line for line in text[:MOST_LETTERS].split("\n") if line.strip()]
        lines.append(mine[:MOST_LINES])
        unread += max(0, len(text) - MOST_LETTERS) + sum(map(len, mine[MOST_LINES:]))
    budget = _Budget()
    found = list(_paragraphs(lines[0], lines[1], budget))
    counts = Counter[str]()
    for paragraph in found:
        for piece in paragraph.pieces:
            counts[piece.kind] += piece.letters
    changed, both = counts[REMOVED] + counts[ADDED], sum(map(len, lines[0])) + sum(map(len, lines[1]))
    share = min(1.0, changed / both) if both else 0.0
    return Difference(tuple(_folded(found)), counts[REMOVED], counts[ADDED], share, unread, budget.is_spent)


def _paragraphs(old: list[str], new: list[str], budget: _Budget) -> Iterator[Paragraph]:
    at_old = at_new = 0
    for match in [*matches(old, new, budget), Match(len(old), len(new), 0)]:
        yield from _changed(old[at_old : match.old], new[at_new : match.new], budget)
        for line in old[match.old : match.old + match.size]:
            yield Paragraph(SAME, (Piece(SAME, line, len(line)),))
        at_old, at_new = match.old + match.size, match.new + match.size


def _changed(old: list[str], new: list[str], budget: _Budget) -> Iterator[Paragraph]:
    """Paragraphs that took the place of others: one by one by their words, where they are alike."""
    pairs = min(len(old), len(new))
    for before, after in zip(old[:pairs], new[:pairs], strict=True):
        pieces = _words(before, after, budget)
        same = sum(piece.letters for piece in pieces if piece.kind == SAME)
        if 2 * same >= ALIKE * (len(before) + len(after)):
            yield Paragraph("changed", tuple(_cut(pieces)))
        else:
            yield from (_whole(REMOVED, before), _whole(ADDED, after))
    yield from (_whole(REMOVED, line) for line in old[pairs:])
    yield from (_whole(ADDED, line) for line in new[pairs:])


def _whole(kind: str, line: str) -> Paragraph:
    return Paragraph(kind, (Piece(kind, line, len(line)),))


def _words(before: str, after: str, budget: _Budget) -> list[Piece]:
    """The pieces of a paragraph that changed."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    budget.tokens -= len(old) + len(new)
    if budget.tokens < 0:
        budget.is_spent = True
        return [Piece(REMOVED, before, len(before)), Piece(ADDED, after, len(after))]
    both = Counter(filter(str.strip, old)) & Counter(filter(str.strip, new))
    if 2 * sum(len(token) * count for token, count in both.items()) < ALIKE * (len(before) + len(after)):
        return [Piece(REMOVED, before, len(before)), Piece(ADDED, after, len(after))]  # in no order can it be more
    found: list[Piece] = []
    at_old = at_new = 0
    for match in [*matches(old, new, budget), Match(len(old), len(new), 0)]:
        for kind, tokens in (
            (REMOVED, old[at_old : match.old]),
            (ADDED, new[at_new : match.new]),
            (SAME, old[match.old : match.old + match.size]),
        ):
            if text := "".join(tokens):
                found.append(Piece(kind, text, len(text)))
        at_old, at_new = match.old + match.size, match.new + match.size
    return found


def _cut(pieces: list[Piece]) -> Iterator[Piece]:
    """The pieces with the middle of long unchanged ones folded."""
    for piece in pieces:
        if piece.kind == SAME and piece.letters > LONG:
            yield Piece(SAME, piece.text[:EDGE], EDGE)
            yield Piece(FOLDED, "", piece.letters - 2 * EDGE)
            yield Piece(SAME, piece.text[-EDGE:], EDGE)
        else:
            yield piece


def _folded(paragraphs: list[Paragraph]) -> Iterator[Paragraph]:
    """The paragraphs, with those that are far from any change folded."""
    near: set[int] = set()
    for at, one in enumerate(paragraphs):
        if one.kind != SAME:
            near.update(range(at - AROUND, at + AROUND + 1))
    hidden: list[Paragraph] = []
    paragraph: Paragraph | None
    for at, paragraph in enumerate([*paragraphs, None]):
        if paragraph is not None and at not in near:
            hidden.append(paragraph)
            continue
        if hidden:
            letters = sum(piece.letters for one in hidden for piece in one.pieces)
            yield Paragraph(FOLDED, (Piece(FOLDED, "", letters),), len(hidden))
            hidden = []
        if paragraph is not None:
            yield Paragraph(paragraph.kind, tuple(_cut(list(paragraph.pieces))), paragraph.number)


def matches(old: Sequence[str], new: Sequence[str], budget: _Budget | None = None) -> list[Match]:
    """Stretches that are the same in both, in order, found within bounds of time.

    >>> matches("abcd", "axcd")
    [Match(old=0, new=0, size=1), Match(old=2, new=2, size=2)]
    """
    budget = budget or _Budget()
    found: list[Match] = []
    places = [(0, len(old), 0, len(new))]
    for _ in range(MOST_STEPS):
        if not places:
            break
        lo, hi, start, end = _ends(old, new, places.pop(), found)
        if lo == hi or start == end:
            continue
        size = (hi - lo) * (end - start)
        if anchors := _anchors(old[lo:hi], new[start:end]):
            found += [Match(lo + one, start + other, 1) for one, other in anchors]
            bounds = [(-1, -1), *anchors, (hi - lo, end - start)]
            for (a, b), (c, d) in pairwise(bounds):
                places.append((lo + a + 1, lo + c, start + b + 1, start + d))
        elif size <= min(FINE, budget.pairs):
            budget.pairs -= size
            matcher = SequenceMatcher(None, old[lo:hi], new[start:end], autojunk=False)
            found += [Match(lo + a, start + b, n) for a, b, n in matcher.get_matching_blocks() if n]
        elif not set(old[lo:hi]).isdisjoint(new[start:end]):
            budget.is_spent = True
    budget.is_spent |= bool(places)
    return _joined(sorted(found))


def _ends(
    old: Sequence[str], new: Sequence[str], place: tuple[int, int, int, int], found: list[Match]
) -> tuple[int, int, int, int]:
    """The place without what is the same at its ends, which goes to what was found."""
    lo, hi, start, end = place
    first = (lo, start)
    while lo < hi and start < end and old[lo] == new[start]:
        lo, start = lo + 1, start + 1
    if lo > first[0]:
        found.append(Match(*first, lo - first[0]))
    last = hi
    while lo < hi and start < end and old[hi - 1] == new[end - 1]:
        hi, end = hi - 1, end - 1
    if hi < last:
        found.append(Match(hi, end, last - hi))
    return lo, hi, start, end


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Where what stands once in each of both is, as far as it is in the same order: the longest such row."""
    olds, news = Counter(old), Counter(new)
    where = {one: at for at, one in enumerate(old) if olds[one] == 1}
    pairs = [(where[one], at) for at, one in enumerate(new) if news[one] == 1 and one in where and not one.isspace()]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (one, _) in enumerate(pairs):
        place = bisect_left(tails, one)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1], ends[place : place + 1] = [one], [at]
    found: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _joined(found: list[Match]) -> list[Match]:
    """Matches of which no two touch."""
    joined: list[Match] = []
    for match in found:
        if joined and (last := joined[-1]).old + last.size == match.old and last.new + last.size == match.new:
            joined[-1] = Match(last.old, last.new, last.size + match.size)
        else:
            joined.append(match)
    return joined
