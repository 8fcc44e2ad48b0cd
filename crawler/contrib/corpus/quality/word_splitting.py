"""Cuts a piece of text without spaces into words by spaCy's rules, like the pipelines whose limits are applied.

A punctuation mark is a word, `don't` is two words, `U.S.` is one word, and so is an address. In scripts without spaces
between words, two characters are a word; for Chinese this is used if no dictionary is installed.

The rules: https://spacy.io/usage/linguistic-features#how-tokenizer-works
"""

import re

from crawler.page.text import UNSPACED

LONGEST = 60
"""The most characters of a piece that is cut by all rules; a longer piece is cut only at its marks."""
_LONGEST_ADDRESS = 2083
"""The most characters of an address that stays one word."""
_QUOTES = "'\"“”„‘’‚«»`´「」『』（）〔〕【】《》〈〉"
_MARKS = ",:;!?¿¡()\\[\\]{}<>_#*&。？！，、；：～·।،۔؛"
_MONEY = "$£€¥฿₹₽₩₪"
_SIGNS = "¦©®°\u2100-\u214f\u2195-\u21ff\u2300-\u23ff\u2440-\u27bf\u2b00-\u2bff\ufffc\ufffd\U0001f000-\U0001faff"
_UNITS = "km|m|cm|mm|nm|kg|mg|g|lb|oz|ha|yd|in|ft|t|km/h|kmh|mph|m/s|[kKmMgGtT][bB]|[TGMK%]"
_LETTER = "[^\\W\\d_]"
_FIRST = re.compile(rf"\.\.+|…|\+(?!\d)|[§%=—–{_MARKS}{_QUOTES}{_MONEY}{_SIGNS}]")
"""A mark at the beginning of a piece, which is cut off."""
_LAST = re.compile(
    rf"(?:\.\.+|…|['’][sS]|[—–{_MARKS}{_QUOTES}{_SIGNS}]|(?<=\d)(?:[+{_MONEY}]|{_UNITS})"
    rf"|(?<=[0-9a-zà-ÿ%²+\-{_MARKS}{_QUOTES}])\.|(?<=[A-Z][A-Z])\.)$"
)
"""A mark, a unit or 's at the end of a piece, which is cut off."""
_WITHIN = re.compile(
    rf"(\.\.+|…|[{_SIGNS}]|(?<=\d)[+*^-](?=[\d-])|(?<=[a-zà-ÿ{_QUOTES}])\.(?=[A-ZÀ-Þ{_QUOTES}])|(?<={_LETTER}),(?={_LETTER})"
    rf"|(?<=[^\W_])(?:---?|——|[-–—~])(?={_LETTER})|(?<=[^\W_])[:<>=/](?={_LETTER}))"
)
"""A mark within a piece, at which it is cut."""
_ADDRESS = re.compile(
    r"(?:[\w+.-]{2,40}://)?(?:[^\s@]{1,60}@)?(?:[\w\u00a1-\uffff-]+\.)+[a-z]{2,63}(?::\d{2,5})?(?:[/?#]\S*)?"
)
_CONTRACTION = re.compile(r"(.*[A-Za-z])(n['’]t|['’](?:m|re|ve|ll|d|s))", re.IGNORECASE)
_POSSESSIVES = frozenset(("'s", "’s", "'S", "’S"))
_HAS_DIGIT = re.compile(r"\d")
_HALVES = {"cannot": 3, "Cannot": 3, "gonna": 3, "Gonna": 3, "gotta": 3, "Gotta": 3}
"""Words that are cut in two, with the length of the first part: `cannot` -> `can`, `not`."""
_PLAIN = re.compile(r"([A-Za-z]*[a-z]{5}|[0-9]+)([,.;:!?)])")
"""A word that is too long for an abbreviation, or a number, and a mark: most of the new pieces of a page."""
_HOUR = re.compile(r"(1[0-2]|[1-9])([ap]\.?m\.?)")
_WORDS_OF_LONG = re.compile(rf"[{UNSPACED}]{{1,2}}|[^\W_{UNSPACED}]+|_+|[^\w\s]")
"""The words of a piece that is longer than LONGEST."""
_RUNS = re.compile(rf"([{UNSPACED}]+)")
"""A run of characters in scripts without spaces."""
_UNCUT = frozenset(
    (
        "Mr. Mrs. Ms. Dr. St. Jr. Inc. Ltd. Co. co. Corp. Bros. Prof. Rep. Rev. Sen. Gen. Gov. Adm. Messrs. Mo. Mont."
        " Md. Mt. vs. v.s. e.g. E.g. i.e. I.e. a.m. p.m. Ph.D. D.C. Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sep. Sept. Oct."
        " Nov. Dec. Ala. Ariz. Ark. Calif. Colo. Conn. Del. Fla. Ga. Ia. Ill. Ind. Kan. Ky. La. Mass. Mich. Minn."
        " Miss. Neb. Nev. Okla. Ore. Pa. Tenn. Va. Wash. Wis. N.C. N.D. N.H. N.J. N.M. N.Y. S.C. 's 'd 're 'm 've"
        " and/or w/o o'clock ma'am :) :( ;) :-) :-( ;-) :D :P <3"
    ).split()
)
"""Pieces that are not cut."""


