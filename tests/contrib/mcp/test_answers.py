"""What an answer has room for."""

import time

from crawler.contrib.index.chunk_size import estimated_tokens
from crawler.contrib.mcp.answers import FRAME_TOKENS, end_within, fitting, marked, one_line


def test_a_text_ends_between_words_or_lines() -> None:
    text = "one two three\nfour five six seven\n"
    cases = [(0, 0), (1.5, 4), (4, 14), (5.5, 19), (8, 28), (9.5, len(text)), (99, len(text))]
    assert [(most, end_within(text, 0, len(text), most)) for most, _ in cases] == cases


def test_what_was_left_out_can_be_read_to_the_end() -> None:
    text = "x" * 999 + "\n蜜蜂 " * 300 + " " * 999
    parts = []
    start = 0
    while start < len(text):
        end = end_within(text, start, len(text), 10)
        parts.append(text[start:end])
        assert estimated_tokens(parts[-1]) <= 10
        start = end
    assert "".join(parts) == text


def test_as_many_entries_as_fit_and_one_in_any_case() -> None:
    room = FRAME_TOKENS + 4
    assert fitting(["蜜蜂", "跳舞", "蜂"], room) == ["蜜蜂", "跳舞"]
    assert fitting(iter(["蜜" * 500, "蜂"]), room) == ["蜜" * 500]
    assert fitting([], room) == []


def test_a_line_has_no_control_characters() -> None:
    assert one_line("a\x1b[2J\u202eb\nc") == "a\\x1b[2J\\u202eb c"
    assert one_line(None) == ""
    assert one_line("x" * 10_000_000, 5) == "xxxxx…"


def test_the_marks_of_two_answers_differ() -> None:
    first, second = (marked("text", "note").splitlines() for _ in range(2))
    assert first[1] == first[3] != second[1]
    assert (first[2], first[4]) == ("text", "note")


def test_a_huge_text_takes_a_moment() -> None:
    began = time.process_time()
    assert end_within("a b " * 2_500_000, 0, 10_000_000, 20_000) < 100_000
    assert time.process_time() - began < 2
