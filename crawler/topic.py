"""What a crawl is about, as its user says it: words, examples, and domains to prefer or to leave out."""

import re
from dataclasses import dataclass
from typing import Self

from crawler.page.segmentation import terms
from crawler.page.text import words

# Words that tell nothing of a topic: the commonest of English, and bigrams with a Chinese particle.
STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been before but by can could did do does each even for from had "
    "has have he her his how i if in into is it its just like made make many may more most my new no not now of on "
    "one only or other our out over said same she should so some such than that the their them then there these they "
    "this those through to too two under up us use very was we well were what when where which while who will with "
    "would you your".split()
)
PARTICLES = re.compile("[的了是在和有不我他她它这那就也都而及与或一个们等被把对于为以之其中]")


@dataclass(frozen=True)
class Topic:
    """What is given of a topic."""

    words: tuple[tuple[str, float], ...] = ()
    """Keywords, case-folded, each with its weight."""
    text: str = ""
    """As it was given."""
    examples: tuple[str, ...] = ()
    """Texts about it."""
    example_urls: tuple[str, ...] = ()
    """Addresses of pages about it."""
    against: tuple[str, ...] = ()
    """Texts that are not about it, although one might think so."""
    against_urls: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()
    """Domains whose pages are the likelier to be about it."""
    avoid: tuple[str, ...] = ()
    """Domains that are left out."""

    @classmethod
    def of(cls, text: str) -> Self:
        """The topic of some words or a sentence: its words that tell something, or all of them where none does.

        >>> Topic.of("The honey bees").words
        (('honey', 1.0), ('bees', 1.0))
        """
        named = terms(text) or words(text)
        telling = [word for word in named if word not in STOP_WORDS] or named
        return cls(tuple(dict.fromkeys(telling, 1.0).items()), text)

    @property
    def given(self) -> bool:
        """Whether it says what it is about; else the seeds do."""
        return bool(self.words or self.examples or self.example_urls)


def tells(word: str) -> bool:
    """Whether a word of a page may tell what it is about.

    >>> tells("bees"), tells("the"), tells("2024"), tells("蜜蜂"), tells("茶的")
    (True, False, False, True, False)
    """
    if word.isascii():
        return len(word) > 2 and word not in STOP_WORDS and not word.isdigit()
    return not PARTICLES.search(word)
