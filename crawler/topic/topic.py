"""The topic of a crawl, as given by its user: words, examples, and domains to prefer or to avoid.

A topic may be read from a file of TOML:

    words = ["bees", "honey"]                 # or, with weights: words = {bees = 2.0, honey = 1.0}
    examples = ["https://example.org/bees"]   # addresses of pages, or texts
    against = ["Spelling bees are contests."]

    [domains]
    prefer = ["example.org"]
    avoid = ["example.com"]
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn, Self

from crawler.errors import TopicError
from crawler.page.text import fold_space, terms, words
from crawler.translation.message import Message
from crawler.urls.address import address_of
from crawler.urls.parsing import absolute

SimilarWords = Mapping[str, Sequence[tuple[str, float]]]
"""For each word its similar words, each with the cosine of both vectors."""
STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been before but by can could did do does each even for from had "
    "has have he her his how i if in into is it its just like made make many may more most my new no not now of on "
    "one only or other our out over said same she should so some such than that the their them then there these they "
    "this those through to too two under up us use very was we well were what when where which while who will with "
    "would you your".split()
)
"""The most frequent words of English, which say nothing about a topic."""
PARTICLES = re.compile("[的了是在和有不我他她它这那就也都而及与或一个们等被把对于为以之其中]")
"""The Chinese particles. Chinese words are counted as pairs of characters; a pair with a particle says nothing about a
topic.
"""


@dataclass(frozen=True)
class Topic:
    """A topic as it was given."""

    words: tuple[tuple[str, float], ...] = ()
    """Keywords, case-folded, each with its weight."""
    text: str = ""
    """The words as one text: as given on the command line, or case-folded from a file."""
    examples: tuple[str, ...] = ()
    """Texts about the topic."""
    example_urls: tuple[str, ...] = ()
    """Addresses of pages about the topic."""
    against: tuple[str, ...] = ()
    """Texts that are not about the topic, although they look similar."""
    against_urls: tuple[str, ...] = ()
    """Addresses of pages that are not about the topic, although they look similar."""
    prefer: tuple[str, ...] = ()
    """Domains whose pages are more likely to be about the topic."""
    avoid: tuple[str, ...] = ()
    """Excluded domains."""

    @classmethod
    def of(cls, text: str) -> Self:
        """The topic named by some words or a sentence: the words without stop words, or all words if no others remain.

        >>> Topic.of("The honey bees").words
        (('honey', 1.0), ('bees', 1.0))
        """
        all_words = terms(text) or words(text)  # a text of words too short for terms still has words
        topic_words = [word for word in all_words if word not in STOP_WORDS] or all_words
        return cls(words=tuple(dict.fromkeys(topic_words, 1.0).items()), text=text)

    @property
    def languages(self) -> frozenset[str]:
        """The languages in which translations of pages are requested: Chinese and English if a topic is given, as it is
        learned in both.

        >>> sorted(Topic.of("bees").languages), sorted(Topic().languages)
        (['en', 'zh'], [])
        """
        if self.given:
            return frozenset(("en", "zh"))
        return frozenset()

    @property
    def digest(self) -> str:
        """16 hex digits that identify the words and examples; the domains do not count."""
        subject = (self.words, self.examples, self.example_urls, self.against, self.against_urls)
        return blake2b(repr(subject).encode("utf-8", "replace"), digest_size=8).hexdigest()

    @property
    def given(self) -> bool:
        """Whether the user has given words or examples; otherwise the seeds decide what the crawl is about."""
        return bool(self.words or self.has_examples)

    @property
    def has_examples(self) -> bool:
        """Whether the user has given texts or pages about the topic."""
        return bool(self.examples or self.example_urls)


def is_meaningful(word: str) -> bool:
    """Whether a word of a page may say what the page is about.

    >>> is_meaningful("bees"), is_meaningful("the"), is_meaningful("2024"), is_meaningful("蜜蜂"), is_meaningful("茶的")
    (True, False, False, True, False)
    """
    if word.isascii():
        return len(word) > 2 and word not in STOP_WORDS and not word.isdigit()
    return not PARTICLES.search(word)


LARGEST = 1024 * 1024
"""The most bytes of a topic file: whole books are not examples."""
KEYS = ("words", "examples", "against", "domains")
DOMAIN_KEYS = ("prefer", "avoid")
SCHEMES = ("http://", "https://")
"""A text that begins with one of these, and has no white space, is an address."""
MOST_SHOWN = 60
"""How many characters of a text a message quotes."""


def read_topic(path: Path) -> Topic:
    """The topic in a file; raises a TopicError that says what is wrong with the file and what is allowed."""
    return _TopicFile(str(path), _tables(path)).topic()


def _tables(path: Path) -> dict[str, Any]:
    """The tables of a file, parsed but not checked."""
    try:
        if not path.is_file() and path.exists():
            raise TopicError("topic={path} is not a file; give a TOML file", path=_shown(str(path)))
        with path.open("rb") as file:
            source = file.read(LARGEST + 1)
    except TopicError:  # also a ValueError, so the next clause would catch it
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or Message("such a name is not possible")
        raise TopicError(
            "topic={path} cannot be read ({why}); give a readable TOML file", path=_shown(str(path)), why=why
        ) from None

    if len(source) > LARGEST:
        raise TopicError(
            "topic={path} is larger than {most:,} bytes; give a smaller file", path=_shown(str(path)), most=LARGEST
        )
    try:
        return tomllib.loads(source.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise TopicError("topic={path} is not UTF-8 text; give a TOML file in UTF-8", path=_shown(str(path))) from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        why = " ".join(str(error).split())[:100]
        raise TopicError(
            "topic={path} is not TOML ({why}); words and texts must be in quotes", path=_shown(str(path)), why=why
        ) from None


class _TopicFile:
    """The tables of a file, which are read key by key; each method raises a TopicError if its key is wrong. `name` is
    the path of the file, for messages.
    """

    def __init__(self, name: str, tables: dict[str, Any]) -> None:
        self.name = name
        self.tables = tables

    def topic(self) -> Topic:
        """The topic in the file."""
        self.check_keys(self.tables, KEYS, "")
        keywords = self.words()
        example_urls, examples = self.texts("examples")
        against_urls, against = self.texts("against")

        # Contradictions, wrong domains and omissions.
        both = {*example_urls, *examples} & {*against_urls, *against}
        if both:
            self.reject(
                "against",
                "contains {given}, which is also in examples; it may be in only one of them",
                given=_shown(min(both)),
            )
        domains = self.tables.get("domains", {})
        if not isinstance(domains, dict):
            self.reject("domains", "is not a table; allowed is [domains] with prefer and avoid")
        self.check_keys(domains, DOMAIN_KEYS, "domains.")
        if not keywords and not examples and not example_urls:
            raise TopicError("topic={path} names no topic; give words, examples or both", path=_shown(self.name))

        return Topic(
            words=keywords,
            text=" ".join(word for word, _ in keywords),
            examples=examples,
            example_urls=example_urls,
            against=against,
            against_urls=against_urls,
            prefer=self.domains(domains, "prefer"),
            avoid=self.domains(domains, "avoid"),
        )

    def words(self) -> tuple[tuple[str, float], ...]:
        """The words with their weights; all words of a list have the weight 1."""
        word_table = self.tables.get("words", [])
        if isinstance(word_table, list):
            word_table = dict.fromkeys(self.strings("words", word_table), 1.0)
        if not isinstance(word_table, dict):
            self.reject("words", 'is neither a list nor a table; allowed are ["bees"] and {bees = 2.0}')

        weights: dict[str, float] = {}
        for word, weight in word_table.items():
            if not words(word):
                self.reject(
                    "words",
                    "contains {given}, which is not a word; allowed are words of letters or digits",
                    given=_shown(word),
                )
            is_number = isinstance(weight, int | float) and not isinstance(weight, bool)  # a bool is an int in Python
            if not is_number or not _is_weight(weight):
                self.reject(
                    "words",
                    "has no valid weight for {given}; allowed are numbers above 0 up to 1,000,000",
                    given=_shown(word),
                )
            weights[fold_space(word.casefold())] = float(weight)
        return tuple(weights.items())

    def texts(self, key: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The addresses in a list of texts, and the other texts."""
        urls = []
        texts = []
        for text in self.strings(key, self.tables.get(key, [])):
            if not text.lower().startswith(SCHEMES) or len(text.split()) > 1:
                if not words(text):
                    self.reject(
                        key, "contains {given}, which has no word; allowed are texts and addresses", given=_shown(text)
                    )
                texts.append(text)
                continue
            url = absolute("", text)
            if url is None:
                self.reject(
                    key,
                    "contains {given}, which is not an address; allowed are http:// and https:// addresses",
                    given=_shown(text),
                )
            urls.append(url)
        return tuple(dict.fromkeys(urls)), tuple(dict.fromkeys(texts))

    def domains(self, table: dict[str, Any], key: str) -> tuple[str, ...]:
        """The hosts in a list of domains."""
        domain_names = []
        for name in self.strings(f"domains.{key}", table.get(key, [])):
            url = absolute("", f"http://{name}/") if _may_be_domain(name) else None
            if url is None:
                self.reject(
                    f"domains.{key}",
                    "contains {given}; allowed are domains such as example.org",
                    given=_shown(name),
                )
            domain_names.append(address_of(url).host)
        return tuple(dict.fromkeys(domain_names))

    def strings(self, key: str, texts: Any) -> list[str]:
        """The texts in a list."""
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            self.reject(key, 'is not a list of texts; allowed are lists such as ["bees"]')
        return [text.strip() for text in texts]

    def check_keys(self, table: dict[str, Any], allowed: tuple[str, ...], prefix: str) -> None:
        """Raise a TopicError if a table has a key that is not allowed; the message puts `prefix` before keys."""
        for key in table:
            if key not in allowed:
                self.reject(
                    prefix + key, "is not known; allowed are {names}", names=[prefix + name for name in allowed]
                )

    def reject(self, key: str, why: str, /, **values: object) -> NoReturn:
        """Raise the TopicError that says why a key is wrong; `values` replace the names in braces in `why`."""
        raise TopicError(
            "topic={path}: {key} {why}", path=_shown(self.name), key=key[:MOST_SHOWN], why=Message(why, values)
        )


def _is_weight(number: float) -> bool:
    return math.isfinite(number) and 0 < number <= 1_000_000


def _may_be_domain(name: str) -> bool:
    return bool(name) and not any(mark in name for mark in "/:?#@ \\[]%*")


def _shown(text: str) -> str:
    """A text as a message quotes it."""
    return repr(text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…")
