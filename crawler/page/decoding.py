"""Decodes the bytes of a page, trying the most reliable evidence of the encoding first.

Browsers trust declarations more (https://html.spec.whatwg.org/multipage/parsing.html#encoding-sniffing-algorithm).

1. A byte order mark, or the NULs that UTF-16 puts at every other byte of HTML.
2. Bytes that are valid UTF-8 and not only ASCII: text in another encoding is valid UTF-8 only if it is very short.
3. The declaration, in the HTTP header or in the page, unless the bytes contradict it: servers declare defaults.
4. Bytes that are UTF-8 except for a few broken characters.
5. The bytes alone: a sample is decoded in each encoding, and scored by how common its characters are in the languages
   of that encoding, because a wrong encoding gives valid but rare characters. The most frequent characters
   (`Script.frequent`) count most; the common part of the encoding's table counts a little (GB 2312, Big5, JIS X 0208
   and KS X 1001 list the common characters first).
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom

FALLBACK = "cp1252"  # if no script is identified: Latin script
SAMPLE = 4_000  # bytes: some 2,000 hanzi, more than the scores of pages need to settle
HEAD = 4096  # bytes searched for a declaration
BROKEN = 0.005  # a declaration is believed up to this share of broken characters
BROKEN_UTF8 = 0.1  # the same for undeclared UTF-8: in pages of other encodings, half the characters and more are broken
CROWDED = 0.5  # share of the non-ASCII bytes that are adjacent: .9 and more in hanzi, under .2 in French
FREQUENT = 0.7  # weight of a frequent character in a score
USUAL = 0.3  # weight of a character in the common part of the table; a frequent one usually has both
CLEAR = 0.2  # the lowest score that identifies a script: pages in it have .3 and more
CLEAR_LETTERS = 0.5  # the same for one byte per letter, where wrong readings score higher: pages have .55 and more

ONE_BYTE = re.compile(r"koi8-[rut]|cp(125\d|8[5-7]\d|1006|1125)|iso8859-\d+|mac-\w+|ptcp154|kz1048|tis-620")
"""Encodings of one byte a character."""
DECLARABLE = re.compile(
    r"utf-8|gb18030|big5hkscs|cp9(32|49)|euc_jp|euc_ji\w+|shift_jis\w+|johab|hz|iso2022_\w+|" + ONE_BYTE.pattern
)
"""Encodings that a page may declare; other codecs of Python, such as "idna", "unicode_escape" or "zlib", are not
encodings of text.
"""
READ_AS = {"utf-8-sig": "utf-8", "cp950": "big5hkscs"}
"""Encodings that are read as another one, which can decode all their bytes."""
# Names that pages use and Python does not know.
ALIASES = {
    "x-gbk": "gbk",
    "gb-2312": "gb2312",
    "gb_2312": "gb2312",
    "windows-936": "gbk",
    "gb18030-2022": "gb18030",
    "x-x-big5": "big5",
    "windows-950": "big5",
    "x-euc-jp": "euc-jp",
    "windows-949": "cp949",
    "utf8mb4": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
    "x-cp1251": "cp1251",
    "win1251": "cp1251",
    "iso-8859-8-i": "iso-8859-8",
    "dos-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
ALIAS = re.compile(rf"(?<![\w-])(?:{'|'.join(ALIASES)})(?!\w)", re.I)
# The bytes that show that a declared 7-bit encoding is used: without them the page is ASCII.
SHIFTS = {"hz": b"~{", "iso2022": b"\x1b"}
# Python's Big5-HKSCS decodes these characters of Big5 differently from browsers, among them the dot in foreign names.
BIG5_SIGNS = dict(zip("•､‾∼♁☉¥¢£", "‧﹑¯～⊕⊙￥￠￡", strict=True))

# A run of characters with non-ASCII bytes, and the byte that ends it. The later bytes of a multi-byte character may be
# ASCII: digits, letters and some signs. The ending byte keeps the runs apart when they are joined to a sample.
RUN = re.compile(rb"[\x80-\xff][0-9@-~\x80-\xff]{0,1000}[\x00-/:-?\x7f]?")
CROWD = re.compile(rb"[\x80-\xff]{2,}")
ASCII = bytes(range(0x80))
# Broken characters, and capitals or Latin letters after small letters of another script: signs of a wrong encoding.
NONSENSE = re.compile("\ufffd|[а-яё][А-ЯЁA-Za-z]|[ά-ώ][Α-ΩA-Za-z]")
CONTROLS = bytes({*range(0x20)} - {*b"\t\n\f\r"})  # XML forbids them, lxml rejects NUL
# The first two bytes of U+FFFE and U+FFFF in UTF-8. U+FFFD and full-width signs such as U+FFE5, which Chinese shops use
# for prices, begin with the same two bytes.
NONCHARACTER_START = "\uffff".encode()[:2]
FORM_FEED = bytes.maketrans(b"\f", b" ")  # forbidden too, but it separates words
PRINTABLE = bytes({*range(0x100)} - {*CONTROLS, *b"\f"})  # the bytes that `printable` leaves unchanged
PIECE = 1 << 14  # bytes that are checked at a time

SIMPLIFIED = (
    "的一是人有不在了中国大学为我个这上生和会发来年经以地能他就新到要们业时出对于本家用成多自资可现月作市理行动下你分文日高过"
    "政子也力而方产之后公心说实关民与开得面所机其看好主部么报者事全最法同性天小前工化度社都体定如因车间点里种然务进还明回"
    "，。、"
)
TRADITIONAL = (
    "的一是不在有人我他這中大為上個國以要時來用們生到作地於出就分對成會可主發年動同工也能下過子說產面而方後多定行學法所民得經"
    "三之進著等部家電力如水高自理起小現實量都點從業本去把性好應開它合還因由其些然前外天政日那社事平全間樣與各新心你明看但"
    "，。、"
)
KANA = "のにるたいはをとがしてでなれっかりすもさこくまらあだんきけせよルスンイトラリアドクシーグロ、。"
HANGUL = (
    "이다는에의가을하고지은로한도를사기서대리어시인자그아수해정부만스있전보일상주제들과여원장동성구국신관경개되라니세적"
)
CYRILLIC = "оеаинтсрвлкмдпуяыь"
GREEK = "αεοιτσνηρςπκάέήίό"


@dataclass(frozen=True)
class Script:
    """An encoding's frequent characters, the first and second bytes of the common part of its table, and the lowest
    score that identifies it.
    """

    frequent: str
    leads: range
    trails: range | None = None  # None if a character has one byte
    least_score: float = CLEAR_LETTERS


# If scores are equal, the first encoding wins.
SCRIPTS = {
    "gb18030": Script(SIMPLIFIED, range(0xB0, 0xD8), range(0xA1, 0xFF), CLEAR),
    "big5hkscs": Script(TRADITIONAL, range(0xA4, 0xC7), range(0x40, 0xFF), CLEAR),
    "cp932": Script(KANA, range(0x82, 0x99), range(0x40, 0xFF), CLEAR),
    "euc_jp": Script(KANA, range(0xA4, 0xD0), range(0xA1, 0xFF), CLEAR),
    "cp949": Script(HANGUL, range(0xB0, 0xC9), range(0xA1, 0xFF), CLEAR),
    "cp1251": Script(CYRILLIC, range(0xE0, 0x100)),
    "koi8-r": Script(CYRILLIC, range(0xC0, 0xE0)),
    "cp1253": Script(GREEK, range(0xDC, 0xFF)),
}
MULTI_BYTE = {encoding for encoding, script in SCRIPTS.items() if script.trails}


@cache
def one_byte_table(encoding: str) -> str:
    """The 256 characters of an encoding of one byte a character, with U+FFFD for bytes that stand for none."""
    return bytes(range(0x100)).decode(encoding, "replace")


def lenient_text(body: bytes, encoding: str) -> str:
    r"""The text of bytes in an encoding, with U+FFFD for broken characters, without a character cut off at the end.

    >>> lenient_text("中文".encode("gb18030")[:3], "gb18030")
    '中'
    """
    if ONE_BYTE.fullmatch(encoding):  # a table without gaps: an error handler takes 0.5 microseconds for each byte
        return codecs.charmap_decode(body, "strict", one_byte_table(encoding))[0]
    text = codecs.getincrementaldecoder(encoding)("replace").decode(body)
    if encoding == "big5hkscs":
        for in_python, in_browsers in BIG5_SIGNS.items():
            text = text.replace(in_python, in_browsers)
    return text


def printable(body: bytes) -> bytes:
    r"""The bytes of a page without control characters, and with spaces for form feeds. Only UTF-16, UTF-32 and ISO 2022
    use these bytes for other characters.

    >>> printable(b"a\0b\fc")
    b'ab c'
    """
    return body.translate(FORM_FEED, CONTROLS)


def text_of(body: bytes, encoding: str) -> tuple[str, str]:
    """The text of a page in an encoding, without characters that XML forbids, and the encoding."""
    if encoding.startswith(("utf-16", "utf-32", "iso2022")):
        text = printable(lenient_text(body, encoding).encode()).decode()
    else:
        text = lenient_text(printable(body), encoding)
    return text.lstrip("\ufeff").replace("\ufffe", "").replace("\uffff", ""), encoding


def utf16(body: bytes, content_type: str) -> str | None:
    r"""UTF-16 with its byte order, if the NULs show it or the HTTP header declares it; None for other encodings.

    >>> utf16("<p>中文</p>".encode("utf-16-le"), "")
    'utf-16-le'
    """
    # Every other byte of ASCII characters in UTF-16, such as those of tags, is a NUL. So NULs at even or at odd
    # offsets must be more than a fifth of the head, and ten times as many as at the other offsets.
    head = body[:HEAD]
    even = head[::2].count(0)
    odd = head[1::2].count(0)
    if max(even, odd) * 5 > len(head) and min(even, odd) * 10 < max(even, odd):
        return "utf-16-be" if even > odd else "utf-16-le"
    declared = http_content_type_encoding(content_type) or ""
    if not declared.startswith("utf-16") or b"</" in body:  # tags without NULs: the declaration is wrong
        return None
    if declared == "utf-16-be":
        return "utf-16-be"
    return "utf-16-le"


def declarations(body: bytes, content_type: str) -> Iterator[str]:
    """The encodings declared by the HTTP header and by the page, as Python names them.

    >>> list(declarations(b'<meta charset="x-sjis">', "text/html; charset=x-gbk"))
    ['gb18030', 'cp932']
    """
    head = body[:HEAD].decode("latin-1")
    header, page = (ALIAS.sub(lambda name: ALIASES[name[0].lower()], text) for text in (content_type, head))
    for name in (http_content_type_encoding(header), html_body_declared_encoding(page)):
        name = READ_AS.get(name or "", name)
        if name and DECLARABLE.fullmatch(name):
            yield name


def is_shifted(body: bytes, encoding: str) -> bool:
    """Whether this is a 7-bit encoding and the bytes use its shift sequences."""
    shift = SHIFTS.get(encoding.partition("_")[0])
    return shift is not None and shift in body


def sample(body: bytes) -> bytes:
    """The first non-ASCII words of a page, up to `SAMPLE` bytes.

    >>> sample("<p>le café, l'été</p>".encode("latin-1"))
    b'\\xe9,\\xe9t\\xe9<'
    """
    runs: list[bytes] = []
    size = 0
    for run in RUN.finditer(body):
        runs.append(run[0])
        size += len(run[0])
        if size >= SAMPLE:
            break
    return b"".join(runs)


def non_ascii_count(text: str) -> int:
    """The number of non-ASCII characters."""
    return len(text) - len(text.encode("ascii", "ignore"))


def is_nearly_valid(words: bytes, encoding: str, share: float) -> bool:
    """Whether at most this share of a sample's non-ASCII characters is broken in an encoding. In a short sample, 3
    broken characters are accepted if they are at most a tenth.
    """
    text = lenient_text(words, encoding)
    broken = text.count("\ufffd")
    if encoding == "utf-8":  # the page itself may contain U+FFFD
        broken -= words.count("\ufffd".encode())
    total = non_ascii_count(text)
    return broken <= total * share or broken <= min(3, total / 10)


def is_crowded(words: bytes) -> bool:
    """Whether most non-ASCII bytes of a sample are beside another non-ASCII byte; in Latin script they are not."""
    return sum(map(len, CROWD.findall(words))) >= CROWDED * len(words.translate(None, ASCII))


@cache
def common_characters(encoding: str) -> frozenset[str]:
    """The characters in the common part of an encoding's table."""
    script = SCRIPTS[encoding]
    trails = [b""]
    if script.trails is not None:
        trails = [bytes([trail]) for trail in script.trails]
    texts = ((bytes([lead]) + trail).decode(encoding, "replace") for lead in script.leads for trail in trails)
    return frozenset(text for text in texts if len(text) == 1 and text != "\ufffd")


