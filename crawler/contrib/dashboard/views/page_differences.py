"""What a text says that another did not: by paragraphs, and within those that changed by words, or characters.

Both are matched by difflib, whose time can grow with the cube of the length: what a text that was made to take long
would cost is known beforehand, and where that is too much, all that lies between what is the same at both ends is
shown as changed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby

from crawler.page.text import UNSPACED

MOST_LETTERS = 200_000
"""Characters of each text that are compared."""
MOST_TOKENS = 50_000
"""Words of all changed paragraphs that are compared word by word."""
MOST_LINES = 4_000
MOST_STEPS = 5_000_000
"""Steps that difflib may take at worst, for all of both texts."""
ALIKE = 0.35
"""The share of two paragraphs that must be the same to show what changed within them."""
AROUND = 1
"""Paragraphs that are shown beside a change."""
LONG = 400
"""From how many characters on an unchanged stretch of a paragraph is cut."""
EDGE = 120
"""Characters that stay at each end of such a stretch."""
_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+|\n|[^\S\n]+|.")

SAME = "same"
REMOVED = "removed"
ADDED = "added"
FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is the same, removed, added, or folded."""

    kind: str
    text: str
    """Empty where it is folded."""
    letters: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of the comparison, or some that are the same and folded."""

    kind: str
    """same, removed, added, changed, or folded."""
    pieces: tuple[Piece, ...]
    number: int = 1
    """How many paragraphs it stands for, if they are folded."""


@dataclass(frozen=True, slots=True)
class Difference:
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


@dataclass
class _Budget:
    """What may still be looked at."""

    steps: int = MOST_STEPS
    tokens: int = MOST_TOKENS
    is_spent: bool = False


def difference(old: str, new: str) -> Difference:
    """How the old text became the new one.

    >>> [one.kind for one in difference("Bees dance.\\nBees hum.", "Bees dance.\\nBees sting.").paragraphs]
    ['same', 'changed']
    """
    lines = []
    unread = 0
    for text in (old, new):
        lines_of_text = [line for line in text[:MOST_LETTERS].split("\n") if line.strip()]
        lines.append(lines_of_text[:MOST_LINES])
        unread += max(0, len(text) - MOST_LETTERS) + sum(map(len, lines_of_text[MOST_LINES:]))
    budget = _Budget()
    paragraphs = list(_paragraphs(lines[0], lines[1], budget))
    counts = Counter[str]()
    for paragraph in paragraphs:
        for piece in paragraph.pieces:
            counts[piece.kind] += piece.letters
    changed = counts[REMOVED] + counts[ADDED]
    both = sum(map(len, lines[0])) + sum(map(len, lines[1]))
    share = min(1.0, changed / both) if both else 0.0
    return Difference(
        paragraphs=tuple(_folded(paragraphs)),
        removed=counts[REMOVED],
        added=counts[ADDED],
        share=share,
        unread=unread,
        is_coarse=budget.is_spent,
    )


def _paragraphs(old: list[str], new: list[str], budget: _Budget) -> Iterator[Paragraph]:
    for is_same, before, after in parts(old, new, budget):
        if is_same:
            yield from (Paragraph(SAME, (Piece(SAME, line, len(line)),)) for line in before)
        else:
            yield from _changed(before, after, budget)


def _changed(old: Sequence[str], new: Sequence[str], budget: _Budget) -> Iterator[Paragraph]:
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
    old = _TOKEN.findall(before)
    new = _TOKEN.findall(after)
    budget.tokens -= len(old) + len(new)
    if budget.tokens < 0:
        budget.is_spent = True
        return [Piece(REMOVED, before, len(before)), Piece(ADDED, after, len(after))]
    pieces = []
    for is_same, ours, theirs in parts(old, new, budget):
        for kind, tokens in ((SAME, ours),) if is_same else ((REMOVED, ours), (ADDED, theirs)):
            text = "".join(tokens)
            if text:
                pieces.append(Piece(kind, text, len(text)))
    return pieces


def parts(
    old: Sequence[str], new: Sequence[str], budget: _Budget
) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """Stretches of both in order, those that are the same and those that are not; within bounds of time.

    >>> list(parts("abcd", "axcd", _Budget()))
    [(True, 'a', 'a'), (False, 'b', 'x'), (True, 'cd', 'cd')]
    """
    first = _same(old, new)
    last = len(old) - _same(old[first:][::-1], new[first:][::-1])
    end = last + len(new) - len(old)
    old_part = old[first:last]
    theirs = new[first:end]
    olds, news = (Counter(word for word in part if not word.isspace()) for part in (old_part, theirs))
    # Each stretch that is found takes a look at all pairs of what is alike.
    steps = sum(count * news[word] for word, count in olds.items()) * min(len(old_part), len(theirs))
    yield True, old[:first], new[:first]
    if steps > budget.steps:
        budget.is_spent = True
        yield False, old_part, theirs
    else:
        budget.steps -= steps
        matcher = SequenceMatcher(str.isspace, old_part, theirs, autojunk=False)
        for what, a, b, c, d in matcher.get_opcodes():
            yield what == "equal", old_part[a:b], theirs[c:d]
    yield True, old[last:], new[end:]


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    """How many begin both."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (old_word, other) in pairs if old_word != other), min(len(old), len(new)))


def _cut(pieces: Iterable[Piece]) -> Iterator[Piece]:
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
    for at, paragraph in enumerate(paragraphs):
        if paragraph.kind != SAME:
            near.update(range(at - AROUND, at + AROUND + 1))
    for is_shown, some in groupby(enumerate(paragraphs), lambda numbered: numbered[0] in near):
        those = [paragraph for _, paragraph in some]
        if is_shown:
            yield from (replace(paragraph, pieces=tuple(_cut(paragraph.pieces))) for paragraph in those)
        else:
            letters = sum(piece.letters for paragraph in those for piece in paragraph.pieces)
            yield Paragraph(FOLDED, (Piece(FOLDED, "", letters),), len(those))
