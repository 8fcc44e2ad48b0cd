from crawler.extraction.methods.slope_and_max_text import (
    WINDOW,
    Tokens,
    flat_lines,
    mean_tags,
    slope,
    tags_around,
    tokenize,
)
from crawler.page.page import Page

TAGS = "<i></i>" * WINDOW  # two windows of nothing but tags


def words(number: int) -> str:
    return " ".join(["word"] * number)


def test_tokens() -> None:
    rows = [
        ("", [], [0], 1),
        ("one two", [("one two", 0, 2)], [2], 3),
        ("<p>one <b>two</b></p>three", [("one two", 1, 5), ("three", 6, 7)], [0, 2, 4, 5, 7], 8),
        ("<p>one <a href='two three'>four</a>", [("one four", 1, 5)], [0, 2, 4, 5], 6),
        ("<p>one<br>two", [("one", 1, 2), ("two", 3, 4)], [0, 2, 4], 5),
        ("<p>一二三</p>", [("一二三", 1, 3)], [0, 3, 4], 5),
        ("<p>one<!-- <b>two</b> --> three", [("one three", 1, 3)], [0, 3], 4),
        ("<script>one two</script><p>three", [("three", 2, 3)], [0, 1, 3], 4),
        ("<p>Fish &amp; chips", [("Fish & chips", 1, 4)], [0, 4], 5),
        ("<p> &nbsp; </p>", [], [0, 2, 3], 4),
    ]
    for html, lines, tags, size in rows:
        # The last tag is the end of the source.
        assert tokenize(html) == Tokens(lines, tags, size)


def test_the_mean() -> None:
    rows = [([], WINDOW, 0), ([0, 1], WINDOW, 2), ([0, 1], WINDOW // 2, 2), ([0, 1], 4 * WINDOW, 0.5)]
    for tags, size, mean in rows:
        assert mean_tags(Tokens([], tags, size)) == mean


def test_the_window_around_a_token() -> None:
    rows = [
        (0, 2),  # before the middle of the first window it is that window
        (WINDOW // 2, 2),
        (WINDOW // 2 + 1, 2),
        (WINDOW + WINDOW // 2, 1),
        (WINDOW + WINDOW // 2 + 1, 0),
        (4 * WINDOW + WINDOW // 2 - 1, 1),
        (4 * WINDOW + WINDOW // 2, 2),
        (5 * WINDOW, 2),  # and after the middle of the last one that
    ]
    for place, count in rows:
        tokens = Tokens([], [0, WINDOW - 1, WINDOW, 4 * WINDOW, 5 * WINDOW - 1], 5 * WINDOW)
        assert tags_around(place, tokens) == count


def test_text_is_kept_where_there_are_few_tags() -> None:
    rows = [
        (words(WINDOW), True),
        (f"{words(WINDOW)} <a href=x>word</a>", True),
        ("word<br>" * WINDOW, False),
        ("<a href=x>word</a> " * WINDOW, False),
    ]
    for line, is_kept in rows:
        assert ("word" in slope(Page.from_html(f"{TAGS}<p>{line}</p>{TAGS}")).text) == is_kept


def test_below_half_of_the_mean_and_not_at_it() -> None:
    for here, is_flat in [(0, True), (3, True), (4, False), (8, False)]:
        # 16 tags in two windows: 8 is the mean.
        tags = [*range(here), *range(WINDOW, WINDOW + 16 - here)]
        assert flat_lines(Tokens([("line", 0, WINDOW)], tags, 2 * WINDOW)) == ["line"] * is_flat


def test_a_page_of_one_window_has_no_slope() -> None:
    assert slope(Page.from_html("<p>It rains.</p>")).text == ""


def test_blocks_are_those_that_are_whole_lines() -> None:
    page = Page.from_html(f"{TAGS}<p>{words(WINDOW)} <a href=x>more</a></p>{TAGS}<p>Left.")
    assert slope(page).text == f"{words(WINDOW)} more"
    assert slope(page).blocks == page.blocks[:1]
