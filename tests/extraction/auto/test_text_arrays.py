"""The characters and words of many texts at once."""

import numpy as np

from crawler.extraction.auto.text_arrays import BUCKETS, KINDS, read, read_names


def counted(text: str) -> dict[str, int]:
    """How many characters of each kind a text has, as it is read between others."""
    found = read(["Before.", text, "蜂"])
    return {kind: int(count) for kind, count in zip(KINDS, found.kinds[1], strict=True) if count}


def test_kinds() -> None:
    rows = [
        ("", {}),
        ("Bees dance.", {"upper": 1, "lower": 8, "space": 1, "stop": 1}),
        ("1 000, 2:3", {"digit": 6, "space": 2, "comma": 1, "colon": 1}),
        ("春天来了。", {"unspaced": 4, "stop": 1}),
        ("はな、ハナ", {"unspaced": 4, "comma": 1}),
        ("꽃이 피다", {"caseless": 4, "space": 1}),
        ("نحل ؟", {"caseless": 3, "space": 1, "stop": 1}),
        ("Ärger", {"upper": 1, "lower": 4}),
        ("Пчёлы", {"upper": 1, "lower": 4}),
        ("“a” | b → c © €", {"quote": 2, "lower": 3, "separator": 2, "sign": 2, "space": 6}),
        ("\U00020000\U0001f41d", {"other": 2}),
        ("\ud800a\udfff", {"other": 2, "lower": 1}),
        ("a\nb", {"lower": 2, "space": 1}),
        ("\0", {"other": 1}),
    ]
    for text, kinds in rows:
        assert counted(text) == kinds


def test_first_and_last() -> None:
    rows = [
        ("Bees dance.", "upper", "stop"),
        ("1", "digit", "digit"),
        ("“春天", "quote", "unspaced"),
        ("\U00020000 \ud800", "other", "other"),
        ("", "space", "space"),
    ]
    for text, first, last in rows:
        found = read(["x", text, "y"])
        assert (KINDS[found.first[1]], KINDS[found.last[1]]) == (first, last)


def words(text: str, before: int = 0) -> list[int]:
    """The buckets of a text's words, after so many other characters."""
    found = read(["ab " * before, text, "after"])
    return found.words[found.owner == 1].tolist()


def test_words() -> None:
    rows = [
        ("Bees dance in 2012.", ["bees", "dance", "in", "2012"]),
        ("春天来了", ["春天", "天来", "来了", "了"]),
        ("在Python里", ["在", "python", "里"]),
        ("꽃이 피다", ["꽃이", "피다"]),
        ("a-b's", ["a", "b", "s"]),
        ("a\U0001f41db", ["a", "b"]),
        ("\ud800", []),
        ("", []),
    ]
    for text, pieces in rows:
        # A lone character and a pair are told apart, so a piece by itself has a last one too.
        alone = [words(piece)[0] for piece in pieces]
        assert words(text) == alone


def test_a_word_is_the_same_wherever_it_stands() -> None:
    for text in ["Bees dance in the hive.", "春天来了，蜜蜂出来了。", "x", "Ärger ÜBER Ößterreich"]:
        for before in [1, 99, 30_000]:
            assert (
                words(text, before)
                == words(text)
                == words(text.upper().replace("SS", "ß") if "ß" not in text else text)
            )
            assert all(0 <= word < BUCKETS for word in words(text))


def test_where_there_are_no_spaces_words_are_pairs() -> None:
    assert len({words(text)[0] for text in ("春天", "春来", "春")}) == 3


def test_different_words_are_told_apart() -> None:
    texts = [f"word{number}" for number in range(1_000)]
    assert len(set(read(texts).words.tolist())) > 950


def test_owners_are_in_order_and_of_all_texts_with_words() -> None:
    found = read(["one two", "", "春天", "!", "three"])
    assert found.owner.tolist() == [0, 0, 2, 2, 4]
    assert len(found.words) == 5


def test_names_are_cut_where_words_begin() -> None:
    """A name has its words and, when it is more than one, itself."""
    rows = [
        ("postBody", "post body"),
        ("post-body", "post body"),
        ("post_body", "post body"),
        ("post12body", "post body"),
        ("PostBody", "post body"),
        ("POSTBODY", "postbody"),
    ]
    for name, same in rows:
        found, expected = (set(read_names([text]).buckets.tolist()) for text in (name, same))
        parts = [set(read_names([part]).buckets.tolist()) for part in same.split()]
        assert all(found & part for part in parts)
        assert len(found) == len(parts) + 1
        assert len(expected) == 2 * len(parts)


def test_names_of_several_elements() -> None:
    found = read_names(["div main-text", "", "p", "蜂 \ud800 \U0001f41d"])
    assert found.owner.tolist() == sorted(found.owner.tolist())
    assert set(found.owner.tolist()) == {0, 2, 3}
    alone = read_names(["p"])
    assert found.buckets[found.owner == 2].tolist() == alone.buckets.tolist()


def test_many_texts_are_read_as_each_by_itself() -> None:
    texts = ["Bees dance.", "春天来了。", "", "© 2012 Ann", "نحل"]
    together = read(texts)
    for place, text in enumerate(texts):
        alone = read([text])
        assert np.array_equal(together.kinds[place], alone.kinds[0])
        assert (together.first[place], together.last[place]) == (alone.first[0], alone.last[0])
        assert together.words[together.owner == place].tolist() == alone.words.tolist()
