"""What a database can ask of a page's texts itself, so that few pages are read for a rare word.

A database compares letters as they are, and A to Z in either case; more would depend on which one it is. A word that is
found in a case-folded text (`page_words`) may be spelled otherwise there: ÄPFEL, Straße, or with the sign of the kelvin
or the ligature ﬁ. So the database is asked for that stretch of the word which can be spelled in one way alone:

    other   a letter in whose place another single letter may stand; it is left open which one
    wide    letters in whose place one sign may stand that is case-folded to more letters than one, such as ß to ss, or
            to more than the word has of them at its beginning and end

What the database lets through is looked at letter by letter; it lets all through that is found then.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

from sqlalchemy import ColumnElement, collate, func, or_

LONGEST = 32
"""Letters of a word that are looked at: more of them hardly let fewer pages through."""
LEAST = 2
"""Letters that a stretch must have; one that is not of ASCII counts twice."""
LAST = 0x1FFFF
"""No sign after this one has cases."""
OTHER, WIDE = " ", "\n"  # a word has neither


class Sieve(NamedTuple):
    """Patterns of LIKE, with a backslash before what they mean literally; A to Z are caseless."""

    text: str
    """What a text or an address has that the word is in."""
    address: str
    """What an address has in whose signs such as %E8%9C%82 the word may be."""


def sieve(word: str) -> Sieve | None:
    r"""What pages with a case-folded word have; None where that would be next to nothing.

    >>> sieve("honig")
    Sieve(text='%honig%', address='%\\%%')
    >>> sieve("kekse"), sieve("蜜蜂").address
    (Sieve(text='%e__e%', address='%\\%%'), '%\\%e8\\%9c\\%9c\\%e8\\%9c\\%82%')
    >>> sieve("ﬁ".casefold()), sieve("пчёлы")
    (None, None)
    """
    stretches = [one.strip(OTHER) for one in _masked(word[:LONGEST]).split(WIDE)]
    best = max(stretches, key=_weight)
    if _weight(best) < LEAST:
        return None
    foreign = max(re.findall(r"[^\x00-\x7f]+", best), key=len, default="")
    return Sieve(_pattern(best), _pattern(quote(foreign).lower() or "%"))


def _masked(word: str) -> str:
    """The word with OTHER and WIDE in the place of letters that may be spelled otherwise."""
    others, wide = _spellings()
    masked = [OTHER if letter in others else letter for letter in word]
    for found in wide.finditer(word):
        start, end = found.span(1)
        masked[start:end] = WIDE * (end - start)
    return "".join(masked)


def _weight(stretch: str) -> int:
    return sum(1 if letter.isascii() else 2 for letter in stretch if letter != OTHER)


def _pattern(stretch: str) -> str:
    return "%" + re.sub(r"([%_\\])", r"\\\1", stretch).replace(OTHER, "_") + "%"


@cache
def _spellings() -> tuple[frozenset[str], re.Pattern[str]]:
    """The letters that another one is case-folded to, and what several are that one is case-folded to.

    Of several, a word may have the last ones at its beginning and the first ones at its end.
    """
    folded = {sign.casefold() for sign in map(chr, range(0x80, LAST + 1)) if sign.casefold() != sign}
    several = [one for one in folded if len(one) > 1]
    cuts = {re.escape(one) for one in several}
    for one in several:
        cuts |= {rf"\A{re.escape(one[at:])}" for at in range(1, len(one))}
        cuts |= {rf"{re.escape(one[:at])}\Z" for at in range(1, len(one))}
    # Signs that no database takes are in no text either.
    longest = sorted([*cuts, r"[\0\ud800-\udfff]"], key=lambda cut: (-len(cut.strip("\\AZ")), cut))
    return frozenset(folded - set(several)), re.compile(f"(?=({'|'.join(longest)}))")


def sieved(words: Iterable[str], columns: Any, database: str) -> Iterator[ColumnElement[bool]]:
    """What the rows of pages with all the words meet, as far as the database is asked."""
    # From A to Z SQLite's LIKE has no case; PostgreSQL's has, and ILIKE asks for the case of every letter there is.
    plain = (columns.title, columns.url, columns.text)
    title, url, text = plain if database == "sqlite" else (func.lower(collate(column, "C")) for column in plain)
    # A long word is in few texts: the others are not looked through for the short ones.
    for found in filter(None, map(sieve, sorted(words, key=len, reverse=True))):
        asked = ((title, found.text), (url, found.text), (url, found.address), (text, found.text))
        yield or_(*(column.like(pattern, escape="\\") for column, pattern in asked))
