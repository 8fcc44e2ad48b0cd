"""Words, terms, sentences and fingerprints of text in scripts with and without spaces.

Han, kana, Thai, Lao, Khmer and Myanmar put no space between words: there two neighbouring characters stand in for a
word, which needs no dictionary. Every other script, Hangul too, is cut at what is neither letter, digit nor mark.

The terms of a text are its words, in Chinese those of a dictionary where the extra `chinese` is installed, else pairs
of neighbouring characters. Topics and pages are cut by this one function, so that they match.
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
# Vowel signs, accents and joiners: part of a word where they follow a letter, though \w leaves them out.
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
"""Kinds of signs in a text beyond which it is cut by the pattern: each is replaced in all of the text."""
_ASCII_SIGNS_AS_SPACES = bytes(code if chr(code).isalnum() or code == ord("'") else ord(" ") for code in range(128)) * 2
# Numbers that no character has: Python refuses to read very long ones.
_NO_CHARACTER = re.compile(r"&#0*+(?:\d{8,}+|[xX]0*+[0-9a-fA-F]{7,}+);?")


def is_unspaced(word: str) -> bool:
    """Tell whether a word is written in a script that puts no space between words.

    >>> is_unspaced("蜜蜂"), is_unspaced("bees")
    (True, False)
    """
    return _UNSPACED.match(word) is not None


def uncut_words(text: str) -> list[str]:
    """Return the case-folded words of a text, and for unspaced scripts the runs of characters as they stand.

    >>> uncut_words("我爱Python 喝绿茶")
    ['我爱', 'python', '喝绿茶']
    """
    folded = text.casefold().replace("’", "'")
    parted = _parted(folded)
    if parted is None:
        found: list[str] = _WORD.findall(folded)
        return found
    if "'" not in parted:
        return parted.split()
    return [word for part in parted.split() for word in (_WORD.findall(part) if "'" in part else (part,))]


def _parted(folded: str) -> str | None:
    """The text with spaces for its signs, or None if spaces alone do not part its words: to split is twice as fast."""
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
    """Return `uncut_words` of a page's text, kept until the next page because several steps of a crawl ask for them."""
    return tuple(uncut_words(text))


def words(text: str) -> list[str]:
    """Return the case-folded words of a text, and for unspaced scripts the pairs of neighbouring characters.

    >>> words("Don’t panic: 42 Straßen")
    ["don't", 'panic', '42', 'strassen']
    >>> words("我爱Python 茶")
    ['我爱', 'python', '茶']
    """
    found = uncut_words(text)
    return found if text.isascii() else _in_pairs(found)


def _in_pairs(runs: Iterable[str]) -> list[str]:
    """The runs, those of unspaced scripts as pairs of neighbouring characters."""
    cut: list[str] = []
    for word in runs:
        # The comparison spares most words the pattern.
        if word < "\u0e01" or len(word) == 1 or not _UNSPACED.match(word):
            cut.append(word)
        else:
            cut.extend(map(add, word, word[1:]))
    return cut


# After Unicode's Sentence_Terminal property, with the ellipsis and the Tibetan and Sinhala stops, without the Burmese
# comma. Those of SPACED_STOPS end a sentence only before a space; Thai and Lao have none.
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


_LONG = 100_000  # characters that are looked at, or made into words, at once


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    """Tell whether the mark found ends a sentence, which `has_full_stop` explains."""
    mark = stop["mark"]
    if not SPACED_STOPS.issuperset(mark):
        return True
    following = text[stop.end() : stop.end() + 2]
    if stop.end() == stop.end("mark") and following and not (following[0].isspace() or following[0] in _OPENERS):
        return False
    if mark[-1] in "!?":
        return True
    before = text[max(0, stop.start() - 24) : stop.start()]
    if not before or before[-1].isspace():
        return False
    token = before.split()[-1].strip(_BRACKETS)
    if _NUMBER.fullmatch(token):
        return not following and before.strip() != token
    if following[1:].islower() or token in ABBREVIATIONS:
        return False
    return not _INITIALS.fullmatch(token)


def sentence_ends(text: str) -> Iterator[int]:
    """Yield the offsets behind the sentences of a text, as `has_full_stop` tells them.

    >>> list(sentence_ends("Dr. Ann has hives. 天气很好。"))
    [18, 24]
    """
    return (stop.end() for stop in _STOP.finditer(text) if _ends_sentence(text, stop))


def has_full_stop(text: str) -> bool:
    """Tell whether a sentence ends in the text.

    The stops of scripts without spaces end one anywhere. One of ``. ! ? …`` has to come before a space, a quote, a
    bracket or the end; dots besides must follow a word directly, not come before a lower-case word, and not belong to
    initials (``J.``, ``p.m.``), an abbreviation, or a number of one or two digits, except a number that ends the text.

    >>> has_full_stop("It cost 3.5 million."), has_full_stop("Home > News > v1.2"), has_full_stop("天气很好。")
    (True, False, True)
    """
    return any(True for _ in sentence_ends(text[:_LONG]))


def first_sentence(text: str) -> str:
    """Return the text up to its first full stop, all of it if it has none.

    >>> first_sentence("Dr. Ann has 3.5 hives. Bees dance."), first_sentence("Bees dance")
    ('Dr. Ann has 3.5 hives.', 'Bees dance')
    """
    text = text[:_LONG]
    return text[: next(sentence_ends(text), len(text))]


