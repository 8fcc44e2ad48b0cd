"""Masks personal data in a text: `a@example.org` becomes `[EMAIL]`.

The forms are those of mainland China, the US and the EU, with IBANs and telephone numbers with `+` of all countries. A
number that has check digits is masked only if they are right. Telephone numbers without a country code are recognized
only in the forms of China and the US: in other forms, dates and prices look the same. IP addresses that are not global,
such as those of private networks, identify nobody and stay.

Forms are searched in the plain form of the text, which has one character for each character of the text: ASCII digits
for the digits of all scripts, and ASCII letters and signs for full-width ones. A number that is part of a longer
number, an identifier or a URL stays.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from crawler.contrib.corpus.quality import check_digits as check


@dataclass(frozen=True)
class MaskedCounts:
    """The counts that an export with masked personal data adds to the field `quality`, by kind (masks.py)."""

    masked_email: int
    """E-mail addresses that an export masked, in title, text and comments."""
    masked_phone: int
    """Telephone numbers that an export masked."""
    masked_ip: int
    """IP addresses that an export masked."""
    masked_id: int
    """Identity numbers of persons that an export masked."""
    masked_card: int
    """Numbers of payment cards and bank accounts that an export masked."""


@dataclass(frozen=True)
class Form:
    """A form of personal data in a plain text."""

    pattern: re.Pattern[str]
    is_right: Callable[[str], bool] = lambda data: True
    """Checks a match, such as by its check digits."""
    must_stand_alone: bool = True
    """Whether a match at the end of an identifier or of a longer number is ignored."""


class PlainForms(dict[int, int]):
    """The plain forms of characters by code point, for `str.translate`; each is computed once."""

    def __missing__(self, code: int) -> int:
        self[code] = ord(_plain_character(chr(code)))
        return self[code]


PLAIN_SIGNS = "@.+-()/_%'"
"""Signs that are recognized in every width. A full-width colon or comma ends a form, as in Chinese text."""
HYPHENS = "\u2010\u2011\u2012\u2013\u2212"
"""Hyphens, short dashes and the minus sign."""


def _plain_character(character: str) -> str:
    """The ASCII equivalent of a character, or the character itself.

    >>> "".join(map(_plain_character, "\uff11\u0661\uff21\uff20\u3000\u2013\uff1a\u00b2")) == "11A@ -\uff1a\u00b2"
    True
    """
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if unicodedata.category(character) == "Zs":
        return " "
    if character in HYPHENS:
        return "-"
    is_of_other_width = unicodedata.decomposition(character).startswith(("<wide>", "<small>", "<font>"))
    compatible = unicodedata.normalize("NFKC", character) if is_of_other_width else ""
    if len(compatible) == 1 and compatible.isascii() and (compatible.isalpha() or compatible in PLAIN_SIGNS):
        return compatible
    return character


_PLAIN_FORMS = PlainForms()


def plain(text: str) -> str:
    """The plain form of a text, which has the same length."""
    if text.isascii():
        return text
    return text.translate(_PLAIN_FORMS)


PERSONAL_LABELS = (
    *("tel", "telephone", "telefon", "phone", "mobile", "mobil", "mob", "cell", "handy", "fax", "sms", "whatsapp"),
    *("wechat", "idcard", "ssn", "dni", "nie", "pesel", "iban", "card"),
)
"""Labels of personal numbers. A number in a parameter of a URL with such a name is masked, too: `?tel=13800138000`."""
LABELS = (*PERSONAL_LABELS, "call", "contact", "id", "ip", "no", "nr", "num", "number")
"""Labels that may be directly before a number in a text. In a URL, the additional ones may identify a page (`?id=`), so
that their values stay.
"""
READ_BEFORE = 16
"""The most characters before a number that are read: more than the longest label and a sign."""
_INCOMPLETE = re.compile(r"(?:[0-9A-Za-z_@+]|[0-9A-Za-z_]-|[0-9_]\.|[0-9._-][A-Za-z]+\.)\Z")
"""The end of a text that makes the following number part of something else: `SKU`, `0.`, `com.example.`."""
_LABELLED = re.compile(rf"(?<![0-9A-Za-z_])(?:{'|'.join(LABELS)})[._-]?\Z", re.IGNORECASE | re.ASCII)
"""The end of a text that is a label, with or without a sign after it."""


def stands_alone(text: str, begin: int) -> bool:
    """Whether a number that begins here is neither the end of a longer number nor of an identifier.

    >>> [stands_alone(f"{before}13800138000", len(before)) for before in ("Tel.", "Tel", "sku", "0.", "2026-", "end.")]
    [True, True, False, False, False, True]
    """
    if text[begin] == "(":  # the area code of a telephone number
        return True
    first = max(0, begin - READ_BEFORE)
    return _INCOMPLETE.search(text, first, begin) is None or _LABELLED.search(text, first, begin) is not None


MASKED_IN_URLS = frozenset(("email", "ip"))
"""The kinds that are masked even inside URLs."""
# With or without a scheme. The match ends before a parameter with a personal label, whose value is masked.
_URL = re.compile(
    r"(?:https?://|ftp://|(?<![\w.@-])(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?::\d{1,5})?/)"
    rf"(?:(?![?&](?i:{'|'.join(PERSONAL_LABELS)})=)[^\s,;<>\"'()\[\]\u0080-\U0010ffff])+",
    re.ASCII,
)
COVER = "\ufffc"
"""Replaces, in the plain form, each character of URLs and of data already masked, so that no form matches them."""
_END = r"(?![0-9A-Za-z_@]|\.[0-9])"
"""The end of a number that is not followed by more of a number or an identifier."""
_WITHOUT_SEPARATORS = str.maketrans("", "", " -.()/\u2014")


def _digits(data: str) -> str:
    """The digits and letters of a number, without the separators between them."""
    return data.translate(_WITHOUT_SEPARATORS)


def _number(pattern: str, is_right: Callable[[str], bool] = lambda data: True) -> Form:
    """A form of numbers, which are not part of a longer number or an identifier."""
    return Form(re.compile(rf"(?<![0-9])(?:{pattern}){_END}", re.ASCII), is_right)


def _address(pattern: str, is_right: Callable[[str], bool]) -> Form:
    """A form of addresses, whose pattern itself tells where they begin and end."""
    return Form(re.compile(pattern, re.ASCII), is_right, must_stand_alone=False)


def _is_mail_address(address: str) -> bool:
    """Whether an address is not the file name of an image for high-resolution screens, such as `logo@2x.png`."""
    _, _, extension = address.rpartition(".")
    return extension.lower() not in IMAGES


def _is_global(address: str) -> bool:
    try:
        return ip_address(address).is_global
    except ValueError:
        return False


def _has_phone_length(number: str) -> bool:
    """Whether an international telephone number has 9 to 15 digits; ITU-T E.164 allows no more."""
    return 9 <= sum(map(str.isdigit, number)) <= 15


IMAGES = frozenset(("png", "jpg", "jpeg", "gif", "webp", "svg"))
"""The file name extensions of images."""
_LETTER = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_EU = "3[0-469]|35[0-9]|37[0-2]|385|386|4[013-9]|42[01]"
"""The country codes of the EU and its neighbours, which may follow 00 instead of +."""
_COUNTRY = (
    r"1|7|2(?:[07]|[1-689]\d)|3(?:[0-469]|[578]\d)|4(?:[013-9]|2\d)|5(?:[1-8]|[09]\d)|6(?:[0-6]|[7-9]\d)"
    r"|8(?:[1246]|[058]\d)|9(?:[0-58]|[679]\d)"
)
"""The country codes of ITU-T E.164."""
_IBAN = "|".join(
    rf"(?:{'|'.join(countries)})\d\d(?:[ -]?[0-9A-Z]){{{length - 4}}}"
    for length, countries in check.IBAN_COUNTRIES.items()
)
FORMS = {
    "email": (
        _address(
            rf"(?<![\w{_LETTER}])[\w{_LETTER}][\w{_LETTER}.%+'-]{{0,63}}@(?:[{_LETTER}0-9-]{{1,63}}\.){{1,8}}"
            rf"(?:xn--[A-Za-z0-9-]{{1,59}}|[A-Za-z]{{2,24}})(?!\w)",
            _is_mail_address,
        ),
    ),
    "ip": (
        _number(rf"{_OCTET}(?:\.{_OCTET}){{3}}", _is_global),  # IPv4
        _address(  # IPv6, also after a label such as `IP:`
            r"(?:(?<![\w:.])|(?<=[G-Zg-z]:)|(?<=[Vv]6:))(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])", _is_global
        ),
    ),
    "id": (
        _number(r"[1-6]\d{5}[ -]?\d{8}[ -]?\d{3}[\dXx]|[1-6]\d{14}", lambda data: check.is_china_id(_digits(data))),
        _number(r"\d{3}-\d{2}-\d{4}(?!-\d)", check.is_us_id),
        _number(r"\d{8}[A-Z]|[XYZ]\d{7}[A-Z]", check.is_spain_id),
        _number(r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", check.is_italy_id),
        _number(r"[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}", lambda data: check.is_france_id(_digits(data))),
        _number(r"\d{2}[.]\d{2}[.]\d{2}-\d{3}[.]\d{2}", lambda data: check.is_belgium_id(_digits(data))),
        _number(r"\d{6}[-+A]\d{3}[0-9A-Y]", check.is_finland_id),
        _number(r"\d{6}-\d{4}", lambda data: check.is_sweden_id(_digits(data))),
        _number(r"\d{11}", check.is_poland_id),
    ),
    "card": (
        # Cards with digits in groups of four, American Express, and IBAN.
        _number(
            r"\d{4}(?P<gap>[ -]?)\d{4}(?P=gap)\d{4}(?P=gap)\d{1,4}(?:(?P=gap)\d{1,3})?",
            lambda data: check.is_card(_digits(data)),
        ),
        _number(r"3[47]\d{2}(?P<gap>[ -]?)\d{6}(?P=gap)\d{5}", lambda data: check.is_card(_digits(data))),
        # The lookahead makes the search ten times as fast.
        _number(rf"(?=[A-Za-z]{{2}}\d\d)(?i:{_IBAN})", lambda data: check.is_iban(_digits(data))),
    ),
    "phone": (
        # With a country code; mobile numbers and landlines of China; numbers of the US.
        _number(
            rf"(?:\+(?:{_COUNTRY})|(?<!\d[ -])00(?:86|1|{_EU}))(?:(?:[ .()\u2014-]{{0,2}}|/(?!0))\d){{7,13}}",
            _has_phone_length,
        ),
        _number(r"(?:86[ -]?)?1[3-9]\d(?P<gap>[ .\u2014-]?)\d{4}(?P=gap)\d{4}"),
        _number(r"(?:\(0\d{2,3}\)|0\d{2,3}[\u2014-]|0(?:10|2\d|[3-9]\d{2}) ) ?[2-8]\d{2,3}[ -]?\d{4}"),
        _number(r"(?:1[-. ])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])[2-9]\d{2}[-. ]\d{4}(?!-\d)"),
    ),
}
"""The forms of each kind of personal data; a number that fits several kinds is masked as the earliest."""


def masked(text: str, kinds: Iterable[str]) -> tuple[str, dict[str, int]]:
    """The text with personal data of these kinds masked, and how often each kind was masked.

    >>> masked("Write to a@example.org or call 13800138000.", ["email", "phone"])
    ('Write to [EMAIL] or call [PHONE].', {'email': 1, 'phone': 1})
    """
    chosen_kinds = frozenset(kinds)
    counts = {}
    masks: list[tuple[int, int, str]] = []
    searched = plain(text)
    for kind, forms in FORMS.items():
        if kind not in chosen_kinds:
            continue
        if kind not in MASKED_IN_URLS:
            searched = _URL.sub(lambda url: COVER * len(url[0]), searched)

        # Cover what a form matches, so that no later form matches it again.
        kind_spans = []
        for form in forms:
            form_spans = [*_spans(searched, form)]
            kind_spans += form_spans
            searched = _replaced(searched, [(begin, end, COVER * (end - begin)) for begin, end in form_spans])
        counts[kind] = len(kind_spans)
        masks += [(begin, end, f"[{kind.upper()}]") for begin, end in kind_spans]
    return _replaced(text, sorted(masks)), counts


def _spans(text: str, form: Form) -> Iterator[tuple[int, int]]:
    """The beginnings and ends of personal data of a form, in order."""
    at = 0
    while (match := form.pattern.search(text, at)) is not None:
        begin, end = match.span()
        if form.is_right(match[0]) and (not form.must_stand_alone or stands_alone(text, begin)):
            yield begin, end
            at = end
        else:
            at = begin + 1  # a match may begin within this one, such as a card number after a year


def _replaced(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """The text with replacements for these spans, which are in order."""
    parts = []
    at = 0
    for begin, end, replacement in spans:
        parts += [text[at:begin], replacement]
        at = end
    return "".join((*parts, text[at:]))
