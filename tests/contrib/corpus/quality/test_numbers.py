"""The numbers of the sets, computed by hand, and their limits from both sides."""

from dataclasses import asdict
from time import process_time

import pytest

from crawler.contrib.corpus.quality import NAMES, NUMBER_TYPES, PUBLISHED, broken_limit, measured
from crawler.contrib.corpus.quality.c4 import c4
from crawler.contrib.corpus.quality.chinese import chinese
from crawler.contrib.corpus.quality.fineweb import fineweb
from crawler.contrib.corpus.quality.gopher import gopher_quality, gopher_repetition
from crawler.contrib.corpus.quality.languages import languages
from crawler.contrib.corpus.quality.measured_text import MeasuredText


def numbers(text: str, language: str | None = "en") -> dict[str, float | None]:
    return measured(text, language)


def test_gopher_quality() -> None:
    rows = [
        ("", {"words": 0, "mean_word_length": 0, "alpha_word_frac": 0}),
        ("Bees dance.", {"words": 2, "mean_word_length": 4.5, "alpha_word_frac": 0.6667, "stop_words": 0}),
        ("# # bees ...", {"hash_ratio": 0.5, "ellipsis_ratio": 0.25, "words": 1}),
        ("- a\n• b\nc\n  - d", {"bullet_line_frac": 0.75}),
        ("so...\nit…\nends\nhere", {"ellipsis_line_frac": 0.5}),
        ("a 1 2 b", {"alpha_word_frac": 0.5, "words": 4}),
        ("Of the and that", {"stop_words": 3}),
    ]
    for text, expected in rows:
        found = asdict(gopher_quality(MeasuredText.of(text, "en")))
        assert {name: found[name] for name in expected} == expected


def test_gopher_repetition() -> None:
    rows = [
        ("aa\nbb\naa\naa", {"dup_line_frac": 0.5, "dup_line_char_frac": 0.3636, "dup_para_frac": 0}),
        ("aa\n\nbb\n\naa", {"dup_line_frac": 0.3333, "dup_para_frac": 0.3333, "dup_para_char_frac": 0.2}),
        # "a b" twice, with its space: 6 of 7 characters; no pair of three.
        ("a b a b", {"top_2_gram_char_frac": 0.8571, "top_3_gram_char_frac": 0.7143}),
        # Where nothing is repeated, the first sequence is the commonest.
        ("aaa b c d", {"top_2_gram_char_frac": 0.5556, "top_4_gram_char_frac": 1.0}),
        ("a", {"top_2_gram_char_frac": 0}),
        # The second "a b c d e" is 5 of 19 characters.
        ("a b c d e a b c d e", {"dup_5_gram_char_frac": 0.2632, "dup_6_gram_char_frac": 0}),
        # Sequences that overlap count once: of 8 a the sequence at 1 ends at 6, and no other fits.
        ("a a a a a a a a", {"dup_5_gram_char_frac": 0.3333, "dup_7_gram_char_frac": 0.4667}),
    ]
    for text, expected in rows:
        found = asdict(gopher_repetition(MeasuredText.of(text, "en")))
        assert {name: found[name] for name in expected} == expected


def test_fineweb() -> None:
    rows = [
        ("It ends.\nit does not", {"line_punct_ratio": 0.5, "list_ratio": 0.1667}),
        ("它结束了。\n没有", {"line_punct_ratio": 0.5}),
        ("so…\nand…", {"line_punct_ratio": 0}),
        (f"{'a' * 30}\n{'b' * 31}", {"short_line_ratio": 0.5}),
        ("aa\nbb\n\naa", {"char_dup_ratio": 0.3333}),
    ]
    for text, expected in rows:
        found = asdict(fineweb(MeasuredText.of(text, "en")))
        assert {name: found[name] for name in expected} == expected


def test_sentences_of_c4() -> None:
    rows = [
        ("Bees dance well.", 1),
        ("Bees dance. They fly! Do they? Yes, Dr. Lee.", 4),
        ("Bees dance well", 0),
        ("Bees dance...", 0),
        ("Bees dance.", 0),  # two words
        ('He said "bees dance."', 1),
        ("Bees dance well.[1]", 1),
        ("Bees dance well.[citation needed]", 1),
        ("Bees need JavaScript here.", 0),
        ("Read our privacy policy now.", 0),
        (f"Bees dance {'a' * 1000}.", 0),
        (f"Bees dance {'a' * 999}.", 1),
    ]
    for line, sentences in rows:
        assert c4(MeasuredText.of(f"{line}\nNo sentence", "en")).c4_sentences == sentences


