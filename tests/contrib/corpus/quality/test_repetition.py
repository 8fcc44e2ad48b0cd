"""Sequences of words, against a count that takes them one by one."""

from collections import Counter
from random import Random

import pytest

from crawler.contrib.corpus.quality.repetition import n_grams
from crawler.contrib.corpus.quality.words import words_of


def commonest(words: list[str], n: int) -> int:
    sequences = [" ".join(words[at : at + n]) for at in range(len(words) - n + 1)]
    return max((len(one) * count for one, count in Counter(sequences).most_common(1)), default=0)


def repeated(words: list[str], n: int) -> int:
    seen, characters, at = set(), 0, 0
    while at <= len(words) - n:
        sequence = tuple(words[at : at + n])
        if sequence in seen:
            characters += sum(map(len, sequence))
            at += n
        else:
            seen.add(sequence)
            at += 1
    return characters


@pytest.mark.parametrize("few", [0, 20, 100])
@pytest.mark.parametrize("seed", range(15))
def test_sequences_are_counted_as_one_by_one(seed: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.contrib.corpus.quality.repetition.FEW", few)
    random = Random(seed)
    for _ in range(20):
        words = random.choices(["a", "bb", "ccc", "d", "ee", "fff"][: random.randint(1, 6)], k=random.randint(0, 60))
        words += words[random.randint(0, len(words)) :] * random.randint(0, 2)
        found = n_grams(words_of([" ".join(words)], "en"))
        assert dict(found.top) == {n: commonest(words, n) for n in (2, 3, 4)}
        assert dict(found.repeated) == {n: repeated(words, n) for n in range(5, 11)}


def test_a_longer_text_is_counted_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.contrib.corpus.quality.repetition.MOST_WORDS", 5)
    assert n_grams(words_of(["a b c d e a b c d e"], "en")).repeated[5] == 0
