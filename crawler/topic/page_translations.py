"""Finds translations of pages, and remembers the relevance of each.

Two pages in different languages are translations of each other if

- they are on one site, and the head of one names the other by `hreflang`, or a sitemap of the site does;
- each names the other in its head, or by a link that has `hreflang` or whose text is the name of a language; or
- their addresses differ only by a language: /zh/bees/ and /bees/, as in P. Resnik and N. A. Smith, "The Web as a
  Parallel Corpus", Computational Linguistics 2003.

A page is identified by a hash of its address without the language, so that translations of the third kind have the same
hash. Memory is bounded: the oldest entries are forgotten.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from hashlib import blake2b
from typing import NamedTuple

from crawler.metadata.language import normalise
from crawler.page.page import Page
from crawler.urls.address import address_of
from crawler.urls.lru_dict import LruDict
from crawler.urls.parsing import absolute

MOST_PAGES = 10_000
"""For how many pages the relevance is remembered, which takes 4 MB."""
MOST_NAMED = 5_000
"""For how many pages the translations that they name are remembered."""
MOST_NAMES = 20
"""How many translations one page may name."""
MOST_SHARED = 2_000
"""How many of the last pages, and how many of the last pairs of pages, are shared with other workers."""
ADDRESS_BITS = 48
"""The length of the hashes of addresses, in bits."""
LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(?:[-_](?:[a-z]{2}|hans|hant))?")
PATH_SEPARATOR = re.compile(r"([/.])")
LANGUAGE_PARAMETERS = frozenset("hl lang language locale".split())
LONGEST_NAME = 12
"""A link's text with more characters is not looked up among the names of languages."""
LANGUAGE_NAMES = frozenset(
    "english 英文 英语 英語 英文版 chinese 中文 汉语 漢語 中文版 简体 繁體 简体中文 繁體中文 繁体中文 "
    "deutsch german français french español spanish português portuguese italiano italian nederlands dutch "
    "polski polish русский russian українська ukrainian 日本語 japanese 한국어 korean العربية arabic türkçe turkish "
    "čeština czech svenska swedish suomi finnish dansk danish norsk magyar română ελληνικά greek עברית فارسی हिन्दी ไทย "
    "indonesia en zh de fr es pt it nl pl ru uk ja ko ar tr cs sv".split()
)


@dataclass(frozen=True, slots=True)
class NamedTranslations:
    """The addresses that a page names as its translations."""

    _: KW_ONLY
    declared: tuple[str, ...] = ()
    """The addresses in its head or in a sitemap."""
    linked: tuple[str, ...] = ()
    """The addresses of links in its body, which often lead to the start page of the other language instead."""


class AddressKey(NamedTuple):
    """Two hashes of an address without its language (`without_language`)."""

    page: int
    """The hash of the whole address."""
    folder: int
    """The hash of the address up to the last slash."""


NO_ADDRESS = AddressKey(page=0, folder=0)
"""The key of a page whose address is unknown."""


@dataclass
class FolderSum:
    """The sum of the relevance of the pages in a folder in one language, and their number."""

    relevance: float = 0.0
    pages: int = 0


def named_translations(page: Page) -> NamedTranslations:
    """The addresses that a page names as its translations."""
    declared = dict.fromkeys(url for url in page.alternates.values() if url != page.url)
    linked = dict.fromkeys(link.url for link in page.links if len(link.text) <= LONGEST_NAME and is_language(link.text))
    for anchor in page.link_elements:
        if anchor.element.get("hreflang") and anchor.href:
            url = absolute(page.base, anchor.href)
            if url:
                linked[url] = None
    return NamedTranslations(declared=tuple(declared)[:MOST_NAMES], linked=tuple(linked)[:MOST_NAMES])


def is_language(text: str) -> bool:
    """Whether the text of a link is the name of a language.

    >>> is_language("中文"), is_language("EN"), is_language("Home")
    (True, True, False)
    """
    return text.casefold() in LANGUAGE_NAMES


def without_language(url: str) -> str:
    """An address without its scheme and www., and without its language: the first label of the host if that names a
    language, else the first such part of the path, else the parameters for languages.

    >>> without_language("https://a.example/zh/bees/"), without_language("https://www.a.example/bees/")
    ('a.example/bees/', 'a.example/bees/')
    >>> without_language("https://zh.a.example/x"), without_language("https://a.example/x.en.html?lang=de")
    ('a.example/x', 'a.example/x.html?lang=de')
    """
    address = address_of(url)
    name = address.host.removeprefix("www.")
    path = address.path
    query = address.query
    first, _, rest = name.partition(".")
    path_without_language = _without_first_language(PATH_SEPARATOR.split(path))
    if "." in rest and _names_language(first):  # not a whole domain such as it.example
        name = rest
    elif path_without_language is not None:
        path = path_without_language
    elif query:
        pairs = query.split("&")
        query = "&".join(pair for pair in pairs if pair.partition("=")[0] not in LANGUAGE_PARAMETERS)
    if query:
        return f"{name}{path}?{query}"
    return f"{name}{path}"


