"""Words, terms, sentences and fingerprints of text in scripts with and without spaces.

Han, kana, Thai, Lao, Khmer and Myanmar put no space between words: there each pair of neighbouring characters counts as
a word, which needs no dictionary. Text in any other script, Hangul too, is cut at every character that is not a letter,
digit or mark (an accent or vowel sign). All characters but letters and digits are called signs.

The terms of a text are its words, except that Chinese is cut by a dictionary if the extra `chinese` is installed.
Topics and pages are cut by the same function, so that their terms match.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from html import unescape
from operator import add

from crawler.page.simplified import simplified

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
UNSPACED = (
    f"{HAN}"
    "\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"  # Thai, Lao
    "\u1780-\u17d3\u17d7\u17dc-\u17e9\u1000-\u1049\u1050-\u109f\uaa60-\uaa7f"  # Khmer, Myanmar
)
# Vowel signs, accents and joiners: part of a word if they follow a letter, although \w does not match them.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0859-\u085b"
    "\u08ca-\u0963\u0971-\u0df3\u0f18\u0f19\u0f35-\u0f39\u0f71-\u0f84\u0f86-\u0fbc\u135d-\u135f\u1a17-\u1a1b"
    "\u1b00-\u1b04\u1b34-\u1b44\u1dc0-\u1dff\u200c\u200d\ua8e0-\ua8f1\uaa29-\uaa36\uabe3-\uabed\ufb1e\ufe20-\ufe2f"
)
_LETTER = rf"[^\W_{UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}+(?:[{MARKS}]+{_LETTER}*|'{_LETTER}+)*|[{UNSPACED}]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_UNSPACED_OR_MARK = re.compile(f"[{UNSPACED}{MARKS}]")
_MOST_SIGNS = 100
"""A text with at most this many different signs is cut by replacing each of them; a text with more is cut by a pattern.
"""
# Doubled, because bytes.translate() needs a table of 256 bytes; the second half is never used.
_ASCII_SIGNS_AS_SPACES = bytes(code if chr(code).isalnum() or code == ord("'") else ord(" ") for code in range(128)) * 2
# References to code points that do not exist: Python refuses to read very long numbers.
_NO_CHARACTER = re.compile(r"&#0*+(?:\d{8,}+|[xX]0*+[0-9a-fA-F]{7,}+);?")


def is_unspaced(word: str) -> bool:
    """Tell whether a word is written in a script that puts no space between words, by its first character.

    >>> is_unspaced("蜜蜂"), is_unspaced("bees")
    (True, False)
    """
    return _UNSPACED.match(word) is not None


def uncut_words(text: str) -> list[str]:
    """Return the case-folded words of a text, and for unspaced scripts the uncut runs of characters.

    >>> uncut_words("我爱Python 喝绿茶")
    ['我爱', 'python', '喝绿茶']
    """
    folded = text.casefold().replace("’", "'")
    spaced = _with_spaces_for_signs(folded)
    if spaced is None:
        runs: list[str] = _WORD.findall(folded)
        return runs
    if "'" not in spaced:
        return spaced.split()
    # An apostrophe is part of a word only between letters, so a part that has one is cut by the pattern.
    return [word for part in spaced.split() for word in (_WORD.findall(part) if "'" in part else (part,))]


def _with_spaces_for_signs(folded: str) -> str | None:
    """The text with a space in place of each sign, except apostrophes, so that it can be split at spaces: this is twice
    as fast as `_WORD`. None if the text must be cut by `_WORD`: it has unspaced scripts, marks, or too many signs.
    """
    if folded.isascii():
        return folded.encode().translate(_ASCII_SIGNS_AS_SPACES).decode()
    characters = set(folded)
    signs = [character for character in characters if not character.isalnum() and character != "'"]
    if len(signs) > _MOST_SIGNS or _UNSPACED_OR_MARK.search("".join(characters)):
        return None
    for sign in signs:
        folded = folded.replace(sign, " ")
    return folded


@lru_cache(maxsize=1)
def page_words(text: str) -> tuple[str, ...]:
    """Return `uncut_words` of a page's text, cached until the next page, because several steps of a crawl need them."""
    return tuple(uncut_words(text))


def words(text: str) -> list[str]:
    """Return the case-folded words of a text, and for unspaced scripts the pairs of neighbouring characters.

    >>> words("Don’t panic: 42 Straßen")
    ["don't", 'panic', '42', 'strassen']
    >>> words("我爱Python 茶")
    ['我爱', 'python', '茶']
    """
    uncut = uncut_words(text)
    return uncut if text.isascii() else _in_pairs(uncut)


