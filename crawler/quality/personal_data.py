"""Masks personal data in a text: `a@example.org` becomes `[EMAIL]`.

The forms are those of mainland China, the US and the EU. What has check digits is masked only where they are right.
Telephone numbers without a country's prefix are known in the forms of China and the US alone: elsewhere dates and
prices look the same. Addresses of networks that are private, or of this machine, name nobody and stay.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

from crawler.quality import identifiers as check


@dataclass(frozen=True)
class Masked:
    masked_email: int
    """E-mail addresses that an export masked, in title, text and comments."""
    masked_phone: int
    """Telephone numbers that it masked."""
    masked_ip: int
    """Addresses of machines that it masked."""
    masked_id: int
    """Numbers of persons that it masked."""
    masked_card: int
    """Numbers of payment cards and of bank accounts that it masked."""


class _Form(NamedTuple):
    pattern: re.Pattern[str]
    is_right: Callable[[str], bool] = lambda found: True


# No letters or digits of Latin script may stand beside; Chinese characters may.
_ALONE, _ENDS = r"(?<![0-9A-Za-z_.@+-])", r"(?![0-9A-Za-z_@])"
_SEPARATORS = str.maketrans("", "", " -.()/\u00a0")


def _digits(found: str) -> str:
    return found.translate(_SEPARATORS)


def _form(pattern: str, is_right: Callable[[str], bool] = lambda found: True) -> _Form:
    return _Form(re.compile(f"{_ALONE}(?:{pattern}){_ENDS}"), is_right)


def _ascii(pattern: str, is_right: Callable[[str], bool] = lambda found: True) -> _Form:
    return _Form(re.compile(pattern, re.ASCII), is_right)


def _is_global(found: str) -> bool:
    try:
        return ip_address(found).is_global
    except ValueError:
        return False


def _is_of_length(found: str) -> bool:
    return 9 <= sum(map(str.isdigit, found)) <= 15


_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_EU = "3[0-469]|35[0-9]|37[0-2]|385|386|4[013-9]|42[01]"
FORMS = {
    "email": (_ascii(r"(?<![\w.%+-])[A-Za-z0-9][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?!\w)"),),
    "ip": (
        _form(rf"{_OCTET}(?:\.{_OCTET}){{3}}(?!\.\d)", _is_global),
        _ascii(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])", _is_global),
    ),
    "id": (
        _form(r"[1-6]\d{16}[\dXx]|[1-6]\d{14}", check.is_china_id),
        _form(r"\d{3}-\d{2}-\d{4}(?!-\d)", check.is_us_id),
        _form(r"\d{8}[A-Z]|[XYZ]\d{7}[A-Z]", check.is_spain_id),
        _form(r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", check.is_italy_id),
        _form(r"[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}", lambda found: check.is_france_id(_digits(found))),
        _form(r"\d{2}[.]\d{2}[.]\d{2}-\d{3}[.]\d{2}", lambda found: check.is_belgium_id(_digits(found))),
        _form(r"\d{6}[-+A]\d{3}[0-9A-Y]", check.is_finland_id),
        _form(r"\d{6}-\d{4}", lambda found: check.is_sweden_id(_digits(found))),
        _form(r"\d{11}", check.is_poland_id),
    ),
    "card": (
        _form(r"\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?", lambda found: check.is_card(_digits(found))),
        _form(r"3[47]\d{2}([ -]?)\d{6}\1\d{5}", lambda found: check.is_card(_digits(found))),
        _form(r"[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,3})?", lambda found: check.is_iban(_digits(found))),
    ),
    "phone": (
        _ascii(rf"(?<![\w+.])(?:\+|00)(?:86|1|{_EU})(?:[ ./()-]{{0,2}}\d){{7,13}}(?![\w@])", _is_of_length),
        _form(r"1[3-9]\d([ -]?)\d{4}\1\d{4}"),
        _form(r"(?:\(0\d{2,3}\)|0\d{2,3}-)[ ]?[2-8]\d{6,7}"),
        _form(r"(?:1[-. ])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])[2-9]\d{2}[-. ]\d{4}(?!-\d)"),
    ),
}
"""The forms of each kind of personal data; an earlier kind takes a number that a later one has, too."""


def masked(text: str, kinds: Iterable[str]) -> tuple[str, dict[str, int]]:
    """The text without personal data of these kinds, and how many of each were masked.

    >>> masked("Write to a@example.org or call 13800138000.", ["email", "phone"])
    ('Write to [EMAIL] or call [PHONE].', {'email': 1, 'phone': 1})
    """
    counts = {}
    wanted = frozenset(kinds)
    for kind in (kind for kind in FORMS if kind in wanted):
        counts[kind] = 0
        for form in FORMS[kind]:
            text, count = _without(text, form, f"[{kind.upper()}]")
            counts[kind] += count
    return text, counts


def _without(text: str, form: _Form, mask: str) -> tuple[str, int]:
    count = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal count
        is_right = form.is_right(found[0])
        count += is_right
        return mask if is_right else found[0]

    return form.pattern.sub(replaced, text), count
