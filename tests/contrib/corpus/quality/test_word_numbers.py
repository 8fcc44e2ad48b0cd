"""The words of a text: how a piece is cut, and what is counted of them."""

import pytest

from crawler.contrib.corpus.quality.word_splitting import cut
from crawler.contrib.corpus.quality.words import LETTER, MARK, SENTENCE_END, WORD, words_of


def test_a_piece_is_cut() -> None:
    rows = [
        ("bees", "bees"),
        ("bees,", "bees ,"),
        ("(bees).", "( bees ) ."),
        ("don't", "do n't"),
        ("can’t!", "ca n’t !"),
        ("keeper's", "keeper 's"),
        ("I'm", "I 'm"),
        ("cannot", "can not"),
        ("well-known", "well - known"),
        ("and/or", "and/or"),
        ("hive/comb", "hive / comb"),
        ("3.5", "3.5"),
        ("1,000", "1,000"),
        ("10%", "10 %"),
        ("$5", "$ 5"),
        ("5kg", "5 kg"),
        ("9am", "9 am"),
        ("1990-2000", "1990 - 2000"),
        ("-5", "-5"),
        ("Dr.", "Dr."),
        ("U.S.", "U.S."),
        ("e.g.", "e.g."),
        ("end.Next", "end . Next"),
        ("wait...", "wait ..."),
        ("example.org/bees?a=1", "example.org/bees?a=1"),
        ("a@example.org", "a@example.org"),
        ("#bees", "# bees"),
        ("--", "--"),
        ("©2026", "© 2026"),
        ("蜜蜂跳舞吗", "蜜蜂 跳舞 吗"),
        ("用Python，", "用 Python ，"),
    ]
    for piece, words in rows:
        assert cut(piece) == words.split()


def test_kinds_of_words() -> None:
    found = words_of(["Bees, 42 $ ?!"], "en")
    assert len(found) == 6
    assert [found.count(kind) for kind in (WORD, LETTER, SENTENCE_END, MARK)] == [2, 1, 2, 3]
    assert found.lengths.tolist() == [4, 1, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("line", "lengths"),
    [
        ("蜜蜂在跳舞。", [2, 1, 2, 1]),
        ("北京大学出版社", [7]),  # one word of the dictionary
        ("用Python3.5 写，a.b-c", [1, 9, 1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_chinese_is_cut_by_the_dictionary(line: str, lengths: list[int]) -> None:
    assert words_of([line], "zh").lengths.tolist() == lengths


def test_the_lines_of_words() -> None:
    assert words_of(["bees dance", "they do", "so"], "en").lines.tolist() == [0, 0, 1, 1, 2]


def test_the_same_word_has_the_same_number() -> None:
    one, comma, two, full_stop = words_of(["bees, bees."], "en").numbers.tolist()
    assert one == two
    assert len({one, comma, full_stop}) == 3


def test_stop_words() -> None:
    rows = [
        ("the bees", "en", 1),
        ("the the THE bees", "en", 1),
        ("the bees and wasps", "en", 2),
        ("the bees and wasps", None, 2),
        ("the bees and wasps", "zh", 0),
        ("蜜蜂的舞蹈和飞行", "zh", 2),
        ("be to of and that have with the", "en", 8),
    ]
    for line, language, count in rows:
        assert words_of([line], language).stop_words(language) == count


def test_words_that_were_forgotten_are_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.contrib.corpus.quality.words.MOST_CACHED_WORDS", 10)
    for _ in range(3):
        assert len(words_of(["these eleven words, and so many more that nothing is remembered."], "en")) == 13
