import pytest

from crawler.page import text as module
from crawler.page.text import FULL_STOPS, fingerprint, fold_space, has_full_stop, letters, uncut_words, words


def test_words() -> None:
    rows = [
        ("", []),
        ("... !?", []),
        ("Two  Words", ["two", "words"]),
        ("don't 'quote' l’eau", ["don't", "quote", "l'eau"]),
        ("snake_case __init__", ["snake", "case", "init"]),
        ("In 2012: 3.5 km", ["in", "2012", "3", "5", "km"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("茶", ["茶"]),
        ("绿茶", ["绿茶"]),
        ("喝绿茶。", ["喝绿", "绿茶"]),
        ("用Python写", ["用", "python", "写"]),
        ("𠀀𠀁字", ["𠀀𠀁", "𠀁字"]),
        ("カメラが", ["カメ", "メラ", "ラが"]),
        ("ไปไหน", ["ไป", "ปไ", "ไห", "หน"]),
        ("ພາສາ", ["ພາ", "າສ", "ສາ"]),
        ("한국어 신문", ["한국어", "신문"]),
        ("हिन्दी की", ["हिन्दी", "की"]),
        ("كِتَاب", ["كِتَاب"]),
        ("cafe\u0301 noir", ["cafe\u0301", "noir"]),
        ("می\u200cروم", ["می\u200cروم"]),
        ("Приві́т, світ", ["приві́т", "світ"]),
    ]
    for text, expected in rows:
        assert words(text) == expected


def test_splitting_at_signs_gives_the_words_of_the_pattern() -> None:
    rows = [
        "",
        "it's 'tis rock 'n' roll''s o' clock '",
        "In 2012: 3.5 km, snake_case; a-b.c\tand\x1fso\non",
        "Straße — “l’eau” … ½ × ², naïve_café\u3000Привет\u2028",
        "".join(map(chr, range(0x20, 0x250))),
        "".join(f"a{sign}b" for sign in map(chr, range(0x2190, 0x2300))),
    ]
    for text in rows:
        by_pattern = uncut_words(f"{text} 蜜")  # a text with a character of an unspaced script is never split
        assert [*uncut_words(text), "蜜"] == by_pattern


def test_unspaced_words_are_pairs() -> None:
    for script in ["မြန်မာ", "ភាសាខ្មែរ", "ภาษาไทย", "ພາສາລາວ", "漢字かな"]:
        assert words(script) == [script[i : i + 2] for i in range(len(script) - 1)]


def test_has_full_stop() -> None:
    rows = [
        ("", False),
        ("Home", False),
        ("It rains.", True),
        ("It rains. It", True),
        ('"It rains." "So"', True),
        ("(It rains.)", True),
        ("It rains.[12] Then it stops", True),
        ("It rains.It", False),
        ("Does it rain? Perhaps", True),
        ("page?id=3", False),
        ("Hello! You", True),
        ("wow!important", False),
        ("And then…", True),
        ("then…maybe", False),
        ("And then...", True),
        ("1 2 3 ... 9", False),
        ("Copyright 2004 Example Inc. All rights reserved.", True),
        ("© 2004 Example Inc.", False),
        ("www.example.com", False),
        ("See www.example.com.", True),
        ("v1.2", False),
        ("costs 3.5 million", False),
        ("1. Overview", False),
        ("2.1. Overview", False),
        ("3. Mai 2012", False),
        ("Freitag, 3. Mai 2012", False),
        ("The answer was 42.", True),
        ("42.", False),
        ("In 2012. Then", True),
        ("No. 5", False),
        ("Dr. Ling", False),
        ("at 5 p.m. on Friday", False),
        ("J. Smith", False),
        ("e.g. this", False),
        ("tea, cakes etc. and more", False),
        ("tea, cakes etc. More", True),
        ("天气很好。", True),
        ("好。我走了", True),
        ("为什么？因为", True),
        ("他说……然后走了", False),
        ("首页 > 新闻", False),
        ("यह अच्छा है। ठीक", True),
        ("هل تمطر؟ نعم", True),
        ("یہ اچھا ہے۔", True),
        ("Բարեւ։", True),
        ("ကောင်းတယ်။", True),
        ("ល្អណាស់។", True),
        ("ሰላም።", True),
        ("ภาษาไทย", False),
    ]
    for text, expected in rows:
        assert has_full_stop(text) is expected


def test_every_full_stop_ends_a_sentence() -> None:
    for mark in sorted(FULL_STOPS):
        assert has_full_stop(f"word{mark}")


def test_fold_space() -> None:
    rows = [
        ("", ""),
        (" \t\n ", ""),
        ("\u3000\u00a0a\u2003b\r\n", "a b"),
        ("a\u200bb\ufeffc\u00add\u2060e", "abcde"),
        ("a \u200b b", "a b"),
        ("\u200b", ""),
        ("می\u200cروم", "می\u200cروم"),
    ]
    for text, expected in rows:
        assert fold_space(text) == expected


def test_fingerprint_is_the_same_everywhere() -> None:
    rows = [
        ("The quick brown fox, 42.", "64e9c8f5bd71a355"),
        ("天气很好，我们去公园。", "24ea03f733e70eaa"),
        ("محمد \ufdfa", "1b2c649bb7fdca7e"),
        ("\ufdfa ２", "81165f49ea837894"),
        ("", None),
        (" …!—。 _", None),
    ]
    for text, expected in rows:
        assert fingerprint(text) == expected


def test_fingerprint_sees_letters_and_digits_only() -> None:
    rows = [
        ("Hello, World", "hello world!", True),
        ("１２ＡＢ", "12ab", True),
        ("caf\u00e9", "CAFE\u0301", True),
        ("天气，很好", "天气 很好。", True),
        ("snake_case", "snake case", True),
        ("hello", "hallo", False),
        ("की", "का", False),
        ("12", "1 3", False),
        ("resume", "résumé", False),
    ]
    for one, other, same in rows:
        assert (fingerprint(one) == fingerprint(other)) is same


def test_letters() -> None:
    rows = [
        ("“Bees” – dance …", "beesdance"),
        ("Caf\u00e9 – 蜜蜂。", "caf\u00e9蜜蜂"),
        ("STRASSE – Stra\u00dfe", "strassestrasse"),
        ("-\u0301 a\u0301 –", "\u00e1"),  # a mark counts after a letter only
        ("– ＡＢ １", "ab1"),
        ("\ufdfa –", "صلى الله عليه وسلم"),
        ("".join(map(chr, range(0x2190, 0x2300))) + "Bees", "bees"),  # more kinds of signs than are removed one by one
        ("\ud800 Bees –", "bees"),
    ]
    for text, expected in rows:
        assert letters(text) == expected.encode()


def test_letters_between_signs_are_found_without_the_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LETTERS", None)
    assert letters("“Bees” – im März …") == "beesimmärz".encode()
