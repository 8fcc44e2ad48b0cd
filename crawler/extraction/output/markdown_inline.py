"""A line of Markdown: its text with what would be taken for markup escaped, its emphasis, code and links.

While a line is read its markup is one character each, out of those that are none in Unicode and therefore in no text.
So white space is folded and words are set apart as they are for plain text.
"""

import re
from collections.abc import Iterator

from crawler.page.blocks import LINE_END_BETWEEN_WIDE, begins_a_word
from crawler.page.text import fold_space

MARKS = {
    "strong": ("\ufdd0", "\ufdd1"),
    "em": ("\ufdd2", "\ufdd3"),
    "code": ("\ufdd4", "\ufdd5"),
    "link": ("\ufdd6", "\ufdd7"),
}
"""What opens and what closes each kind."""
OPEN_CODE, CLOSE_CODE = MARKS["code"]
OPEN_LINK, CLOSE_LINK = MARKS["link"]
SIGNS = dict(zip("\ufdd0\ufdd1\ufdd2\ufdd3", ("**", "**", "*", "*"), strict=True))
NO_MARKS = dict.fromkeys(range(0xFDD0, 0xFDD8))
MARK = re.compile("([\ufdd0-\ufdd7])")
# There is no emphasis with a space inside it, or with a sign at its edge and a letter beyond.
SPACE_INSIDE = re.compile("([\ufdd0\ufdd2\ufdd4\ufdd6]) | ([\ufdd1\ufdd3\ufdd5\ufdd7])")
SIGN_AT_END = re.compile(r"([^\w\s\ufdd0-\ufdd7]{1,9})([\ufdd1\ufdd3]+)(?=\w)")
SIGN_AT_START = re.compile(r"(?<=\w)([\ufdd0\ufdd2]+)([^\w\s\ufdd0-\ufdd7]{1,9})")
EMPTY = re.compile("\ufdd0( ?)\ufdd1|\ufdd2( ?)\ufdd3|\ufdd4( ?)\ufdd5")
DEEPEST = 3  # marks in each other: a link, strong, em
SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?! )|(?<=[^ ])\*|(?<![^\W_])_(?! )|(?<=[^ ])_(?![^\W_])|\](?=[(\[:])|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w{1,32};)|~(?=~)"
)
BRACKET = re.compile(r"[\[\]]")
# What has a meaning at the start of a line; of a number, its dot.
START = re.compile(r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|\||~~~|([-=_])\1\1+\s*$|:?-+[:|]")
NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
TICKS = re.compile("`+")
# Signs that end an address, or mean something in it.
IN_ADDRESS = {ord(sign): f"%{ord(sign):02X}" for sign in ' ()<>[]\\"`|{}^*'}


def raw(pieces: list[str]) -> str:
    """The pieces of a line, marks among them, as one text, with the spaces of `crawler.page.blocks.joined`."""
    apart, before = [], ""
    for piece in pieces:
        if MARK.match(piece):
            apart.append(piece)
            continue
        first = piece[:1]
        if (first.isupper() or first.isdigit()) and begins_a_word(first, before[-2:]):
            apart.append(" ")
        apart.append(piece)
        before = piece
    if "\n" in "".join(apart).translate(NO_MARKS).strip():
        apart = [LINE_END_BETWEEN_WIDE.sub("", piece) for piece in apart]
    text = "".join(apart)
    for _ in range(DEEPEST):
        if not MARK.search(text):
            break
        text = SPACE_INSIDE.sub(lambda mark: f" {mark[1]}" if mark[1] else f"{mark[2]} ", fold_space(text))
        text = EMPTY.sub(lambda empty: " " if " " in empty[0] else "", text)
    text = SIGN_AT_START.sub(r"\2\1", SIGN_AT_END.sub(r"\2\1", text))
    return fold_space(text)


def rendered(text: str, addresses: Iterator[str], strong: bool = True) -> str:
    """A line with marks in it as Markdown; each link takes its address from `addresses`, none if that is empty."""
    tokens = MARK.split(text)
    out: list[str] = []
    address, opened, in_code = "", 0, False
    for at, token in enumerate(tokens):
        if at % 2 == 0:
            more = at + 1 < len(tokens)
            out.append(code_span(token) if in_code and token.strip() else escaped(token, bool(address), more, not at))
        elif token in (OPEN_CODE, CLOSE_CODE):
            in_code = token == OPEN_CODE
        elif token == OPEN_LINK:
            address, opened = next(addresses, ""), len(out)
            out.append("[" if address else "")
        elif token == CLOSE_LINK:
            out.append(f"]({address})" if address else "")
            if not "".join(out[opened + 1 : -1]).strip():
                del out[opened:]
            address = ""
        elif not in_code and (strong or token not in MARKS["strong"]):
            out.append(SIGNS[token])
    return "".join(out).strip()


def escaped(text: str, in_link: bool = False, more: bool = False, first: bool = True) -> str:
    r"""Text in which nothing has a meaning to Markdown; `more` where markup follows, `first` at the start of a line.

    >>> escaped("*a* 2 * 3 [b](c) snake_case <b> a < b"), escaped("1986. Bees"), escaped("- a #b")
    ('\\*a\\* 2 * 3 [b\\](c) snake_case \\<b> a < b', '1986\\. Bees', '\\- a #b')
    """
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
        return NUMBER.sub(r"\1\\\2", text, count=1) if NUMBER.match(text) else text
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