# Ends of lines to some readers, which JSON leaves as they are; a carriage return can only be white space in it.
_LINE_ENDS = {"\r": " ", "\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def one_line(json: str) -> str:
    """Return JSON that is one line to every reader.

    >>> one_line('["a\\u2028b",\\r1]')
    '["a\\\\u2028b", 1]'
    """
    for end, written in _LINE_ENDS.items():
        json = json.replace(end, written)
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
    return " ".join(text.split()) if len(text) < _LONG else _folded_long(text)


_SPACE = re.compile(r"\s")


def _folded_long(text: str) -> str:
    """Return the same for a text whose words, all at once, would take many times its memory."""
    folded = []
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + _LONG)
        end = space.start() if space else len(text)
        folded.append(" ".join(text[start:end].split()))
        start = end
    return " ".join(filter(None, folded))


# Not more than 30 marks in a row, as Unicode's stream-safe format has it: putting them in order takes their square.
_LETTERS = re.compile(rf"[^\W_]+(?:[{MARKS}]{{1,30}}[^\W_]+)*[{MARKS}]{{0,30}}")


_MARK = re.compile(f"[{MARKS}]")
_ASCII = bytes(range(128))
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())


@lru_cache(maxsize=1)
def fingerprint(text: str) -> str | None:
    """Return 16 hex digits that texts with the same letters and digits share, or None where there are none.

    It is kept until the next text, because the check for changes and the record of a page both ask for it.

    >>> fingerprint("Hello, World!") == fingerprint("hello world") != fingerprint("hello word")
    True
    """
    return fingerprint_of_letters(letters(text))


def fingerprint_of_letters(found: bytes) -> str | None:
    return blake2b(found, digest_size=8).hexdigest() if found else None


_LIGATURE = "\ufdfa"
"""Normalized, the ligature is 18 letters, which takes 60 times as long as replacing it; no other one is more than 8."""
_STAND_IN = "\ue000"
_WRITTEN_OUT = unicodedata.normalize("NFKC", _LIGATURE).encode()


def letters(text: str) -> bytes:
    """Return the letters and digits of a text, folded.

    >>> letters("Hello, World!")
    b'helloworld'
    """
    if text.isascii():  # nothing to normalise
        return text.encode().translate(None, _NO_LETTERS).lower()
    joined = _without_signs(text)
    if joined is not None and joined.isascii():
        return joined.encode().lower()
    if joined is not None and unicodedata.is_normalized("NFKC", joined):
        return unicodedata.normalize("NFKC", joined.casefold()).encode("utf-8", "surrogatepass")
    runs = _LETTERS.findall("".join(text.split()))
    joined = "".join(runs).replace(_LIGATURE, _STAND_IN)
    if not unicodedata.is_normalized("NFKC", joined):
        # Run by run: what is normal already costs nothing, while one full-width digit makes its whole text slow.
        joined = "".join(unicodedata.normalize("NFKC", run.replace(_LIGATURE, _STAND_IN)) for run in runs)
    folded = unicodedata.normalize("NFKC", joined.casefold()).encode("utf-8", "surrogatepass")
    return folded.replace(_STAND_IN.encode(), _WRITTEN_OUT)


def _without_signs(text: str) -> str | None:
    """The letters and digits of a text, or None if it has marks, of which only those after letters count, or many kinds
    of signs: to remove sign after sign takes a third of the time of the pattern.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    foreign = set(encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    signs = [character for character in foreign if not character.isalnum()]
    if len(signs) > _MOST_SIGNS or _MARK.search("".join(signs)):
        return None
    remaining = encoded.translate(None, _NO_LETTERS).decode("utf-8", "surrogatepass")
    for sign in signs:
        remaining = remaining.replace(sign, "")
    return remaining


_HAN = re.compile(f"[{HAN}]+")
_LONGEST = 10_000  # characters that are cut into words at once: no sentence is longer


def terms(text: str) -> list[str]:
    """Return the case-folded terms of a text, in the order in which they stand.

    >>> terms("Don’t keep BEES")
    ["don't", 'keep', 'bees']
    """
    return _terms(text, uncut_words(text))


def page_terms(text: str) -> list[str]:
    """Return `terms` of a page's text, which is cut into words once for this and `page_words`."""
    return _terms(text, page_words(text))


def _terms(text: str, runs: Sequence[str]) -> list[str]:
    if text.isascii():
        return list(runs)
    cut = dictionary() if _HAN.search(text) else None
    if cut is None:
        return _in_pairs(runs)
    found: list[str] = []
    for run in runs:
        if len(run) == 1 or not is_unspaced(run):
            found.append(run)
        elif _HAN.fullmatch(run):
            found += _chinese(run, cut)
        else:  # kana and other scripts, which the dictionary does not know
            found += words(run)
    return found


def _chinese(run: str, cut: Callable[[str], list[str]]) -> list[str]:
    """The words of more than one character in a run of Chinese, simplified: those of one tell nearly nothing."""
    run = simplified(run)
    parts = (run[start : start + _LONGEST] for start in range(0, len(run), _LONGEST))
    return [word for part in parts for word in cut(part) if len(word) > 1]


@cache
def dictionary() -> Callable[[str], list[str]] | None:
    """What cuts Chinese into words, or None where it is not installed; to load it takes 0.2 s."""
    try:
        import rjieba
    except ImportError:
        return None
    cut: Callable[[str], list[str]] = rjieba.cut
    return cut


EASTERN = "\u2e80"
"""The first character of the scripts that know no capitals, and for the most part no spaces."""


_EASTERN_CHARACTER = re.compile(f"[^\0-{chr(ord(EASTERN) - 1)}]")


def width(text: str, columns: int = 2) -> int:
    """How wide a text is in letters, where a Chinese character has so many columns.

    >>> width("Bees"), width("蜜蜂"), width("蜜蜂", columns=3)
    (4, 4, 6)
    """
    return len(text) if text.isascii() else len(text) + (columns - 1) * len(_EASTERN_CHARACTER.findall(text))