def test_other_numbers_of_c4() -> None:
    rows = [
        ("Write { in code.", {"curly_bracket_lines": 1}),
        ("Write { in code", {"curly_bracket_lines": 0}),
        ("Lorem ipsum dolor sit.", {"lorem_ipsum_lines": 1}),
        ("a\nbbb\ncc\ndddd", {"third_line_length": 2}),
        ("a\nb", {"third_line_length": 0}),
    ]
    for text, expected in rows:
        found = asdict(c4(MeasuredText.of(text, "en")))
        assert {name: found[name] for name in expected} == expected


def test_chinese() -> None:
    rows = [
        ("bees dance", {"characters": 9, "han_frac": 0, "broken_frac": 0}),
        ("蜜蜂 ab", {"characters": 4, "han_frac": 0.5}),
        ("蜜蜂的舞，", {"zh_stop_frac": 0.25, "zh_punct_ratio": 0.25}),
        ("这个国家", {"traditional_frac": 0}),
        ("這個國家", {"traditional_frac": 1}),
        ("这個", {"traditional_frac": 0.5}),
        ("山水", {"traditional_frac": 0}),
        ("ab\ufffd\x85", {"broken_frac": 0.5}),
        ("锟斤拷的", {"broken_frac": 0.75}),
        ("CafÃ© ab", {"broken_frac": 0.2857}),
        ("Café déjà", {"broken_frac": 0}),
        ("\U00020000a", {"han_frac": 0.5}),
    ]
    for text, expected in rows:
        found = asdict(chinese(MeasuredText.of(text, "zh")))
        assert {name: found[name] for name in expected} == expected


ENGLISH = "The bees dance in the dark."  # 27 characters
GERMAN = "Die Bienen tanzen im dunklen Stock und sagen den anderen, wohin sie jetzt fliegen."  # 82


def test_languages() -> None:
    rows = [
        (ENGLISH, "en", (1, 1, 0, 0)),
        (f"{ENGLISH}\nshort", "en", (1, 1, 0, 0)),
        (f"{ENGLISH}\n蜜蜂在黑暗里跳舞啊", "en", (0.5, 0.5, 0.5, 0)),
        (f"{ENGLISH}\n{GERMAN}", "en", (1, 1, 0, 0)),  # nothing says that the second is not English
        (f"{ENGLISH}\n{GERMAN}", "de", (0.7523, 0.2477, 0, 0.7523)),
        ("蜜蜂在黑暗里跳舞", "zh", (1, 0, 1, 0)),
        ("ミツバチはくらい巣のなかでおどります。", "ja", (1, 0, 0, 1)),
        ("꿀벌은 어두운 벌집에서 춤을 춥니다.", "ko", (1, 0, 0, 1)),
        ("short", "en", (0, 0, 0, 0)),
        ("", None, (0, 0, 0, 0)),
    ]
    for text, language, expected in rows:
        found = languages(MeasuredText.of(text, language))
        assert tuple(asdict(found).values()) == pytest.approx(expected, abs=1e-4)


