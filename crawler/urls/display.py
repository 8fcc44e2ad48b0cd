"""Addresses as people read them."""

import re
import unicodedata

WHERE = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\\]*", re.IGNORECASE)
"""Up to the path: what leads to a host is shown as it is."""
SIGN = re.compile(r"%[C-Fc-f][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){1,3}")
"""A sign that is not of ASCII, in UTF-8."""
SIGNS = re.compile(f"(?:{SIGN.pattern})+")
MOST_MARKS = 3
"""On one letter, as many as writing needs."""
LEFT_TO_RIGHT = ("L", "EN", "NSM")
LETTERS, MARKS = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd"), ("Mn", "Mc")
UNSEEN = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2d7f\u3164\ufe00-\ufe0f\uffa0"
    "\U0001107f\U00016fe4\U000e0100-\U000e01ef"
)
LIKE_SIGNS = (
    "\u01c0-\u01c3\u02b0-\u02ff\u0334-\u0338\u037a\u1400-\u167f\u20d0-\u20ff\u3031-\u3035\ua4f8-\ua4ff\ua78b-\ua78f"
)
BETTER_ENCODED = re.compile(f"[{UNSEEN}{LIKE_SIGNS}]")
"""Letters and marks that nobody sees, or takes for a stroke, a dot or a colon."""


def readable(url: str) -> str:
    """The address with the letters and digits that were encoded in its path and query.

    All else stays as it stands: what leads to the host, scripts that run from right to left, what nobody sees, and what
    means something itself, or looks like it.

    >>> readable("http://a.example/%E8%9C%9C%E8%9C%82?q=%2F%20"), readable("http://%E8%9C%9C.example/%EF%BC%8F")
    ('http://a.example/蜜蜂?q=%2F%20', 'http://%E8%9C%9C.example/%EF%BC%8F')
    """
    where = WHERE.match(url)
    if where is None or "@" in where[0]:
        return url
    return where[0] + SIGNS.sub(lambda run: _letters(run[0]), url[where.end() :])


def _letters(run: str) -> str:
    said, room = [], 0  # for marks, on the letter before
    for sign in SIGN.findall(run):
        letter = _decoded(sign)
        if letter and unicodedata.category(letter) in MARKS:
            letter, room = (letter, room - 1) if room else ("", 0)
        else:
            room = MOST_MARKS if letter else 0
        said.append(letter or sign)
    return "".join(said)


def _decoded(sign: str) -> str:
    """The letter or mark, or nothing where it is better left as it is."""
    try:
        letter = bytes.fromhex(sign.replace("%", "")).decode()
    except UnicodeDecodeError:
        return ""
    is_plain = unicodedata.bidirectional(letter) in LEFT_TO_RIGHT and not BETTER_ENCODED.match(letter)
    return letter if is_plain and unicodedata.category(letter) in LETTERS + MARKS else ""
