"""How numbers and what sites say are put into words for people."""

import re

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things.

    >>> counted(1, "page"), counted(2_000, "page"), counted(0, "address", "addresses")
    ('1 page', '2,000 pages', '0 addresses')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def reason_words(why: str) -> str:
    """A reason and its detail.

    >>> reason_words("not HTML/image/png")
    'not HTML: image/png'
    """
    return why.replace("/", ": ", 1)


def printable(text: str) -> str:
    """The text with control characters spelled out: a site must not write to the operator's terminal.

    >>> printable("\\x1b[2Jgone\\n")
    '\\\\x1b[2Jgone\\n'
    """
    return CONTROL.sub(lambda character: f"\\x{ord(character[0]):02x}", text)
