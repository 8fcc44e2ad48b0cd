"""Made-up texts in several languages, the same at every call: words as often as Zipf found them, and rare ones."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

SEED = 2013
KNOWN = (
    "the of and to in bees honey with that for hive as queen on winter from are by was or which flowers not an garden "
    "have their more when it new year other been people first railway museum river station"
).split()
LETTERS = {"en": "aeiou", "de": "aeiouäöü", "fr": "aeiouéèà", "ru": "аеиоуя"}
CONSONANTS = {"ru": "бвгдзклмнпрстчш"}
LANGUAGES = ("en", "zh", "de", "fr", "ru")
SHARES = (0.62, 0.2, 0.08, 0.06, 0.04)
WORDS, SENTENCES, LONG = 30_000, 8_000, 13
RARE = {"needle": 1_000, "lodestar": 300_000}
"""Words that one page in so many has."""
COMMON, ABSENT = "honey", "unobtainium"


@cache
def words(language: str) -> tuple[str, ...]:
    """All words of a language, the most frequent first."""
    random = Random(f"{SEED} {language}")
    if language == "zh":
        known = ["蜜蜂", "蜂蜜", "的", "在", "是", "冬天", "花园", "铁路"]
        return (*known, *("".join(chr(random.randrange(0x4E00, 0x8FFF)) for _ in range(2)) for _ in range(WORDS // 2)))
    vowels, others = LETTERS[language], CONSONANTS.get(language, "bdfgklmnprstvw")

    def word() -> str:
        return "".join(random.choice(others) + random.choice(vowels) for _ in range(random.randint(2, 4)))

    return (*(KNOWN if language == "en" else ()), *(word() for _ in range(WORDS)))


@cache
def sentences(language: str) -> tuple[str, ...]:
    """Sentences of a language, of words as frequent as their rank says."""
    known = words(language)
    chances = 1 / np.arange(1, len(known) + 1)
    drawn = np.random.default_rng(SEED).choice(len(known), (SENTENCES, LONG), p=chances / chances.sum())
    between, end = ("", "。") if language == "zh" else (" ", ".")
    return tuple(between.join(known[place] for place in row).capitalize() + end for row in drawn)


def texts(random: Any, first: int, languages: Sequence[str], size: int) -> Iterator[str]:
    """A text of so many letters for each language; some of the numbers, from the first on, have a rare word."""
    for number, language in enumerate(languages, first):
        pool = sentences(language)
        count = 1 + size // (len(pool[0]) + 1)
        found = [pool[place] for place in random.integers(0, len(pool), count)]
        found[count // 2] += "".join(f" {word}" for word, every in RARE.items() if number % every == every // 2)
        yield "\n".join(" ".join(found[at : at + 5]) for at in range(0, count, 5))


def titles(random: Any, languages: Sequence[str]) -> list[str]:
    """A title for each language."""
    places = random.integers(0, SENTENCES, len(languages))
    return [sentences(one)[place][:60] for one, place in zip(languages, places, strict=True)]