def score(words: bytes, encoding: str) -> float:
    """How well the decoded sample fits the encoding's languages, at most 1; below 0 if it is mostly nonsense.

    >>> words = "今天天气很好，我们去公园。".encode("gb18030")
    >>> score(words, "gb18030") > .5 > .1 > score(words, "big5hkscs")
    True
    """
    text = lenient_text(words, encoding)
    frequent = sum(map(text.count, SCRIPTS[encoding].frequent))
    usual = sum(map(common_characters(encoding).__contains__, text))
    nonsense = len(NONSENSE.findall(text))
    return (FREQUENT * frequent + USUAL * usual - 2 * nonsense) / max(1, non_ascii_count(text))


def sniff(words: bytes, declared: str = "") -> str:
    """The encoding of a sample of non-ASCII words, by its bytes. A declared encoding gets a bonus.

    >>> sniff("Это простой текст".encode("koi8-r")), sniff("déjà vu à la fenêtre".encode("cp1252"))
    ('koi8-r', 'cp1252')
    """
    if non_ascii_count(lenient_text(words, "utf-8")) and is_nearly_valid(words, "utf-8", BROKEN_UTF8):
        return "utf-8"
    if not is_crowded(words):
        return FALLBACK
    scores = {encoding: score(words, encoding) for encoding in SCRIPTS}
    if declared in scores:
        # A short text is weak evidence: the fewer characters it has, the larger is the bonus.
        scores[declared] += 0.05 + 3 / max(1, non_ascii_count(lenient_text(words, declared)))
    fitting = [encoding for encoding, script in SCRIPTS.items() if scores[encoding] >= script.least_score]
    return max(fitting, key=scores.__getitem__, default=FALLBACK)