def _in_pairs(runs: Iterable[str]) -> list[str]:
    """The runs, with those of unspaced scripts cut into pairs of neighbouring characters."""
    cut: list[str] = []
    for word in runs:
        # The comparison saves most words the pattern: Thai, from U+0E01 on, is the first unspaced script in Unicode.
        if word < "\u0e01" or len(word) == 1 or not _UNSPACED.match(word):
            cut.append(word)
        else:
            cut.extend(map(add, word, word[1:]))
    return cut


# From Unicode's property Sentence_Terminal (https://www.unicode.org/reports/tr44/#Sentence_Terminal), with the ellipsis
# and the Tibetan and Sinhala stops, without the Burmese comma. SPACED_STOPS end a sentence only before a space; Thai
# and Lao have no stops.
SPACED_STOPS = frozenset(".!?…")
FULL_STOPS = SPACED_STOPS | frozenset(
    "‼‽⁇⁈⁉⸮"  # doubled and joined marks
    "。！？｡．︒︕︖﹒﹖﹗"  # Chinese and Japanese
    "։؝؞؟۔܀܁܂߹"  # Armenian, Arabic, Urdu, Syriac, N'Ko
    "।॥෴།༎။។៕"  # Indic, Sinhala, Tibetan, Myanmar, Khmer
    "።፧፨᙮᠃᠉᥄᥅᭚᭛᭞᭟᰻᰼᱾᱿꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧈꧉꩝꩞꩟꫰꫱꯫"  # Ethiopic and smaller scripts
)
_ABBREVIATED = (
    "Mr Mrs Ms Dr Prof St Jr Sr Mt Rev Gen Gov Sen Rep Inc Ltd Corp Co Bros No Nos Fig Vol Ch Sec Art Ed Eds al vs pp"
    " Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Nr Str Tel Abb Bd Hr Fr Mme Mlle Sra Dra Sta Av Núm"
    " ул тел стр им"
)
ABBREVIATIONS = frozenset(_ABBREVIATED.split())
_CLOSERS = "”’»›」』）)］\\]】〉》〕}"
_QUOTES = "\"'“‘„«‹"  # these close a sentence only before a space: elsewhere they open the next one
_STOP = re.compile(
    rf"(?P<mark>[{''.join(sorted(FULL_STOPS))}]+)(?:[{_CLOSERS}]|[{_QUOTES}](?=\s|$))*(?:\[\w{{1,3}}\])*"
)
_OPENERS = frozenset(_QUOTES + "([（［【「『《〈{")
_BRACKETS = _QUOTES + "()[]（）［］”’»›"
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_NUMBER = re.compile(r"(?:\d{1,2}\.)*\d{1,2}")
_LONGEST_TOKEN = 24  # characters before a dot that are examined: more than an abbreviation, initials or a number have
_MAX_AT_ONCE = 100_000  # characters of a text that are searched for a sentence, or whose white space is folded at once


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    """Tell whether a match of `_STOP` ends a sentence, by the rules of `has_full_stop`."""
    mark = stop["mark"]
    if not SPACED_STOPS.issuperset(mark):
        return True

    # A space, an opener, a closer or the end of the text must follow.
    following = text[stop.end() : stop.end() + 2]
    if stop.end() == stop.end("mark") and following and not (following[0].isspace() or following[0] in _OPENERS):
        return False
    if mark[-1] in "!?":
        return True

    # A dot or an ellipsis: after a word that is not a number, an abbreviation or initials.
    before = text[max(0, stop.start() - _LONGEST_TOKEN) : stop.start()]
    if not before or before[-1].isspace():
        return False
    token = before.split()[-1].strip(_BRACKETS)
    if _NUMBER.fullmatch(token):  # it ends a text such as "There are 12.", but "12." is the number of an item
        return not following and before.strip() != token
    if following[1:].islower() or token in ABBREVIATIONS:
        return False
    return not _INITIALS.fullmatch(token)


def sentence_ends(text: str) -> Iterator[int]:
    """Yield the offset after each sentence of a text, by the rules of `has_full_stop`.

    >>> list(sentence_ends("Dr. Ann has hives. 天气很好。"))
    [18, 24]
    """
    return (stop.end() for stop in _STOP.finditer(text) if _ends_sentence(text, stop))


