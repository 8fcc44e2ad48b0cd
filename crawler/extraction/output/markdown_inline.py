"""Writes a line of Markdown: its text, emphasis, code and links. Characters that would be read as markup are escaped.

A line is first a list of pieces: texts, and marks where markup begins or ends. A mark is one of Unicode's
noncharacters, which occur in no text (https://www.unicode.org/faq/private_use.html#noncharacters), so white space can
be folded and words separated as in plain text. `raw` joins the pieces, and `rendered` replaces the marks by Markdown.
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
    """A formula on a line of its own."""
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
"""The mark that opens each kind, and the mark that closes it."""
OPEN_CODE, CLOSE_CODE = MARKS[Markup.CODE]
AFTER_VERBATIM_MARK: dict[str, Markup | None] = {OPEN_CODE: Markup.CODE, CLOSE_CODE: None}
AFTER_VERBATIM_MARK |= {MARKS[kind][0]: Markup.MATH for kind in (Markup.MATH, Markup.DISPLAY)}
AFTER_VERBATIM_MARK |= {MARKS[kind][1]: None for kind in (Markup.MATH, Markup.DISPLAY)}
"""The marks of code and formulas, in which nothing is escaped, and the kind of the text after each mark."""
OPEN_LINK, CLOSE_LINK = MARKS[Markup.LINK]
OPEN_NOTE, CLOSE_NOTE = MARKS[Markup.NOTE]
OPEN_RETURN, CLOSE_RETURN = MARKS[Markup.RETURN]
RETURN = re.compile(f"{OPEN_RETURN}[^{CLOSE_RETURN}]*{CLOSE_RETURN}")
# Characters beside a link back from a footnote, which remain after the link is removed: "^", "[]".
REST_OF_RETURN = re.compile(r"^(?:[\^↑]\s?)+|[\[(]\s?[\])]")
MATH_SIGNS = dict(zip("".join((*MARKS[Markup.MATH], *MARKS[Markup.DISPLAY])), ("$", "$", "$$", "$$"), strict=True))
EMPHASIS = dict(zip("".join((*MARKS[Markup.STRONG], *MARKS[Markup.EM])), ("**", "**", "*", "*"), strict=True))
MARK = re.compile("([\ufdd0-\ufddf])")
# Markdown has no emphasis with a space at its inner edge, or with a sign at its inner edge and a letter outside
# (https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run).
SPACE_INSIDE = re.compile("([\ufdd0\ufdd2\ufdd4\ufdd6\ufdd8\ufdda]) | ([\ufdd1\ufdd3\ufdd5\ufdd7\ufdd9\ufddb])")
SIGN_AT_END = re.compile(r"([^\w\s\ufdd0-\ufddf]{1,9})([\ufdd1\ufdd3]+)(?=\w)")
SIGN_AT_START = re.compile(r"(?<=\w)([\ufdd0\ufdd2]+)([^\w\s\ufdd0-\ufddf]{1,9})")
EMPTY_MARKS = re.compile("\ufdd0( ?)\ufdd1|\ufdd2( ?)\ufdd3|\ufdd4( ?)\ufdd5")
MOST_NESTED = 3  # levels of marks within each other: a link, strong, em
# Characters that would be read as markup, each with the neighbours that make it markup.
SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?! )|(?<=[^ ])\*|(?<![^\W_])_(?! )|(?<=[^ ])_(?![^\W_])|\](?=[(\[:])|<(?=[A-Za-z/!?])"
    r"|\[(?=\^)|&(?=#?\w{1,32};)|~(?=~)"
)
SPECIAL_SIGN = re.compile(r"[\\`*_\]<\[&~]")
"""The first characters of all matches of SPECIAL. Most texts have none of them; this search is ten times as fast."""
BRACKET = re.compile(r"[\[\]]")
# Text that is markup at the start of a line. In a number, its dot or bracket is escaped.
START = re.compile(r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|\||~~~|([-=_])\1\1+\s*$|:?-+[:|]")
NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
NOTE_AT_START = re.compile(r"^(\[\^\w+\]):")
TICKS = re.compile("`+")
# TeX in the text of a page, which a script of the page would draw: $…$, $$…$$, \(…\), \[…\]. In the last two, its
# length is limited, because its end is searched for from each beginning.
IN_DOLLARS = r"\$\$?(?![\s$])([^$]+?)(?<![\s\\])\$\$?(?![\w$])"
SOURCE = re.compile(rf"\\\((.{{1,1000}}?)\\\)|\\\[(.{{1,1000}}?)\\\]|{IN_DOLLARS}")
DOLLARS = re.compile(IN_DOLLARS)
WORD = re.compile(r"[^\W\d_]{2}")
DOLLAR = re.compile(r"(?<!\\)\$")
TEX_SIGN = re.compile(r"[\\^_{}=<>+]")
# Characters that would end an address, or have a meaning in it.
IN_ADDRESS = {ord(sign): f"%{ord(sign):02X}" for sign in ' ()<>[]\\"`|{}^*'}


def without_marks(text: str) -> str:
    """A text without marks. The pattern is faster than `str.translate` if the text is not ASCII."""
    return MARK.sub("", text)


def raw(pieces: list[str]) -> str:
    """The pieces of a line as one text with marks, spaced as `crawler.page.blocks.joined` spaces the text alone."""
    # Spaces are added between words, and removed at line ends within Chinese; marks do not count.
    spaced = []
    before = ""
    for piece in pieces:
        if MARK.match(piece):
            spaced.append(piece)
            continue
        first = piece[:1]
        if (first.isupper() or first.isdigit()) and begins_a_word(first, before[-2:]):
            spaced.append(" ")
        spaced.append(piece)
        before = piece
    text = "".join(spaced)
    if "\n" in text and "\n" in without_marks(text).strip():
        text = "".join(LINE_END_BETWEEN_WIDE.sub("", piece) for piece in spaced)
    if not MARK.search(text):
        return fold_space(text)

    # Spaces and signs at the inner edges of marks are moved out of them, one level at a time; empty marks are removed.
    for _ in range(MOST_NESTED):
        if not MARK.search(text):
            break
        text = SPACE_INSIDE.sub(lambda mark: f" {mark[1]}" if mark[1] else f"{mark[2]} ", fold_space(text))
        text = EMPTY_MARKS.sub(lambda empty: " " if " " in empty[0] else "", text)
    text = SIGN_AT_START.sub(r"\2\1", SIGN_AT_END.sub(r"\2\1", text))
    return fold_space(text)


def without_returns(text: str) -> str:
    """A line with its marks, without the links back from footnotes."""
    if OPEN_RETURN not in text:
        return text
    return REST_OF_RETURN.sub("", fold_space(EMPTY_MARKS.sub("", RETURN.sub("", text))))


def rendered(text: str, addresses: Iterator[str], labels: Iterator[str], strong: bool = True) -> str:
    """A line with its marks as Markdown.

    Each link takes the next address from `addresses`; with an empty address it becomes plain text. Each reference to a
    footnote takes the next label from `labels`. Without `strong`, as in a heading, strong text is not marked.
    """
    tokens = MARK.split(text)
    has_math = not MATH_SIGNS.keys().isdisjoint(tokens)
    out: list[str] = []
    address = ""
    link_start = 0  # the index in `out` of the open link
    inside: Markup | None = None  # CODE or MATH, or NOTE within a reference

    # Tokens at even indexes are texts, the others are marks.
    for at, token in enumerate(tokens):
        if inside is Markup.NOTE:
            inside = None if token == CLOSE_NOTE else inside  # the text of the reference is replaced by the label
        elif token == OPEN_NOTE:
            inside = Markup.NOTE
            out.append(f"[^{next(labels, '')}]")
        elif at % 2 == 0:
            text = _unmarked(token, inside, has_math, in_link=bool(address), more=at + 1 < len(tokens), first=at == 0)
            out.append(text)
        elif token in AFTER_VERBATIM_MARK:
            inside = AFTER_VERBATIM_MARK[token]
            out.append(MATH_SIGNS.get(token, ""))
        elif token == OPEN_LINK:
            address = next(addresses, "")
            link_start = len(out)
            out.append("[" if address else "")
        elif token == CLOSE_LINK:
            out.append(f"]({address})" if address else "")
            if not "".join(out[link_start + 1 : -1]).strip():  # a link without text
                del out[link_start:]
            address = ""
        elif not inside and (strong or token not in MARKS[Markup.STRONG]):
            out.append(EMPHASIS[token])
    return NOTE_AT_START.sub(r"\1\\:", "".join(out).strip())


def _unmarked(text: str, inside: Markup | None, has_math: bool, *, in_link: bool, more: bool, first: bool) -> str:
    """The Markdown of a text between two marks: code and formulas as they are, other text `escaped`. TeX between
    dollars or backslashed brackets in the text is a formula, too. `inside` is CODE or MATH, or None for other text.
    """
    if inside is Markup.MATH:
        return tamed(text)
    if inside is Markup.CODE and text.strip():
        return code_span(text)
    if "$" not in text and "\\" not in text:
        return escaped(text, in_link, more, first)
    parts = []
    end = 0
    pattern = SOURCE if "\\)" in text or "\\]" in text else DOLLARS
    for formula in pattern.finditer(text):
        source = next(filter(None, formula.groups()))
        # Text between dollars may lie between two prices, so it must have signs of TeX. Text between backslashed
        # brackets may instead have no word.
        if not _is_tex(source) and (formula[0][0] == "$" or WORD.search(source)):
            continue
        parts.append(
            _with_escaped_dollars(escaped(text[end : formula.start()], in_link, True, first and not end), True)
        )
        sign = "$$" if formula[0].startswith(("\\[", "$$")) else "$"
        parts.append(f"{sign}{tamed(source.strip())}{sign}")
        end = formula.end()
    rest = escaped(text[end:], in_link, more, first and not end)
    return "".join([*parts, _with_escaped_dollars(rest, has_math or bool(end))])


def tamed(tex: str) -> str:
    r"""TeX in which nothing ends the formula, and nothing is a tag or a link for programs that do not know formulas.

    >>> tamed("a$ <b> [c](d)")
    'a\\$ \\lt b\\gt  [c] (d)'
    """
    tex = DOLLAR.sub(r"\\$", tex).replace("<", r"\lt ").replace(">", r"\gt ")
    return tex.replace("](", "] (").replace("`", "'")


def _is_tex(text: str) -> bool:
    """Whether the text between two dollars is a formula: it has signs of TeX, or is one letter."""
    return len(text) == 1 or TEX_SIGN.search(text) is not None


def _with_escaped_dollars(text: str, has_math: bool) -> str:
    """Text in which no dollar begins a formula. Its dollars are escaped if the line has formulas (`has_math`), or if
    the text between two of them would be read as one.
    """
    if has_math or SOURCE.search(text):
        return text.replace("$", r"\$")
    return text


def escaped(text: str, in_link: bool = False, more: bool = False, first: bool = True) -> str:
    r"""Text in which nothing is markup. `in_link` says that the text is in a link, `more` that markup follows, and
    `first` that the text begins a line.

    >>> escaped("*a* 2 * 3 [b](c) snake_case <b> a < b"), escaped("1986. Bees"), escaped("- a #b")
    ('\\*a\\* 2 * 3 [b\\](c) snake_case \\<b> a < b', '1986\\. Bees', '\\- a #b')
    """
    if SPECIAL_SIGN.search(text):
        text = SPECIAL.sub(r"\\\g<0>", text)
    if more and text[-1:] == "\\":  # it would escape the markup that follows
        text = f"{text}\\"
    if in_link:
        text = BRACKET.sub(r"\\\g<0>", text.replace("\\]", "]"))
    elif more and text[-1:] in ("]", "!"):
        text = f"{text[:-1]}\\{text[-1]}"
    if first and START.match(text):
        return f"\\{text}"
    if first and NUMBER.match(text):
        return NUMBER.sub(r"\1\\\2", text, count=1)
    return text


def code_span(text: str) -> str:
    """Text as code within a line.

    >>> code_span("a`b"), code_span("`a")
    ('``a`b``', '`` `a ``')
    """
    ticks = "`" * (max(map(len, TICKS.findall(text)), default=0) + 1)
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def target(url: str) -> str:
    """An address as it may be written in the parentheses of a link."""
    return url.translate(IN_ADDRESS)