def _without_first_language(parts: list[str]) -> str | None:
    """A path without the first part that names a language and the separator before it; None if no part names one.

    `parts` are the parts of the path and the separators between them.

    >>> _without_first_language(["", "/", "zh", "/", "bees"])
    '/bees'
    """
    for at in range(2, len(parts), 2):
        if _names_language(parts[at]):
            return "".join(parts[: at - 1] + parts[at + 1 :]) or "/"
    return None


def _names_language(part: str) -> bool:
    """Whether a part of an address is the code of a language."""
    folded = part.lower()
    return LANGUAGE_TAG.fullmatch(folded) is not None and normalise(folded) is not None


def address_key(url: str) -> AddressKey:
    """The key of an address."""
    text = without_language(url)
    folder, _, _ = text.rpartition("/")
    return AddressKey(page=_hash(text), folder=_hash(folder))


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=ADDRESS_BITS // 8).digest(), "big")


class Translations:
    """The relevance of pages by language, and which pages name each other as translations."""

    def __init__(self) -> None:
        self._relevance: LruDict[AddressKey, dict[str, float]] = LruDict(MOST_PAGES)
        """The relevance of pages, by address and language."""
        self._folders: dict[int, dict[str, FolderSum]] = {}
        """The relevance of the pages in a folder, by the hash of the folder and by language."""
        self._names: LruDict[int, dict[int, AddressKey]] = LruDict(MOST_NAMED)
        """The pages that each page names as its translations, by the hashes of both."""

    def record_named(self, url: str, named: NamedTranslations) -> None:
        """Record the addresses that the page at `url` names as its translations."""
        if not named.declared and not named.linked:
            return
        key = address_key(url)
        for address in named.declared:
            other = address_key(address)
            self._record_name(key, other)
            if address_of(address).site == address_of(url).site:
                self._record_name(other, key)  # on one site, it is enough that one page names the other
        for other in map(address_key, named.linked):
            self._record_name(key, other)

    def set_relevance(self, key: AddressKey, language: str, relevance: float) -> None:
        """Record the relevance of a page; it replaces the relevance recorded before."""
        by_language = self._relevance.get(key, {})
        folder = self._folders.setdefault(key.folder, {}).setdefault(language, FolderSum())
        folder.relevance += relevance - by_language.get(language, 0.0)
        folder.pages += language not in by_language
        by_language[language] = relevance
        for oldest_key, oldest in self._relevance.set(key, by_language):
            self._forget(oldest_key, oldest)

    def _forget(self, key: AddressKey, by_language: Mapping[str, float]) -> None:
        """Subtract the relevance of a page that is no longer remembered from the sums of its folder."""
        sums = self._folders[key.folder]
        for language, relevance in by_language.items():
            sums[language].relevance -= relevance
            sums[language].pages -= 1
            if not sums[language].pages:
                del sums[language]
        if not sums:
            del self._folders[key.folder]

    def relevance(self, key: AddressKey, languages: Collection[str]) -> float | None:
        """The mean relevance of a page's translations into these languages; None if none is known."""
        named = self._names.get(key.page, {}).values()
        # Translations are pages that name each other, and pages with the same key.
        others = (other for other in named if key.page in self._names.get(other.page, {}))
        values = [
            relevance
            for page in (key, *others)
            for language, relevance in self._relevance.get(page, {}).items()
            if language in languages
        ]
        return sum(values) / len(values) if values else None

    def of_folder(self, key: AddressKey, languages: Collection[str]) -> float:
        """The mean relevance of the pages in these languages in the folder of a page; 0 without pages. A further page
        with the relevance 0 is counted, so that a single page does not decide.
        """
        by_language = self._folders.get(key.folder, {})
        sums = [folder_sum for language, folder_sum in by_language.items() if language in languages]
        return sum(folder_sum.relevance for folder_sum in sums) / (1 + sum(folder_sum.pages for folder_sum in sums))

    def shared(self) -> tuple[list[tuple[AddressKey, str, float]], list[tuple[AddressKey, AddressKey]]]:
        """The last pages, with language and relevance; and the last pairs of a page and a translation that it names."""
        last_judged = list(self._relevance.items())[-MOST_SHARED:]
        last_named = list(self._names.items())[-MOST_SHARED:]
        pages = [(key, language, value) for key, by_language in last_judged for language, value in by_language.items()]
        # The folder of the naming page is not used, so it is shared as 0.
        pairs = [(AddressKey(page=page, folder=0), other) for page, named in last_named for other in named.values()]
        return pages[-MOST_SHARED:], pairs[-MOST_SHARED:]

    def take_over(
        self, pages: Iterable[tuple[AddressKey, str, float]], pairs: Iterable[tuple[AddressKey, AddressKey]]
    ) -> None:
        """Add the pages and pairs of another worker or an earlier run, except pages that are already known."""
        for key, language, relevance in pages:
            if language not in self._relevance.get(key, {}):
                self.set_relevance(key, language, relevance)
        for key, other in pairs:
            self._record_name(key, other)

    def _record_name(self, key: AddressKey, other: AddressKey) -> None:
        """Record that the page `key` names the page `other` as its translation."""
        named = self._names.get(key.page, {})
        if key.page != other.page and len(named) < MOST_NAMES:
            named[other.page] = other
        self._names.set(key.page, named)
