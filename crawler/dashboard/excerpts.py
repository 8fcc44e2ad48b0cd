"""Where words stand in a text: the pieces of it that are shown, those that are words marked."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from crawler.wording import CONTROL

BEFORE, AROUND, MOST = 60, 90, 3
"""Letters before the first word, and after each; places that are shown."""
LOOKED_THROUGH = 20_000
"""Letters of a text in which words are looked for, from where the first of them stands."""


class ExcerptPiece(NamedTuple):
    """A piece of a text."""

    text: str
    is_word: bool
    """Whether it is one of the words that were looked for."""


def excerpt(text: str, words: Sequence[str]) -> tuple[ExcerptPiece, ...]:
    """Pieces of a text around words, whatever their case; its beginning where none stands in it.

    >>> [piece.text for piece in excerpt("All bees like Honey.", ["honey"])]
    ['All bees like ', 'Honey', '.']
    """
    start = max(0, _first(text, words) - BEFORE)
    is_begun, text = start > 0, CONTROL.sub("\ufffd", text[start : start + LOOKED_THROUGH])
    if not words:
        return _one(text)
    found = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)
    pieces: list[ExcerptPiece] = []
    shown, places = 0, 0
    for match in found.finditer(text):
        if not pieces or match.start() > shown + AROUND + BEFORE:
            places += 1
            if places > MOST:
                break
            if pieces:
                pieces.append(ExcerptPiece(text[shown : shown + AROUND] + " … ", is_word=False))
            shown = max(shown, match.start() - BEFORE)
            if (shown or is_begun) and not pieces:
                pieces.append(ExcerptPiece("… ", is_word=False))
        pieces.append(ExcerptPiece(text[shown : match.start()], is_word=False))
        pieces.append(ExcerptPiece(match.group(), is_word=True))
        shown = match.end()
        if len(pieces) > 20 * MOST:
            break
    if not pieces:
        return _one(text)
    rest = text[shown : shown + AROUND]
    pieces.append(ExcerptPiece(rest + ("…" if len(text) > shown + AROUND else ""), is_word=False))
    return tuple(piece for piece in pieces if piece.text)


def _first(text: str, words: Sequence[str]) -> int:
    """About where the first of these words stands, found at once however long a text is; 0 where none does."""
    lowered = text.lower()
    if len(lowered) != len(text):  # the one letter that becomes two moves all places behind it
        return 0
    return min((place for word in words if (place := lowered.find(word)) >= 0), default=0)


def _one(text: str) -> tuple[ExcerptPiece, ...]:
    most = BEFORE + 2 * AROUND
    return (ExcerptPiece(text[:most] + ("…" if len(text) > most else ""), is_word=False),) if text else ()
