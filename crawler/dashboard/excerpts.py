"""Where words stand in a text: the pieces of it that are shown, those that are words highlighted."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crawler.translation.message import CONTROL

BEFORE, AROUND, MOST = 60, 90, 3
"""Letters before the first word, and after each; places that are shown."""
LONGEST = 30
"""Letters of a word that is shown whole or not at all."""
BLANK = re.compile(r"\s+")
WITHIN = re.compile(r"(?![\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])\S(?![\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])\S")
"""Two letters between which no text is cut: Chinese and Japanese can be cut anywhere."""
LOOKED_THROUGH = 20_000
"""Letters of a text in which words are looked for, from where the first of them stands."""


@dataclass(frozen=True, slots=True)
class ExcerptPiece:
    """A piece of a text."""

    text: str
    is_word: bool
    """Whether it is one of the words that were looked for."""


def excerpt(text: str, words: Sequence[str]) -> tuple[ExcerptPiece, ...]:
    """Pieces of a text around words, whatever their case; its beginning where none stands in it.

    >>> [piece.text for piece in excerpt("All bees like Honey.", ["honey"])]
    ['All bees like ', 'Honey', '.']
    """
    start = _after_blank(text, max(0, _first(text, words) - BEFORE))
    is_begun, text = start > 0, CONTROL.sub("\ufffd", text[start : start + LOOKED_THROUGH])
    if not words:
        return _one(text)
    pieces: list[ExcerptPiece] = []
    shown, places = 0, 0
    for match in _any_of(words).finditer(text):
        if not pieces or match.start() > shown + AROUND + BEFORE:
            places += 1
            if places > MOST:
                break
            if pieces:
                pieces.append(ExcerptPiece(text[shown : _before_blank(text, shown, AROUND)] + " … ", is_word=False))
            shown = max(shown, _after_blank(text, max(0, match.start() - BEFORE)))
            if (shown or is_begun) and not pieces:
                pieces.append(ExcerptPiece("… ", is_word=False))
        pieces.append(ExcerptPiece(text[shown : match.start()], is_word=False))
        pieces.append(ExcerptPiece(match.group(), is_word=True))
        shown = match.end()
        if len(pieces) > 20 * MOST:
            break
    if not pieces:
        return _one(text)
    end = _before_blank(text, shown, AROUND)
    pieces.append(ExcerptPiece(text[shown:end] + ("…" if len(text) > end else ""), is_word=False))
    return tuple(piece for piece in pieces if piece.text)


def all_of(text: str, words: Sequence[str]) -> Iterator[ExcerptPiece]:
    """All of a text that is short, in pieces.

    >>> [piece.text for piece in all_of("All bees like Honey.", ["honey"])]
    ['All bees like ', 'Honey', '.']
    """
    shown = 0
    for match in _any_of(words).finditer(text) if words else ():
        yield ExcerptPiece(text[shown : match.start()], is_word=False)
        yield ExcerptPiece(match.group(), is_word=True)
        shown = match.end()
    yield ExcerptPiece(text[shown:], is_word=False)


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)


def _first(text: str, words: Sequence[str]) -> int:
    """About where the first of these words stands, found at once however long a text is; 0 where none does."""
    lowered = text.lower()
    if len(lowered) != len(text):  # the one letter that becomes two moves all places behind it
        return 0
    return min((place for word in words if (place := lowered.find(word)) >= 0), default=0)


def _one(text: str) -> tuple[ExcerptPiece, ...]:
    end = _before_blank(text, 0, BEFORE + 2 * AROUND)
    return (ExcerptPiece(text[:end] + ("…" if len(text) > end else ""), is_word=False),) if text else ()


def _after_blank(text: str, place: int) -> int:
    """The place, or where the next word begins if it stands in one that is not long."""
    if not place or not WITHIN.match(text, place - 1):
        return place
    blank = BLANK.search(text, place, place + LONGEST)
    return blank.end() if blank else place


def _before_blank(text: str, start: int, most: int) -> int:
    """So far behind the start, or where the word ends that comes before it if that is not far."""
    end = start + most
    if end >= len(text):
        return len(text)
    if not WITHIN.match(text, end - 1):
        return start + len(text[start:end].rstrip())
    blanks = [blank.start() for blank in BLANK.finditer(text, max(start, end - LONGEST), end)]
    return blanks[-1] if blanks else end