def has_full_stop(text: str) -> bool:
    """Tell whether a sentence ends in the text.

    The stops of scripts without spaces end a sentence anywhere. One of ``. ! ? …`` ends a sentence only before a space,
    a quote, a bracket or the end of the text. A dot or ``…`` must also follow a word directly, must not come before a
    lower-case word, and must not belong to initials (``J.``, ``p.m.``), to an abbreviation, or to a number of one or
    two digits, unless that number ends the text.

    >>> has_full_stop("It cost 3.5 million."), has_full_stop("Home > News > v1.2"), has_full_stop("天气很好。")
    (True, False, True)
    """
    return any(True for _ in sentence_ends(text[:_MAX_AT_ONCE]))


def first_sentence(text: str) -> str:
    """Return the first sentence of a text; the whole text if no sentence ends in it.

    >>> first_sentence("Dr. Ann has 3.5 hives. Bees dance."), first_sentence("Bees dance")
    ('Dr. Ann has 3.5 hives.', 'Bees dance')
    """
    text = text[:_MAX_AT_ONCE]
    return text[: next(sentence_ends(text), len(text))]


# Characters that end a line for some programs and that JSON does not escape. A carriage return is white space in JSON.
_LINE_ENDS = {"\r": " ", "\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def one_line(json: str) -> str:
    """Return JSON on one line, for every program that reads lines.

    >>> one_line('["a\\u2028b",\\r1]')
    '["a\\\\u2028b", 1]'
    """
    for line_end, replacement in _LINE_ENDS.items():
        json = json.replace(line_end, replacement)
    return json


_ZERO_WIDTH = ("\u200b", "\ufeff", "\u00ad", "\u2060")
_WITHOUT_ZERO_WIDTH = dict.fromkeys(map(ord, _ZERO_WIDTH))


def unescaped(text: str) -> str:
    """Return the text with the characters that its entities stand for.

    >>> unescaped("a &lt; b &#" + "9" * 5000 + ";")
    'a < b �'
    """
    return unescape(_NO_CHARACTER.sub("\ufffd", text))


def fold_space(text: str) -> str:
    """Return the text with runs of white space as one space, none at its ends, and no zero-width characters.

    >>> fold_space("\u3000a \u00a0\\n b\u00ad\u200bc ")
    'a bc'
    """
    if not text.isascii() and any(map(text.__contains__, _ZERO_WIDTH)):
        text = text.translate(_WITHOUT_ZERO_WIDTH)
    if len(text) < _MAX_AT_ONCE:
        return " ".join(text.split())
    return _folded_long(text)


_SPACE = re.compile(r"\s")


def _folded_long(text: str) -> str:
    """Return `fold_space` of a long text, piece by piece: all its words at once would take many times its memory."""
    folded = []
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + _MAX_AT_ONCE)
        end = space.start() if space else len(text)
        folded.append(" ".join(text[start:end].split()))
        start = end
    return " ".join(filter(None, folded))


# Letters and digits with the marks after them, but at most 30 marks in a row, as in
# https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format: normalization sorts the marks of a row, in time that
# grows with the square of their number.
_LETTERS = re.compile(rf"[^\W_]+(?:[{MARKS}]{{1,30}}[^\W_]+)*[{MARKS}]{{0,30}}")
_MARK = re.compile(f"[{MARKS}]")
_ASCII = bytes(range(128))
_ASCII_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


@lru_cache(maxsize=1)
def fingerprint(text: str) -> str | None:
    """Return 16 hex digits that are equal for texts with the same letters and digits; None for a text without any.

    It is cached until the next text, because the check for changes and the record of a page both need it.

    >>> fingerprint("Hello, World!") == fingerprint("hello world") != fingerprint("hello word")
    True
    """
    return fingerprint_of_letters(letters(text))


def fingerprint_of_letters(letters: bytes) -> str | None:
    """Return the `fingerprint` of a text by its `letters`."""
    if letters:
        return blake2b(letters, digest_size=8).hexdigest()
    return None


_LIGATURE = "\ufdfa"
"""A ligature that becomes 18 letters when it is normalized, which takes 60 times as long as replacing it; no other
character becomes more than 8.
"""
_STAND_IN = "\ue000"
"""Replaces the ligature until the other letters are normalized."""
_LETTERS_OF_LIGATURE = unicodedata.normalize("NFKC", _LIGATURE).encode()


