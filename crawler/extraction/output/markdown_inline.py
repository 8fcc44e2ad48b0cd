"""A line of Markdown: its text with what would be taken for markup escaped, its emphasis, code and links.

While a line is read its markup is one character each, out of those that are none in Unicode and therefore in no text.
So white space is folded and words are set apart as they are for plain text.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from crawler.page.blocks import LINE_END_BETWEEN_WIDE, begins_a_word
from crawler.page.text import fold_space


class Markup(StrEnum):
    """The kinds of markup within a line."""

    STRONG = "strong"
    EM = "em"
    CODE = "code"
    LINK = "link"
    MATH = "math"
    DISPLAY = "display"
    """A formula that stands by itself."""
    NOTE = "note"
    """A link to a footnote."""
    RETURN = "return"
    """A link from a footnote back to the text."""


MARKS = {
    Markup.STRONG: ("\ufdd0", "\ufdd1"),
    Markup.EM: ("\ufdd2", "\ufdd3"),
    Markup.CODE: ("\ufdd4", "\ufdd5"),
    Markup.LINK: ("\ufdd6", "\ufdd7"),
    Markup.MATH: ("\ufdd8", "\ufdd9"),
    Markup.DISPLAY: ("\ufdda", "\ufddb"),
    Markup.NOTE: ("\ufddc", "\ufddd"),
    Markup.RETURN: ("\ufdde", "\ufddf"),
}
"""What opens and what closes each kind."""
OPEN_CODE, CLOSE_CODE = MARKS[Markup.CODE]
VERBATIM: dict[str, Markup | None] = {OPEN_CODE: Markup.CODE, CLOSE_CODE: None}
VERBATIM |= {MARKS[kind][0]: Markup.MATH for kind in (Markup.MATH, Markup.DISPLAY)}
VERBATIM |= {MARKS[kind][1]: None for kind in (Markup.MATH, Markup.DISPLAY)}
"""Marks before text in which nothing is escaped, with its kind, and those after it."""
OPEN_LINK, CLOSE_LINK = MARKS[Markup.LINK]
OPEN_NOTE, CLOSE_NOTE = MARKS[Markup.NOTE]
OPEN_RETURN, CLOSE_RETURN = MARKS[Markup.RETURN]
RETURN = re.compile(f"{OPEN_RETURN}[^{CLOSE_RETURN}]*{CLOSE_RETURN}")
# What is left beside a link back from a footnote: "^", "[]".
LEFT = re.compile(r"^(?:[\^↑]\s?)+|[\[(]\s?[\])]")
MATH = dict(zip("".join((*MARKS[Markup.MATH], *MARKS[Markup.DISPLAY])), ("$", "$", "$$", "$$"), strict=True))
SIGNS = dict(zip("\ufdd0\ufdd1\ufdd2\ufdd3", ("**", "**", "*", "*"), strict=True))
MARK = re.compile("([\ufdd0-\ufddf])")
# There is no emphasis with a space inside it, or with a sign at its edge and a letter beyond.
SPACE_INSIDE = re.compile("([\ufdd0\ufdd2\ufdd4\ufdd6\ufdd8\ufdda]) | ([\ufdd1\ufdd3\ufdd5\ufdd7\ufdd9\ufddb])")
SIGN_AT_END = re.compile(r"([^\w\s\ufdd0-\ufddf]{1,9})([\ufdd1\ufdd3]+)(?=\w)")
SIGN_AT_START = re.compile(r"(?<=\w)([\ufdd0\ufdd2]+)([^\w\s\ufdd0-\ufddf]{1,9})")
EMPTY = re.compile("\ufdd0( ?)\ufdd1|\ufdd2( ?)\ufdd3|\ufdd4( ?)\ufdd5")
DEEPEST = 3  # marks in each other: a link, strong, em
SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?! )|(?<=[^ ])\*|(?<![^\W_])_(?! )|(?<=[^ ])_(?![^\W_])|\](?=[(\[:])|<(?=[A-Za-z/!?])"
    r"|\[(?=\^)|&(?=#?\w{1,32};)|~(?=~)"
)
SPECIAL_SIGN = re.compile(r"[\\`*_\]<\[&~]")
"""One of them is in all that SPECIAL matches; most texts have none, and are searched ten times as fast."""
BRACKET = re.compile(r"[\[\]]")
# What has a meaning at the start of a line; of a number, its dot.
START = re.compile(r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|\||~~~|([-=_])\1\1+\s*$|:?-+[:|]")
NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
NOTE_AT_START = re.compile(r"^(\[\^\w+\]):")
TICKS = re.compile("`+")
# TeX in the text of a page, which a script draws. Its length is bounded, as an end is looked for from each beginning.
IN_DOLLARS = r"\$\$?(?![\s$])([^$]+?)(?<![\s\\])\$\$?(?![\w$])"
SOURCE = re.compile(rf"\\\((.{{1,1000}}?)\\\)|\\\[(.{{1,1000}}?)\\\]|{IN_DOLLARS}")
DOLLARS = re.compile(IN_DOLLARS)
WORD = re.compile(r"[^\W\d_]{2}")
DOLLAR = re.compile(r"(?<!\\)\$")
TEX_SIGN = re.compile(r"[\\^_{}=<>+]")
# Signs that end an address, or mean something in it.
IN_ADDRESS = {ord(sign): f"%{ord(sign):02X}" for sign in ' ()<>[]\\"`|{}^*'}


def without_marks(text: str) -> str:
    """The text of a line with marks in it. A pattern is faster than `str.translate` where a text is not ASCII."""
    return MARK.sub("", text)


def raw(pieces: list[str]) -> str:
    """The pieces of a line, marks among them, as one text, with the spaces of `crawler.page.blocks.joined`."""
    apart = []
    before = ""
    for piece in pieces:
        if MARK.match(piece):
            apart.append(piece)
            continue
        first = piece[:1]
        if (first.isupper() or first.isdigit()) and begins_a_word(first, before[-2:]):
            apart.append(" ")
        apart.append(piece)
        before = piece
    text = "".join(apart)
    if "\n" in text and "\n" in without_marks(text).strip():
        text = "".join(LINE_END_BETWEEN_WIDE.sub("", piece) for piece in apart)
    if not MARK.search(text):
        return fold_space(text)
    for _ in range(DEEPEST):
        if not MARK.search(text):
            break
        text = SPACE_INSIDE.sub(lambda mark: f" {mark[1]}" if mark[1] else f"{mark[2]} ", fold_space(text))
        text = EMPTY.sub(lambda empty: " " if " " in empty[0] else "", text)
    text = SIGN_AT_START.sub(r"\2\1", SIGN_AT_END.sub(r"\2\1", text))
    return fold_space(text)


def without_returns(text: str) -> str:
    """A line with marks in it without the links back from footnotes."""
    if OPEN_RETURN not in text:
        return text
    return LEFT.sub("", fold_space(EMPTY.sub("", RETURN.sub("", text))))


def rendered(text: str, addresses: Iterator[str], labels: Iterator[str], strong: bool = True) -> str:
    """A line with marks in it as Markdown; each link takes its address from `addresses`, none if that is empty.

    Each reference to a footnote takes its label from `labels`.
    """
    tokens = MARK.split(text)
    has_math = not MATH.keys().isdisjoint(tokens)
    out: list[str] = []
    address = ""
    opened = 0
    inside: Markup | None = None
    for at, token in enumerate(tokens):
        if inside is Markup.NOTE:
            inside = None if token == CLOSE_NOTE else inside
        elif token == OPEN_NOTE:
            inside = Markup.NOTE
            out.append(f"[^{next(labels, '')}]")
        elif at % 2 == 0:
            out.append(_unmarked(token, inside, has_math, (bool(address), at + 1 < len(tokens), not at)))
        elif token in VERBATIM:
            inside = VERBATIM[token]
            out.append(MATH.get(token, ""))
        elif token == OPEN_LINK:
            address = next(addresses, "")
            opened = len(out)
            out.append("[" if address else "")
        elif token == CLOSE_LINK:
            out.append(f"]({address})" if address else "")
            if not "".join(out[opened + 1 : -1]).strip():
                del out[opened:]
            address = ""
        elif not inside and (strong or token not in MARKS[Markup.STRONG]):
            out.append(SIGNS[token])
    return NOTE_AT_START.sub(r"\1\\:", "".join(out).strip())


def _unmarked(text: str, inside: Markup | None, has_math: bool, place: tuple[bool, bool, bool]) -> str:
    """A part without marks: code and formulas as they are, else escaped."""
    if inside is Markup.MATH:
        return tamed(text)
    if inside is Markup.CODE and text.strip():
        return code_span(text)
    if "$" not in text and "\\" not in text:
        return escaped(text, *place)
    parts = []
    end = 0
    in_link, more, first = place
    for formula in SOURCE.finditer(text) if "\\)" in text or "\\]" in text else DOLLARS.finditer(text):
        source = next(filter(None, formula.groups()))
        if not _is_tex(source) and (formula[0][0] == "$" or WORD.search(source)):
            continue
        parts.append(_with_dollars(escaped(text[end : formula.start()], in_link, True, first and not end), True))
        sign = "$$" if formula[0].startswith(("\\[", "$$")) else "$"
        parts.append(f"{sign}{tamed(source.strip())}{sign}")
        end = formula.end()
    rest = escaped(text[end:], in_link, more, first and not end)
    return "".join([*parts, _with_dollars(rest, has_math or bool(end))])


def tamed(tex: str) -> str:
    r"""TeX in which nothing ends the formula, and nothing is a tag or a link to programs that know no formulas.

    >>> tamed("a$ <b> [c](d)")
    'a\\$ \\lt b\\gt  [c] (d)'
    """
    tex = DOLLAR.sub(r"\\$", tex).replace("<", r"\lt ").replace(">", r"\gt ")
    return tex.replace("](", "] (").replace("`", "'")


def _is_tex(text: str) -> bool:
    """Whether what stands between two dollars is a formula: letters with signs of TeX, or one letter."""
    return len(text) == 1 or TEX_SIGN.search(text) is not None


def _with_dollars(text: str, has_math: bool) -> str:
    """Escaped text in which no dollar begins a formula: beside formulas none, else those that would be taken for it."""
    if has_math or SOURCE.search(text):
        return text.replace("$", r"\$")
    return text


def escaped(text: str, in_link: bool = False, more: bool = False, first: bool = True) -> str:
    r"""Text in which nothing has a meaning to Markdown; `more` where markup follows, `first` at the start of a line.

    >>> escaped("*a* 2 * 3 [b](c) snake_case <b> a < b"), escaped("1986. Bees"), escaped("- a #b")
    ('\\*a\\* 2 * 3 [b\\](c) snake_case \\<b> a < b', '1986\\. Bees', '\\- a #b')
    """
    if SPECIAL_SIGN.search(text):
        text = SPECIAL.sub(r"\\\g<0>", text)
    if more and text[-1:] == "\\":  # it would take the meaning of what follows
        text = f"{text}\\"
    if in_link:
        text = BRACKET.sub(r"\\\g<0>", text.replace("\\]", "]"))
    elif more and text[-1:] in ("]", "!"):
        text = f"{text[:-1]}\\{text[-1]}"
    if first:
        if START.match(text):
            return f"\\{text}"
        if NUMBER.match(text):
            return NUMBER.sub(r"\1\\\2", text, count=1)
        return text
    return text


def code_span(text: str) -> str:
    """Text as code within a line.

    >>> code_span("a`b"), code_span("`a")
    ('``a`b``', '`` `a ``')
    """
    ticks = "`" * (max(map(len, TICKS.findall(text)), default=0) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def target(url: str) -> str:
    """An address as it may stand between the parentheses of a link."""
    return url.translate(IN_ADDRESS)