FINE = {"words": 100, "mean_word_length": 5, "alpha_word_frac": 0.9, "stop_words": 5, "line_punct_ratio": 0.5}
FINE |= {"c4_sentences": 9, "third_line_length": 300}
EDGES = [
    ("gopher", "en", "words", 50, 49),
    ("gopher", "en", "words", 100_000, 100_001),
    ("gopher", "en", "mean_word_length", 3, 2.9),
    ("gopher", "en", "mean_word_length", 10, 10.1),
    ("gopher", "zh", "mean_word_length", 1, 0.9),
    ("gopher", "zh", "mean_word_length", 5, 5.1),
    ("gopher", "en", "hash_ratio", 0.1, 0.11),
    ("gopher", "zh", "ellipsis_ratio", 0.1, 0.11),
    ("gopher", "en", "bullet_line_frac", 0.9, 0.91),
    ("gopher", "de", "ellipsis_line_frac", 0.3, 0.31),
    ("gopher", "en", "alpha_word_frac", 0.8, 0.79),
    ("gopher", "zh", "alpha_word_frac", 0.735, 0.73),
    ("gopher", "en", "stop_words", 2, 1),
    ("gopher", "zh", "stop_words", 2, 1),
    ("gopher", "en", "dup_line_frac", 0.3, 0.31),
    ("gopher", "zh", "dup_line_frac", 0.287, 0.29),
    ("gopher", "en", "dup_para_frac", 0.3, 0.31),
    ("gopher", "en", "dup_line_char_frac", 0.2, 0.21),
    ("gopher", "en", "dup_para_char_frac", 0.2, 0.21),
    ("gopher", "en", "top_2_gram_char_frac", 0.2, 0.21),
    ("gopher", "en", "top_3_gram_char_frac", 0.18, 0.19),
    ("gopher", "en", "top_4_gram_char_frac", 0.16, 0.17),
    ("gopher", "zh", "top_2_gram_char_frac", 0.256, 0.26),
    ("gopher", "zh", "top_3_gram_char_frac", 0.201, 0.21),
    ("gopher", "zh", "top_4_gram_char_frac", 0.171, 0.18),
    *(("gopher", "en", f"dup_{n}_gram_char_frac", 0.2 - n / 100, 0.201 - n / 100) for n in range(5, 11)),
    ("gopher", "zh", "dup_5_gram_char_frac", 0.198, 0.2),
    ("gopher", "zh", "dup_10_gram_char_frac", 0.127, 0.13),
    ("fineweb", "en", "line_punct_ratio", 0.12, 0.11),
    ("fineweb", "zh", "line_punct_ratio", 0.106, 0.1),
    ("fineweb", "en", "short_line_ratio", 0.67, 0.68),
    ("fineweb", "en", "char_dup_ratio", 0.01, 0.02),
    ("fineweb", "zh", "char_dup_ratio", 0.1, 0.11),
    ("fineweb", "en", "list_ratio", 0.3, 0.31),
    ("fineweb", "zh", "list_ratio", 0.178, 0.18),
    ("c4", "en", "c4_sentences", 5, 4),
    ("c4", "en", "curly_bracket_lines", 0, 1),
    ("c4", "en", "lorem_ipsum_lines", 0, 1),
    ("c4", "zh", "third_line_length", 200, 199),
    ("c4", None, "third_line_length", 200, 199),
]


def test_limits() -> None:
    for rules, language, name, inside, outside in EDGES:
        assert broken_limit(FINE | {name: round(inside, 4)}, rules, language) is None
        limit = broken_limit(FINE | {name: round(outside, 4)}, rules, language)
        assert limit is not None
        assert limit.name == name


def test_rules_that_a_language_does_not_have() -> None:
    rows = [
        ("gopher", "de", "stop_words", 0),  # they are English
        ("gopher", "zh", "dup_line_char_frac", 1),
        ("fineweb", "zh", "short_line_ratio", 1),
        ("c4", "zh", "c4_sentences", 0),
        ("c4", "en", "third_line_length", 0),
    ]
    for rules, language, name, value in rows:
        assert broken_limit(FINE | {name: value}, rules, language) is None


def test_every_limit_has_a_number_and_is_tested() -> None:
    limits = {limit.name for sets in PUBLISHED.values() for some in sets.values() for limit in some}
    assert limits <= set(NAMES)
    assert limits == {edge[2] for edge in EDGES}


def test_the_numbers_are_flat_and_of_their_kinds() -> None:
    found = numbers("Bees dance. " * 30 + "\n蜜蜂\n" * 3)
    assert [*found] == [name for name in NAMES if name not in ("certainty", "kept_frac")]
    assert {name for name, value in found.items() if type(value) is not NUMBER_TYPES[name]} == set()


HOSTILE = {
    "one word": "a" * 10_000_000,
    "lines": "a\n" * 1_000_000,
    "blank lines": "\n" * 1_000_000,
    "no letters": "!?., " * 60_000,
    "marks in a row": "." * 300_000,
    "short forms": "n't" * 100_000,
    "dots and letters": "a." * 150_000,
    "addresses": "a.b-c/" * 50_000,
    "the same word": "bee " * 75_000,
    "new words": " ".join(f"{n:x}" for n in range(60_000)),
    "Chinese without a mark": "蜜蜂" * 150_000,
    "brackets of citations": "[" * 300_000,
    "broken": "\ufffd锟Ã" * 100_000,
    "surrogates": "\ud800 " * 150_000,
    "zeros": "\x00 " * 150_000,
}
MOST_SECONDS = 5
"""Of a text that takes a tenth of it on a machine that does nothing else; twice as long a text takes twice as long."""


def test_hostile_texts_take_little_time() -> None:
    for name in HOSTILE:
        began = process_time()
        found = numbers(HOSTILE[name], "zh" if "Chinese" in name else "en")
        assert process_time() - began < MOST_SECONDS
        assert all(value is not None and 0 <= value < 10**7 for value in found.values())
        shares = {key: value for key, value in found.items() if key.endswith("_frac")}
        assert {
            key: value for key, value in shares.items() if not 0 <= (value or 0) <= (5 if "top_" in key else 1)
        } == {}
