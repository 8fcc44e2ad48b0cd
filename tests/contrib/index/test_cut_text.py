"""Text is cut between sentences, and else between words."""

from crawler.contrib.index.cut_text import cut_line, cut_text, sentences


def test_sentences() -> None:
    rows = [
        ("Bees dance. They hum! Why? So.", ["Bees dance. ", "They hum! ", "Why? ", "So."]),
        ("Dr. Ann paid 3.5 dollars, i.e. too much. Yes.", ["Dr. Ann paid 3.5 dollars, i.e. too much. ", "Yes."]),
        ("他说：“蜜蜂跳舞。”别的跟着。", ["他说：“蜜蜂跳舞。”", "别的跟着。"]),
        ("天黑了……蜂飞走；人来了！", ["天黑了……", "蜂飞走；", "人来了！"]),
        ("等等……”他走了。", ["等等……”", "他走了。"]),
        ("Well… then. Go.", ["Well… then. ", "Go."]),
        ("A line\\\nand another", ["A line\\\n", "and another"]),
        ("", []),
    ]
    for text, expected in rows:
        assert [*sentences(text)] == expected, text


def words(text: str) -> int:
    return len(text.split())


def test_a_text_is_cut_between_sentences_where_they_fit() -> None:
    text = "Bees dance in the dark. Others follow. They tell the way. " * 20
    pieces = [*cut_text(text, 30, words)]
    assert all(words(piece) <= 30 and piece.endswith(".") for piece in pieces)
    assert " ".join(pieces) == text.strip()


def test_a_sentence_is_cut_between_words_and_a_word_between_letters() -> None:
    rows = [("bees dance " * 100, words), ("蜜蜂" * 500, len), ("一，二、三：" * 100, len), ("x" * 999, len)]
    for line, count in rows:
        pieces = [*cut_line(line, 20, count)]
        assert "".join(pieces) == line
        assert max(map(count, pieces)) <= 20
    assert all(piece[-1] in "，、：" for piece in cut_line("一，二、三：" * 100, 20, len))


def test_a_counter_that_never_fits_ends() -> None:
    assert "".join(cut_line("bees" * 300, 20, lambda text: 21)) == "bees" * 300


def test_a_piece_begins_no_block() -> None:
    rows = [
        ("One. # two", ["One.", "\\# two"]),
        ("One. - two", ["One.", "\\- two"]),
        ("One. > two", ["One.", "\\> two"]),
        ("One two! 3. four", ["One two!", "3\\. four"]),
        ("One two\\\nthree", ["One two", "three"]),
    ]
    for text, expected in rows:
        assert [*cut_text(text, 2, words)] == expected
