import subprocess
import sys
import time

from fork_server import environment

from crawler.page.text import terms, words


def test_terms() -> None:
    rows = [
        ("", []),
        ("Honey BEES don’t", ["honey", "bees", "don't"]),
        ("Straßen 42", ["strassen", "42"]),
        ("蜜蜂在花丛中采蜜。", ["蜜蜂", "花丛", "采蜜"]),
        ("茶", ["茶"]),
        ("喝 茶", ["喝", "茶"]),
        ("他喝茶", ["喝茶"]),
        ("养蜂ABC蜂箱", ["养蜂", "abc", "蜂箱"]),
        ("ミツバチ", ["ミツ", "ツバ", "バチ"]),
        ("蜜蜂のダンス", words("蜜蜂のダンス")),
        ("ผึ้ง", words("ผึ้ง")),
        ("꿀벌 Bienen пчёлы", ["꿀벌", "bienen", "пчёлы"]),
    ]
    for text, found in rows:
        assert terms(text) == found


def test_without_the_dictionary_pairs_of_characters_are_words() -> None:
    text = "蜜蜂在花丛中 bees"
    code = "import sys; sys.modules['rjieba'] = None; from crawler.page.text import terms"
    code += f"; print(ascii(terms({text!a})))"
    line = [sys.executable, "-c", code]
    ended = subprocess.run(line, env=environment(), capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert ended.stdout.strip() == ascii(words(text))


def test_the_dictionary_is_loaded_for_chinese_alone() -> None:
    code = "import sys; from crawler.page.text import terms; terms('bees, mañana, ミツ')"
    code += "; print('rjieba' in sys.modules)"
    line = [sys.executable, "-c", code]
    ended = subprocess.run(line, env=environment(), capture_output=True, encoding="utf-8", timeout=60, check=True)
    assert ended.stdout.strip() == "False"


def test_odd_text_takes_no_time() -> None:
    for text in ["蜜" * 300_000, "\ud800蜜蜂" * 1_000, "绿茶" * 200_000, "\U00020000" * 100_000]:
        started = time.process_time()
        assert all(terms(text))
        assert time.process_time() - started < 5
