import pytest

from crawler.topic.keywords import Keywords, spellings


def test_spellings() -> None:
    rows = [
        ("bee", ("bee", "bees")),
        ("bees", ("bees", "bee")),
        ("s", ("s", "")),
        ("42", ("42", "42s")),
        ("café", ("café",)),
        ("пчёлы", ("пчёлы",)),
        ("꿀벌", ("꿀벌",)),
        ("honey bee", ()),
        ("don't", ()),
        ("c++", ()),
        ("蜜蜂", ()),
        ("ミツ", ()),
        ("ผึ้ง", ()),
    ]
    for word, expected in rows:
        assert spellings(word) == expected


def strength(count: int, length: int) -> float:
    return count / (count + 1 + length / 400)


def test_one_word() -> None:
    rows = [
        ("bees", "", "", 0),
        ("bees", "", "cars " * 10, 0),
        ("bees", "", "bees", strength(1, 1)),
        ("bees", "", "A bee, two BEES.", strength(2, 4)),
        ("bee", "", "beekeepers keep been beef", 0),
        ("bees", "", "bees " + "and " * 399, strength(1, 400)),
        ("bees", "Bees", "", strength(3, 0)),
        ("bees", "Bees", "the bee", strength(4, 2)),
        ("honey bee", "", "honey bees and a Honey Bee", strength(2, 26)),
        ("蜜蜂", "", "蜜蜂采蜜,蜜蜂", strength(2, 7)),
        ("蜜蜂", "蜜蜂", "茶", strength(3, 1)),
        ("straße", "", "STRASSE Straße", strength(2, 2)),
    ]
    for words, title, text, expected in rows:
        assert Keywords({words.casefold(): 2.0}).score(title, text) == pytest.approx(expected)


def test_several_words() -> None:
    rows = [
        ({"bees": 1, "wax": 1}, "bees", (strength(1, 1) ** 3 / 2) ** (1 / 3)),
        ({"bees": 3, "wax": 1}, "bees", (strength(1, 1) ** 3 * 3 / 4) ** (1 / 3)),
        ({"bees": 1, "wax": 1}, "bees bees wax", ((strength(2, 3) ** 3 + strength(1, 3) ** 3) / 2) ** (1 / 3)),
        ({"bees": 1, "蜜蜂": 1}, "蜜蜂", (strength(1, 2) ** 3 / 2) ** (1 / 3)),
    ]
    for weights, text, expected in rows:
        assert Keywords(weights).score("", text) == pytest.approx(expected)


def test_none() -> None:
    assert not Keywords({})
    assert Keywords({}).score("bees", "bees") == 0
    assert Keywords({"bees": 1.0})


def test_never_more_than_1() -> None:
    assert 0.99 < Keywords({"bees": 1e6, "wax": 1e6}).score("bees wax " * 900, "bees wax " * 900) < 1


def test_similar_words_count_in_place_of_a_word() -> None:
    rows = [
        ("bees", strength(1, 1)),
        ("蜜蜂蜜蜂蜜蜂", 0.5 * strength(3, 6)),
        ("bee 蜜蜂", strength(1, 2)),
        ("wasps", 0),
    ]
    for text, expected in rows:
        similar = {"bees": [("蜜蜂", 0.5)], "cars": [("wasps", 1.0)]}
        assert Keywords({"bees": 1.0}, similar).score("", text) == pytest.approx(expected)
