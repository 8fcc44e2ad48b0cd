"""The differences between two texts: by paragraphs, and within changed paragraphs by words or Chinese characters.

Both levels are compared by difflib, whose time can grow with the cube of the length. So the cost of a comparison is
estimated first. If it is too high, everything between the common beginning and the common end is shown as changed.
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
"""Paragraphs of each text that are compared."""
MOST_STEPS = 5_000_000
"""Steps that difflib may take in the worst case, in all comparisons of parts of two texts together."""
ALIKE = 0.35
"""From this share of common characters on, two paragraphs are shown as one changed paragraph."""
AROUND = 1
"""Unchanged paragraphs that are shown on each side of a change."""
LONG = 400
"""Characters of an unchanged stretch of a paragraph beyond which its middle is folded."""
EDGE = 120
"""Characters at each end of a folded stretch that are shown."""
TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+|\n|[^\S\n]+|.")
"""A Chinese or other character of a script without spaces, a word, white space, or any other character."""

SAME = "same"
REMOVED = "removed"
ADDED = "added"
FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is the same, removed, added, or folded."""

    kind: str
    text: str
    """Empty if it is folded."""
    letters: int
    """The number of its characters, including folded ones."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of the comparison, or several unchanged ones that are folded."""

    kind: str
    """`same`, `removed`, `added`, `changed` or `folded`."""
    pieces: tuple[Piece, ...]
    number: int = 1
    """How many paragraphs it stands for: more than one only if they are folded."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two texts."""

    paragraphs: tuple[Paragraph, ...]
    removed: int
    """Removed characters."""
    added: int
    """Added characters."""
    share: float
    """The share of both texts that is only in one of them, from 0 to 1."""
    unread: int
    """Characters that are not compared because the texts are too long."""
    is_coarse: bool
    """Whether some changes are shown larger than they are, as an exact comparison would take too long."""


@dataclass
class _Budget:
    """The steps and tokens that the rest of a comparison may use."""

    steps: int = MOST_STEPS
    tokens: int = MOST_TOKENS
    is_exceeded: bool = False
    """Whether a part was not compared because it would have cost too much."""


def difference(old: str, new: str) -> Difference:
    """The difference between an old text and a new one.

    >>> [one.kind for one in difference("Bees dance.\\nBees hum.", "Bees dance.\\nBees sting.").paragraphs]
    ['same', 'changed']
    """
    old_lines, old_unread = _lines(old)
    new_lines, new_unread = _lines(new)
    budget = _Budget()
    paragraphs = list(_paragraphs(old_lines, new_lines, budget))

    letters_by_kind = Counter[str]()
    for paragraph in paragraphs:
        for piece in paragraph.pieces:
            letters_by_kind[piece.kind] += piece.letters
    removed = letters_by_kind[REMOVED]
    added = letters_by_kind[ADDED]
    total = sum(map(len, old_lines)) + sum(map(len, new_lines))
    return Difference(
        paragraphs=tuple(_folded(paragraphs)),
        removed=removed,
        added=added,
        share=min(1.0, (removed + added) / max(1, total)),
        unread=old_unread + new_unread,
        is_coarse=budget.is_exceeded,
    )


def _lines(text: str) -> tuple[list[str], int]:
    """The lines of a text that are compared, and the number of characters that are not."""
    lines = [line for line in text[:MOST_LETTERS].split("\n") if line.strip()]
    unread = max(0, len(text) - MOST_LETTERS) + sum(map(len, lines[MOST_LINES:]))
    return lines[:MOST_LINES], unread


def _paragraphs(old: list[str], new: list[str], budget: _Budget) -> Iterator[Paragraph]:
    """The paragraphs of the comparison, not folded yet."""
    for is_same, before, after in parts(old, new, budget):
        if is_same:
            yield from (Paragraph(SAME, (Piece(SAME, line, len(line)),)) for line in before)
        else:
            yield from _changed(before, after, budget)


def _changed(old: Sequence[str], new: Sequence[str], budget: _Budget) -> Iterator[Paragraph]:
    """The paragraphs `new`, which replaced `old`: compared in pairs, in order. A pair is one changed paragraph if its
    words are alike.
    """
    pairs = min(len(old), len(new))
    for before, after in zip(old[:pairs], new[:pairs], strict=True):
        pieces = _words(before, after, budget)
        same = sum(piece.letters for piece in pieces if piece.kind == SAME)
        if 2 * same >= ALIKE * (len(before) + len(after)):
            yield Paragraph("changed", tuple(_with_folded_middles(pieces)))
        else:
            yield from (_whole(REMOVED, before), _whole(ADDED, after))
    yield from (_whole(REMOVED, line) for line in old[pairs:])
    yield from (_whole(ADDED, line) for line in new[pairs:])