def is_believable(words: bytes, declared: str) -> bool:
    """Whether the bytes do not contradict a declaration."""
    if not is_nearly_valid(words, declared, BROKEN):
        return False
    sniffed = sniff(words, declared)
    if declared in MULTI_BYTE and sniffed == FALLBACK:
        # The non-ASCII bytes of multi-byte characters are adjacent, except in Big5 and Shift_JIS, where the second byte
        # may be ASCII. So a text that is not crowded must have frequent characters: without any, its score is at most
        # USUAL.
        return is_crowded(words) or score(words, declared) > USUAL
    if declared in SCRIPTS or declared == FALLBACK:
        return sniffed in (declared, FALLBACK)
    # Other encodings may be for scripts that are not scored: only UTF-8 and multi-byte encodings overrule them.
    return declared == "utf-8" or sniffed not in MULTI_BYTE | {"utf-8"}


def is_clean_utf8(body: bytes, content_type: str = "") -> bool:
    r"""Whether a fast check shows that `decode` reads these bytes as UTF-8 and changes nothing, as for most pages.

    It is also False for some pages that `decode` does not change: those in ASCII, which may be a 7-bit encoding, and
    those with characters that begin like U+FFFE and U+FFFF. For them `decode` gives the same text, only later.

    >>> is_clean_utf8("蜜蜂，".encode()), is_clean_utf8("蜜蜂\0".encode()), is_clean_utf8("蜜蜂".encode("gbk"))
    (True, False, False)
    """
    # Searching for one byte is fast, and is enough for most pages: 0xEF begins both the noncharacters and the byte
    # order mark.
    if NONCHARACTER_START[:1] in body and (NONCHARACTER_START in body or body.startswith(codecs.BOM_UTF8)):
        return False
    if body.isascii() or utf16(body, content_type):
        return False
    at = 0
    while at < len(body):
        # Each piece stays in the CPU cache. To decode the whole page at once takes much longer, and its text is rarely
        # needed.
        piece = body[at : at + PIECE]
        if piece.translate(None, PRINTABLE):
            return False
        try:
            _, used = codecs.utf_8_decode(piece, "strict", at + PIECE >= len(body))
        except UnicodeDecodeError:
            return False
        at += used
    return True


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """The text of a page and the name of the encoding it was read in.

    >>> decode("<title>中文</title>".encode("gbk"), "text/html; charset=gb2312")
    ('<title>中文</title>', 'gb18030')
    """
    encoding, mark = read_bom(body)
    if encoding and mark:
        return text_of(body[len(mark) :], encoding)
    encoding = utf16(body, content_type)
    if encoding:
        return text_of(body, encoding)

    # UTF-8 needs no declaration.
    try:
        text, used = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        text = ""
        used = -1  # not all of it
    if not text.isascii():
        return text_of(body, "utf-8")

    # ASCII, which may be a declared 7-bit encoding, or bytes of another encoding.
    declared = list(declarations(body, content_type))
    if used == len(body):  # only ASCII
        return text_of(body, next((name for name in declared if is_shifted(body, name)), "utf-8"))
    words = sample(body)
    return text_of(body, next((name for name in declared if is_believable(words, name)), None) or sniff(words))
