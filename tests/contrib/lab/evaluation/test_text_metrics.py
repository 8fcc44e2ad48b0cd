import pytest

from crawler.contrib.lab.evaluation.gold import GoldPage
from crawler.contrib.lab.evaluation.text_metrics import (
    GRADES,
    RIGHT,
    LeafCounts,
    PageScorer,
    TextScore,
    grade,
    mean,
    size,
)


def scored(gold: str, output: str, html: str = "") -> TextScore:
    return PageScorer(GoldPage("1", "", "", "", html, gold)).score(output)


# Counted by hand: runs of four tokens, then single tokens.
def test_shares() -> None:
    rows = [
        ("a b c d e", "a b c d e", (1, 1), (1, 1, 1)),
        ("a b c d e", "a b c d x", (1 / 2, 1 / 2), (4 / 5, 4 / 5, 4 / 5)),
        ("a b c d e", "x a b c d e", (2 / 3, 1), (5 / 6, 1, 10 / 11)),
        ("a b c d e", "a b c d", (1, 1 / 2), (1, 4 / 5, 8 / 9)),
        ("a b c d e", "e d c b a", (0, 0), (1, 1, 1)),
        ("a b c d", "", (None, 0), (0, 0, 0)),
        ("", "a b", (0, None), (0, 0, 0)),
        ("", "", (1, 1), (1, 1, 1)),
        ("...", "?!", (1, 1), (1, 1, 1)),
        # Fewer than four tokens are one run.
        ("a a b", "a b b", (0, 0), (2 / 3, 2 / 3, 2 / 3)),
        ("a b", "a b", (1, 1), (1, 1, 1)),
        # A run counts as often as it is in both: a a a a is in the gold twice, in the output three times.
        ("a a a a a", "a a a a a a", (2 / 3, 1), (5 / 6, 1, 10 / 11)),
        # A Chinese, Japanese or Korean character is a token, whatever stands between.
        ("蜜蜂跳舞。", "蜜蜂，跳舞吗", (1 / 2, 1), (4 / 5, 1, 8 / 9)),
        ("한국 カナ", "한국カナ", (1, 1), (1, 1, 1)),
        ("iPhone很好用", "iphone 很 好", (0, 0), (1, 3 / 4, 6 / 7)),
        # Case, marks and line ends make no difference; an underscore joins.
        ("Don't STOP\nnow, bees", "don t stop now -- BEES", (1, 1), (1, 1, 1)),
        ("a_b", "a b", (0, 0), (0, 0, 0)),
    ]
    for gold, output, shingles, words in rows:
        score = scored(gold, output)
        assert (score.shingle_precision, score.shingle_recall) == shingles
        assert (score.precision, score.recall, score.f1) == pytest.approx(words)


def test_grades_have_limits() -> None:
    rows = [
        (0.9, 0.9, "excellent"),
        (0.89, 1.0, "good"),
        (0.7, 0.9, "good"),
        (0.69, 1.0, "medium"),
        (1.0, 0.89, "medium"),
        (0.5, 0.7, "medium"),
        (0.49, 1.0, "poor"),
        (1.0, 0.69, "poor"),
        (0.0, 0.0, "poor"),
    ]
    for precision, recall, name in rows:
        assert grade(precision, recall) == name
        assert list(GRADES) == ["excellent", "good", "medium", "poor"]


def test_rate_is_bytes_of_main_text_over_those_there_are() -> None:
    rows = [
        ("bees 蜂", "wasps 蜂", 3 / 7),
        ("bees 蜂", "bees", 4 / 7),
        ("bees 蜂", "bees 蜂 and much noise besides", 1),
        ("bees bees", "bees", 1 / 2),
        ("bees", "", 0),
        ("", "bees", None),
    ]
    for gold, output, rate in rows:
        assert scored(gold, output).rate == rate


PAGE = (
    "<ul><li>Home</li><li>Contact us</li></ul><h1>Bees dance</h1>"
    "<p>They <b>do</b> so at noon.</p><p>So do wasps at night.</p>"
)
GOLD = "Bees dance\nThey do so at noon.\nSo do wasps at night."


def test_leaves() -> None:
    rows = [
        (GOLD, LeafCounts(3, 3, 3)),
        ("", LeafCounts(0, 0, 3)),
        ("They do so at noon. So do wasps at night.", LeafCounts(2, 2, 3)),
        ("Home\nThey do so at noon.", LeafCounts(1, 2, 3)),
        # A short leaf has to be a line by itself, a long one only in the text.
        ("Home They do so at noon. And on.", LeafCounts(1, 1, 3)),
        ("Bees dance at home", LeafCounts(0, 0, 3)),
        ("They do so at", LeafCounts(0, 0, 3)),
    ]
    for output, leaves in rows:
        assert scored(GOLD, output, PAGE).leaves == leaves


def test_a_page_is_right_from_the_limit_on() -> None:
    gold = " ".join(f"w{number}" for number in range(10))
    assert RIGHT == 0.9
    assert scored(gold, gold.replace("w9", "x")).right  # 9 of 10 on both sides
    assert not scored(gold, gold.replace("w9", "x").replace("w8", "y")).right


def test_size_is_in_bytes() -> None:
    assert [size(text) for text in ("bees", "蜂", "\ud800", "")] == [4, 3, 1, 0]


def test_what_is_not_defined_is_left_out_of_averages() -> None:
    assert mean([1.0, None, 0.5]) == 0.75
    assert mean([None]) is None