def _whole(kind: str, line: str) -> Paragraph:
    """A paragraph of one piece."""
    return Paragraph(kind, (Piece(kind, line, len(line)),))


def _words(before: str, after: str, budget: _Budget) -> list[Piece]:
    """The difference between two paragraphs, by words."""
    old = TOKEN.findall(before)
    new = TOKEN.findall(after)
    budget.tokens -= len(old) + len(new)
    if budget.tokens < 0:
        budget.is_exceeded = True
        return [Piece(REMOVED, before, len(before)), Piece(ADDED, after, len(after))]

    pieces = []
    for is_same, old_part, new_part in parts(old, new, budget):
        kinds = [(SAME, old_part)]
        if not is_same:
            kinds = [(REMOVED, old_part), (ADDED, new_part)]
        for kind, tokens in kinds:
            text = "".join(tokens)
            if text:
                pieces.append(Piece(kind, text, len(text)))
    return pieces


def parts(
    old: Sequence[str], new: Sequence[str], budget: _Budget
) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """The parts of both sequences in order: whether they are equal, the old part, and the new part.

    >>> list(parts("abcd", "axcd", _Budget()))
    [(True, 'a', 'a'), (False, 'b', 'x'), (True, 'cd', 'cd')]
    """
    # The common beginning and the common end.
    start = _common_prefix(old, new)
    old_end = len(old) - _common_prefix(old[start:][::-1], new[start:][::-1])
    new_end = old_end + len(new) - len(old)
    old_part = old[start:old_end]
    new_part = new[start:new_end]
    yield True, old[:start], new[:start]

    # For each equal stretch that it finds, difflib visits all pairs of equal tokens. There are at most as many
    # stretches as the shorter part has tokens. White space does not count: difflib looks only for other tokens.
    old_counts = Counter(token for token in old_part if not token.isspace())
    new_counts = Counter(token for token in new_part if not token.isspace())
    pairs = sum(count * new_counts[token] for token, count in old_counts.items())
    steps = pairs * min(len(old_part), len(new_part))
    if steps > budget.steps:
        budget.is_exceeded = True
        yield False, old_part, new_part
    else:
        budget.steps -= steps
        matcher = SequenceMatcher(str.isspace, old_part, new_part, autojunk=False)
        for operation, old_from, old_to, new_from, new_to in matcher.get_opcodes():
            yield operation == "equal", old_part[old_from:old_to], new_part[new_from:new_to]
    yield True, old[old_end:], new[new_end:]


def _common_prefix(old: Sequence[str], new: Sequence[str]) -> int:
    """The length of the common beginning of two sequences."""
    for index, (old_token, new_token) in enumerate(zip(old, new, strict=False)):
        if old_token != new_token:
            return index
    return min(len(old), len(new))


def _with_folded_middles(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces; the middle of each long unchanged piece is folded."""
    for piece in pieces:
        if piece.kind == SAME and piece.letters > LONG:
            yield Piece(SAME, piece.text[:EDGE], EDGE)
            yield Piece(FOLDED, "", piece.letters - 2 * EDGE)
            yield Piece(SAME, piece.text[-EDGE:], EDGE)
        else:
            yield piece


def _folded(paragraphs: list[Paragraph]) -> Iterator[Paragraph]:
    """The paragraphs; unchanged ones that are not next to a change are folded."""
    shown: set[int] = set()
    for index, paragraph in enumerate(paragraphs):
        if paragraph.kind != SAME:
            shown.update(range(index - AROUND, index + AROUND + 1))
    for is_shown, indexes in groupby(range(len(paragraphs)), shown.__contains__):
        group = [paragraphs[index] for index in indexes]
        if is_shown:
            for paragraph in group:
                yield replace(paragraph, pieces=tuple(_with_folded_middles(paragraph.pieces)))
        else:
            letters = sum(piece.letters for paragraph in group for piece in paragraph.pieces)
            yield Paragraph(FOLDED, (Piece(FOLDED, "", letters),), len(group))