def cut(piece: str) -> list[str]:
    """The words of a piece.

    >>> cut("(don't!)"), cut("well-known."), cut("5%"), cut("U.S.")
    (['(', 'do', "n't", '!', ')'], ['well', '-', 'known', '.'], ['5', '%'], ['U.S.'])
    >>> cut("example.org/a"), cut("蜜蜂跳舞")
    (['example.org/a'], ['蜜蜂', '跳舞'])
    """
    # Most pieces are letters of scripts with spaces, which all come before Thai, or such a word and a mark.
    if piece.isalpha() and piece < "\u0e01" and piece not in _HALVES:
        return [piece]
    plain = _PLAIN.fullmatch(piece)
    if plain:
        return [plain[1], plain[2]]
    if len(piece) > LONGEST:
        is_address = len(piece) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(piece)
        if is_address:
            return [piece]
        return _WORDS_OF_LONG.findall(piece)
    if not piece.isascii() and _RUNS.search(piece):
        return [word for run in _RUNS.split(piece) if run for word in _words_of_run(run)]
    return _words_of_spaced(piece)


def _words_of_run(run: str) -> list[str]:
    """The words of a run of characters that are all of scripts without spaces, or all of others."""
    if _RUNS.match(run):
        return [run[at : at + 2] for at in range(0, len(run), 2)]
    return _words_of_spaced(run)


def _words_of_spaced(piece: str) -> list[str]:
    """The words of a piece in scripts with spaces: marks are cut off at both ends first."""
    before: list[str] = []
    after: list[str] = []
    has_quote = "'" in piece or "’" in piece
    while piece and piece not in _UNCUT:
        is_initial = len(piece) == 2 and piece[1] == "." and piece[0].islower()  # such as `c.`, an exception of spaCy
        if is_initial:
            break
        # Most pieces begin and end with letters, and skip the slow patterns.
        if not piece[0].isalnum() and (first := _FIRST.match(piece)):
            before.append(first[0])
            piece = piece[first.end() :]
        elif (last := _last(piece, has_quote)) is not None:
            after.append(piece[last:])
            piece = piece[:last]
        else:
            break
    words_within = _words_of_core(piece, has_quote) if piece else ()
    return [*before, *words_within, *reversed(after)]


def _last(piece: str, has_quote: bool) -> int | None:
    """The index of the mark, the unit or the 's at the end of a piece; None if there is none."""
    if piece[-1].isalpha() and not has_quote and not _HAS_DIGIT.search(piece):
        return None
    last = _LAST.search(piece)
    if last is None:
        return None
    # A contraction is cut by `_words_of_core`.
    is_contraction = has_quote and last[0] not in _POSSESSIVES and _CONTRACTION.fullmatch(piece)
    return None if is_contraction else last.start()


def _words_of_core(piece: str, has_quote: bool = False) -> list[str]:
    """The words of a piece without marks at its ends."""
    if piece.isalpha() and piece not in _HALVES:
        return [piece]
    if piece in _UNCUT or ("." in piece and _ADDRESS.fullmatch(piece)):
        return [piece]
    half = _HALVES.get(piece)
    if half:
        return [piece[:half], piece[half:]]
    hour = _HOUR.fullmatch(piece)
    if hour:
        return [hour[1], hour[2]]
    if has_quote and (short := _CONTRACTION.fullmatch(piece)):
        return [*_words_of_core(short[1], has_quote), short[2]]
    return [part for part in _WITHIN.split(piece) if part]
