"""Sentences with values, and their translation by the gettext catalogues in crawler/locale.

Sentences are written as `Message`, in English, and are translated only where they are shown: by `localized` on the
command line, and by a `Catalogue` in the language of a browser.

Translators write `crawler/locale/LANGUAGE/LC_MESSAGES/winnow.po`. This module reads the `.mo` beside it, which is
compiled from it by the commands in CONTRIBUTING.md.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

LOCALE = Path(__file__).parent.parent / "locale"
SOURCE = "en"
"""The language of the sentences in the code."""
TAG = re.compile(r"[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*")
"""A language tag, such as zh-Hans-CN or de_DE."""
UNTRANSLATED = frozenset(("C", "POSIX", SOURCE))
"""The locales and languages in which sentences are shown as they are in the code."""
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""A control character other than tab and line feed, or half of a surrogate pair."""
DAY = 86_400  # seconds
MOST_SECONDS = 1e12  # longer time spans are shown as 1e12 seconds
ENGLISH = NullTranslations()
"""The catalogue that returns each sentence unchanged."""


def N_(sentence: str) -> str:  # noqa: N802 - gettext's own name
    """Marks a sentence for the catalogues; the sentence is translated where it is used."""
    return sentence


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence with placeholders: it is translated first, then the values are filled in.

    >>> str(Message("redirected: {why}", {"why": Message("outside the scope")}))
    'redirected: outside the scope'
    >>> str(Message("there are {names}", {"names": ["bees", Message("wasps")]}))
    'there are bees, wasps'
    """

    sentence: str
    values: Mapping[str, object] = field(default_factory=dict)
    """The values of the placeholders. A message among them is translated, too; a list is joined."""
    plural: str = ""
    """The English sentence for a value `n` other than 1; empty if `sentence` fits all values."""

    def __str__(self) -> str:
        return self.translated(ENGLISH)

    def translated(self, translations: NullTranslations) -> str:
        """The sentence in the language of a catalogue, with its values."""
        values = {name: translated(value, translations) for name, value in self.values.items()}
        sentence = ""
        if self.plural:
            n = int(str(self.values["n"]))
            sentence = translations.ngettext(self.sentence, self.plural, n)
            values["n"] = f"{n:,}"
        elif self.sentence:  # for an empty text, gettext returns the head of the catalogue
            sentence = translations.gettext(self.sentence)
        if values:
            return sentence.format(**values)
        return sentence


def translated(value: object, translations: NullTranslations) -> object:
    """A value in the language of a catalogue: messages are translated, lists joined, other values unchanged."""
    if isinstance(value, Message):
        return value.translated(translations)
    if isinstance(value, list | tuple):
        return translations.gettext(", ").join(str(translated(item, translations)) for item in value)
    return value


def plural(singular: str, many: str, n: int, /, **values: object) -> Message:
    """The message with the sentence `singular` if `n` is 1, otherwise with `many`.

    >>> [str(plural("{n} page", "{n} pages", count)) for count in (1, 2_000, 0)]
    ['1 page', '2,000 pages', '0 pages']
    """
    return Message(singular, {**values, "n": n}, many)


def counted(count: int, singular: str, many: str = "") -> str:
    """A number of things, in English.

    >>> counted(1, "page"), counted(2_000, "page"), counted(0, "address", "addresses")
    ('1 page', '2,000 pages', '0 addresses')
    """
    if count == 1:
        return f"1 {singular}"
    return f"{count:,} {many or singular + 's'}"


def first(things: Sequence[object], most: int) -> object:
    """The first `most` things and how many others there are, to be used as a value of a message.

    >>> str(Message("{names}", {"names": first(["bees", "wasps", "ants"], 2)}))
    'bees, wasps and 1 more'
    """
    if len(things) <= most:
        return list(things)
    return Message("{things} and {n} more", {"things": list(things[:most]), "n": f"{len(things) - most:,}"})


def span(seconds: float) -> Message:
    """A time span in the largest unit of which it has at least two.

    >>> [str(span(seconds)) for seconds in (-1, 119.9, 120, 7_200, 172_800, 1e12, float("nan"))]
    ['0 s', '119 s', '2 min', '2 h', '2 days', '11,574,074 days', '0 s']
    """
    whole = int(min(max(0.0, seconds), MOST_SECONDS))  # max in this order also turns NaN into 0
    for sentence, length in ((N_("{n} days"), DAY), (N_("{n} h"), 3_600), (N_("{n} min"), 60)):
        if whole >= 2 * length:
            return Message(sentence, {"n": f"{whole // length:,}"})
    return Message("{n} s", {"n": f"{whole:,}"})


@dataclass(frozen=True)
class Catalogue:
    """The translations into one language."""

    language: str
    translations: NullTranslations = ENGLISH

    def gettext(self, text: str | Message, /, **values: object) -> str:
        """A message, or a sentence with its values, in this language; in English if there is no translation."""
        if isinstance(text, str):
            text = Message(text, values)
        return text.translated(self.translations)

    def ngettext(self, singular: str, many: str, n: int, /, **values: object) -> str:
        """The sentence `singular` if `n` is 1, otherwise `many`, in this language."""
        return self.gettext(plural(singular, many, n, **values))


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


def available_language(preferred: Iterable[str]) -> str:
    """The first of the preferred languages that is available, or English if none is.

    >>> available_language(["de_DE.UTF-8", "zh-Hans-CN", "en"]), available_language(["en_GB", "zh"])
    ('zh', 'en')
    >>> available_language([])
    'en'
    """
    for language in preferred:
        tag = TAG.match(language.strip())
        if tag is None:
            continue
        full_name = tag[0].replace("-", "_")
        primary_language = full_name.partition("_")[0].lower()
        # As in gettext, e.g. a catalogue for "zh_CN" or else for "zh".
        for name in (full_name, primary_language):
            if name in UNTRANSLATED:
                return SOURCE
            if name in languages():
                return name
    return SOURCE


def accepted_language(header: str) -> str:
    """The available language that best matches an Accept-Language header, which may also be the bare name of a language
    (https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4).

    >>> accepted_language("de, zh-CN;q=0.8, en;q=0.5"), accepted_language("zh;q=0.2,en-US"), accepted_language("zh;q=0")
    ('zh', 'en', 'en')
    """
    weighted_names = []
    for part in header.split(","):
        name, _, parameter = part.partition(";")
        try:
            weight = float(parameter.strip().lower().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        if weight > 0:
            weighted_names.append((weight, name.strip()))
    by_weight = sorted(weighted_names, key=lambda pair: pair[0], reverse=True)
    return available_language(name for _, name in by_weight)


def user_catalogue() -> Catalogue:
    """The catalogue for the command line. As in gettext, the first of LC_ALL, LC_MESSAGES and LANG that is set decides.
    The languages in LANGUAGE come before it, unless it is C, POSIX or en, which turns translation off. With en_GB, as
    with any other locale, they come first.
    """
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    if locale.partition(".")[0] in UNTRANSLATED:
        return catalogue_of(SOURCE)
    return catalogue_of(available_language([*os.environ.get("LANGUAGE", "").split(":"), locale]))


def localized(value: object) -> str:
    """A message in the language of the command line; a list of them joined; plain text unchanged."""
    return str(translated(value, user_catalogue().translations))
