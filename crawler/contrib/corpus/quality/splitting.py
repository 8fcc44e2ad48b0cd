"""Cuts a piece of text without spaces into words, as the pipelines do whose limits are applied (by spaCy's rules).

Marks stand alone, `don't` is two words, `U.S.` one, and so is an address. In scripts that put no space between words,
two characters are a word: for Chinese this is what stands in for a dictionary.
"""

import re

from crawler.page.text import UNSPACED

LONGEST = 60
"""Characters of a piece that is cut by all of the rules; a longer one is cut at its marks."""
_LONGEST_ADDRESS = 2083
_QUOTES = "'\"“”„‘’‚«»`´「」『』（）〔〕【】《》〈〉"
_MARKS = ",:;!?¿¡()\\[\\]{}<>_#*&。？！，、；：～·।،۔؛"
_MONEY = "$£€¥฿₹₽₩₪"
_SIGNS = "¦©®°\u2100-\u214f\u2195-\u21ff\u2300-\u23ff\u2440-\u27bf\u2b00-\u2bff\ufffc\ufffd\U0001f000-\U0001faff"
_UNITS = "km|m|cm|mm|nm|kg|mg|g|lb|oz|ha|yd|in|ft|t|km/h|kmh|mph|m/s|[kKmMgGtT][bB]|[TGMK%]"
_LETTER = "[^\\W\\d_]"
_FIRST = re.compile(rf"\.\.+|…|\+(?!\d)|[§%=—–{_MARKS}{_QUOTES}{_MONEY}{_SIGNS}]")
_LAST = re.compile(
    rf"(?:\.\.+|…|['’][sS]|[—–{_MARKS}{_QUOTES}{_SIGNS}]|(?<=\d)(?:[+{_MONEY}]|{_UNITS})"
    rf"|(?<=[0-9a-zà-ÿ%²+\-{_MARKS}{_QUOTES}])\.|(?<=[A-Z][A-Z])\.)$"
)
_WITHIN = re.compile(
    rf"(\.\.+|…|[{_SIGNS}]|(?<=\d)[+*^-](?=[\d-])|(?<=[a-zà-ÿ{_QUOTES}])\.(?=[A-ZÀ-Þ{_QUOTES}])|(?<={_LETTER}),(?={_LETTER})"
    rf"|(?<=[^\W_])(?:---?|——|[-–—~])(?={_LETTER})|(?<=[^\W_])[:<>=/](?={_LETTER}))"
)
_ADDRESS = re.compile(
    r"(?:[\w+.-]{2,40}://)?(?:[^\s@]{1,60}@)?(?:[\w\u00a1-\uffff-]+\.)+[a-z]{2,63}(?::\d{2,5})?(?:[/?#]\S*)?"
)
_SHORT = re.compile(r"(.*[A-Za-z])(n['’]t|['’](?:m|re|ve|ll|d|s))", re.IGNORECASE)
_POSSESSIVES = frozenset(("'s", "’s", "'S", "’S"))
_HAS_DIGIT = re.compile(r"\d")
_HALVES = {"cannot": 3, "Cannot": 3, "gonna": 3, "Gonna": 3, "gotta": 3, "Gotta": 3}
_PLAIN = re.compile(r"([A-Za-z]*[a-z]{5}|[0-9]+)([,.;:!?)])")
"""A word of more letters than an abbreviation, or a number, and a mark: most of the new pieces of a page."""
_HOUR = re.compile(r"(1[0-2]|[1-9])([ap]\.?m\.?)")
_LONG = re.compile(rf"[{UNSPACED}]{{1,2}}|[^\W_{UNSPACED}]+|_+|[^\w\s]")
_RUNS = re.compile(rf"([{UNSPACED}]+)")
_WHOLE = frozenset(
    (
        "Mr. Mrs. Ms. Dr. St. Jr. Inc. Ltd. Co. co. Corp. Bros. Prof. Rep. Rev. Sen. Gen. Gov. Adm. Messrs. Mo. Mont."
        " Md. Mt. vs. v.s. e.g. E.g. i.e. I.e. a.m. p.m. Ph.D. D.C. Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sep. Sept. Oct."
        " Nov. Dec. Ala. Ariz. Ark. Calif. Colo. Conn. Del. Fla. Ga. Ia. Ill. Ind. Kan. Ky. La. Mass. Mich. Minn."
        " Miss. Neb. Nev. Okla. Ore. Pa. Tenn. Va. Wash. Wis. N.C. N.D. N.H. N.J. N.M. N.Y. S.C. 's 'd 're 'm 've"
        " and/or w/o o'clock ma'am :) :( ;) :-) :-( ;-) :D :P <3"
    ).split()
)


def cut(piece: str) -> list[str]:
    """The words of a piece.

    >>> cut("(don't!)"), cut("well-known."), cut("5%"), cut("U.S.")
    (['(', 'do', "n't", '!', ')'], ['well', '-', 'known', '.'], ['5', '%'], ['U.S.'])
    >>> cut("example.org/a"), cut("蜜蜂跳舞")
    (['example.org/a'], ['蜜蜂', '跳舞'])
    """
    if piece.isalpha() and piece < "\u0e01" and piece not in _HALVES:
        return [piece]
    plain = _PLAIN.fullmatch(piece)
    if plain:
        return [plain[1], plain[2]]
    if len(piece) > LONGEST:
        is_address = len(piece) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(piece)
        if is_address:
            return [piece]
        return _LONG.findall(piece)
    if not piece.isascii() and _RUNS.search(piece):
        return [word for run in _RUNS.split(piece) if run for word in _of_run(run)]
    return _of_spaced(piece)


def _of_run(run: str) -> list[str]:
    if _RUNS.match(run):
        return [run[at : at + 2] for at in range(0, len(run), 2)]
    return _of_spaced(run)


def _of_spaced(piece: str) -> list[str]:
    before: list[str] = []
    after: list[str] = []
    has_quote = "'" in piece or "’" in piece
    while piece and piece not in _WHOLE and not (len(piece) == 2 and piece[1] == "." and piece[0].islower()):
        # Most pieces begin and end with letters: the patterns, which are slow, are spared them.
        if not piece[0].isalnum() and (first := _FIRST.match(piece)):
            before.append(first[0])
            piece = piece[first.end() :]
        elif (last := _last(piece, has_quote)) is not None:
            after.append(piece[last:])
            piece = piece[:last]
        else:
            break
    return [*before, *(_of_core(piece, has_quote) if piece else ()), *reversed(after)]


def _last(piece: str, has_quote: bool) -> int | None:
    """Where the mark, the unit or the 's begins with which a piece ends; None if there is none."""
    if piece[-1].isalpha() and not has_quote and not _HAS_DIGIT.search(piece):
        return None
    last = _LAST.search(piece)
    if last is None or (has_quote and last[0] not in _POSSESSIVES and _SHORT.fullmatch(piece)):
        return None
    return last.start()


def _of_core(piece: str, has_quote: bool = False) -> list[str]:
    """The words of a piece without marks at its ends."""
    if piece.isalpha() and piece not in _HALVES:
        return [piece]
    if piece in _WHOLE or ("." in piece and _ADDRESS.fullmatch(piece)):
        return [piece]
    half = _HALVES.get(piece)
    if half:
        return [piece[:half], piece[half:]]
    hour = _HOUR.fullmatch(piece)
    if hour:
        return [hour[1], hour[2]]
    if has_quote and (short := _SHORT.fullmatch(piece)):
        return [*_of_core(short[1], has_quote), short[2]]
    return [part for part in _WITHIN.split(piece) if part]