def letters(text: str) -> bytes:
    """Return the letters and digits of a text, normalized and case-folded, as UTF-8.

    >>> letters("Hello, World!")
    b'helloworld'
    """
    if text.isascii():  # nothing to normalize
        return text.encode().translate(None, _ASCII_SIGNS).lower()

    # The fast way, for most texts: they have no marks and are normalized already.
    joined = _without_signs(text)
    if joined is not None and joined.isascii():
        return joined.encode().lower()
    if joined is not None and unicodedata.is_normalized("NFKC", joined):
        # Case folding may undo the normalization.
        return unicodedata.normalize("NFKC", joined.casefold()).encode("utf-8", "surrogatepass")

    # The slow way: the text is cut into runs of letters and marks. A mark after white space belongs to the letter
    # before.
    runs = _LETTERS.findall("".join(text.split()))
    joined = "".join(runs).replace(_LIGATURE, _STAND_IN)
    if not unicodedata.is_normalized("NFKC", joined):
        # Run by run: a run that is normalized already costs little, but one full-width digit makes a whole text slow.
        joined = "".join(unicodedata.normalize("NFKC", run.replace(_LIGATURE, _STAND_IN)) for run in runs)
    folded = unicodedata.normalize("NFKC", joined.casefold()).encode("utf-8", "surrogatepass")
    return folded.replace(_STAND_IN.encode(), _LETTERS_OF_LIGATURE)


def _without_signs(text: str) -> str | None:
    """The letters and digits of a text, found by removing each sign, which takes a third of the time of `_LETTERS`.
    None if the text has too many different signs, or marks: `_LETTERS` keeps only marks after letters.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    non_ascii = set(encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    signs = [character for character in non_ascii if not character.isalnum()]
    if len(signs) > _MOST_SIGNS or _MARK.search("".join(signs)):
        return None
    remaining = encoded.translate(None, _ASCII_SIGNS).decode("utf-8", "surrogatepass")
    for sign in signs:
        remaining = remaining.replace(sign, "")
    return remaining


_HAN = re.compile(f"[{HAN}]+")
_MAX_RUN = 10_000  # characters of a run that the dictionary cuts at once: no sentence is longer


def terms(text: str) -> list[str]:
    """Return the case-folded terms of a text, in their order.

    >>> terms("Don’t keep BEES")
    ["don't", 'keep', 'bees']
    """
    return _terms(text, uncut_words(text))


def page_terms(text: str) -> list[str]:
    """Return `terms` of a page's text, from the cached `page_words`."""
    return _terms(text, page_words(text))


def _terms(text: str, runs: Sequence[str]) -> list[str]:
    """The terms of a text, given its `uncut_words`."""
    if text.isascii():
        return list(runs)
    cut = dictionary() if _HAN.search(text) else None
    if cut is None:
        return _in_pairs(runs)
    terms: list[str] = []
    for run in runs:
        if len(run) == 1 or not is_unspaced(run):  # a lone Han character, as in "喝 茶", is a term
            terms.append(run)
        elif _HAN.fullmatch(run):
            terms += _chinese(run, cut)
        else:  # kana and other scripts, which the dictionary does not know
            terms += words(run)
    return terms


def _chinese(run: str, cut: Callable[[str], list[str]]) -> list[str]:
    """The words of a run of at least two Han characters, in simplified characters. Words of one character are left out:
    within a run they say little.
    """
    run = simplified(run)
    parts = (run[start : start + _MAX_RUN] for start in range(0, len(run), _MAX_RUN))
    return [word for part in parts for word in cut(part) if len(word) > 1]


@cache
def dictionary() -> Callable[[str], list[str]] | None:
    """The function that cuts Chinese into words; None if its package is not installed. It takes 0.2 s to load."""
    try:
        import rjieba
    except ImportError:
        return None
    cut: Callable[[str], list[str]] = rjieba.cut
    return cut


EASTERN = "\u2e80"
"""The first character of the East Asian scripts, which have no capitals and mostly no spaces."""


_EASTERN_CHARACTER = re.compile(f"[^\0-{chr(ord(EASTERN) - 1)}]")


def width(text: str, columns: int = 2) -> int:
    """The width of a text in columns: an East Asian character has `columns`, any other character has one.

    >>> width("Bees"), width("蜜蜂"), width("蜜蜂", columns=3)
    (4, 4, 6)
    """
    if text.isascii():
        return len(text)
    return len(text) + (columns - 1) * len(_EASTERN_CHARACTER.findall(text))
