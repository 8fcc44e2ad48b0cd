"""The languages of people: gettext's catalogues in crawler/locale, one beside English for each language.

`crawler/locale/LANGUAGE/LC_MESSAGES/winnow.po` is what translators write; the `.mo` beside it is made of it and is what
is read here; the README has the commands.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from crawler.translation.message import ENGLISH, Message, plural, translated

LOCALE = Path(__file__).parent.parent / "locale"
SOURCE = "en"
"""The language that the sentences are written in."""
TAG = re.compile(r"[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*")
UNTRANSLATED = frozenset(("C", "POSIX", SOURCE))


@dataclass(frozen=True)
class Catalogue:
    """What the sentences are in one language."""

    language: str
    translations: NullTranslations = ENGLISH

    def gettext(self, text: str | Message, /, **values: object) -> str:
        """A message, or a sentence with its values, in this language; in English where it has none."""
        return (text if isinstance(text, Message) else Message(text, values)).translated(self.translations)

    def ngettext(self, one: str, many: str, n: int, /, **values: object) -> str:
        """The sentence for one thing, or for `{n}` of them."""
        return self.gettext(plural(one, many, n, **values))


@cache
def catalogue_of(language: str) -> Catalogue:
    """The catalogue of one of `languages`."""
    if language == SOURCE:
        return Catalogue(SOURCE)
    with (LOCALE / language / "LC_MESSAGES" / "winnow.mo").open("rb") as file:
        return Catalogue(language, GNUTranslations(file))


@cache
def languages() -> tuple[str, ...]:
    """English, and the languages that have a catalogue."""
    return (SOURCE, *sorted(path.parts[-3] for path in LOCALE.glob("*/LC_MESSAGES/winnow.mo")))


def chosen(wanted: Iterable[str]) -> str:
    """The first of the wanted languages that there is, else English.

    >>> chosen(["de_DE.UTF-8", "zh-Hans-CN", "en"]), chosen(["en_GB", "zh"]), chosen([])
    ('zh', 'en', 'en')
    """
    for one in wanted:
        tag = TAG.match(one.strip())
        full = tag[0].replace("-", "_") if tag else ""
        for name in (full, full.partition("_")[0].lower()):
            if name in UNTRANSLATED:
                return SOURCE
            if name in languages():
                return name
    return SOURCE


def accepted(header: str) -> str:
    """The language of a browser that sends this Accept-Language; one language alone will do, too.

    >>> accepted("de, zh-CN;q=0.8, en;q=0.5"), accepted("zh;q=0.2,en-US"), accepted("zh;q=0,en;q=0.1")
    ('zh', 'en', 'en')
    """
    weighted = []
    for part in header.split(","):
        name, _, weight = part.partition(";")
        try:
            quality = float(weight.strip().lower().removeprefix("q=") or 1)
        except ValueError:
            quality = 0.0
        if quality > 0:
            weighted.append((-quality, name.strip()))
    return chosen(name for _, name in sorted(weighted, key=lambda one: one[0]))


def here() -> Catalogue:
    """The catalogue of the command line: LC_ALL, LC_MESSAGES or LANG, and unless that is C, LANGUAGE before them."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    if locale.partition(".")[0] in UNTRANSLATED:
        return catalogue_of(SOURCE)
    return catalogue_of(chosen([*os.environ.get("LANGUAGE", "").split(":"), locale]))


def localized(value: object) -> str:
    """A message in the language of the command line; a list of them joined, and text as it is."""
    return str(translated(value, here().translations))
