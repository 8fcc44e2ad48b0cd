"""A page's sections have the headings above them, and the anchors of these."""

from crawler.contrib.index.page_sections import LONGEST_HEADING, HeadingAnchor, heading_text, page_sections


def outline(markdown: str, title: str = "T") -> list[tuple[str, str]]:
    return [
        ("/".join(section.headings), " ".join(block.text for block in section.blocks))
        for section in page_sections(markdown, title)
    ]


def test_headings_above() -> None:
    rows = [
        ("# T\n\na", [("T", "a")]),
        ("a", [("T", "a")]),
        ("# Other\n\na", [("T/Other", "a")]),
        ("# T\n\n## A\n\n1\n\n### B\n\n2\n\n## C\n\n3", [("T/A", "1"), ("T/A/B", "2"), ("T/C", "3")]),
        ("# T\n\n#### A\n\n1\n\n## B\n\n2\n\n# C\n\n3", [("T/A", "1"), ("T/B", "2"), ("T/C", "3")]),
        ("# T\n\n```\n# a\n```", [("T", "```\n# a\n```")]),
        ("- ## A\n\n  1\n- ## B\n\n  2", [("T/A", "1"), ("T/B", "2")]),
        ("> ## A\n>\n> 1", [("T/A", "1")]),
        ("- 1\n  ```\n  # a\n  ```", [("T", "- 1\n  ```\n  # a\n  ```")]),
        ("", []),
    ]
    for markdown, expected in rows:
        assert outline(markdown) == expected, markdown


def test_a_heading_without_text_is_not_lost() -> None:
    rows = [
        ("# T", [("T", "# T")]),
        ("# T\n\n## A\n\n### B\n\n1\n\n## C", [("T/A/B", "1"), ("T/C", "## C")]),
        ("# T\n\n## A\n\n## B\n\n1", [("T/A", "## A"), ("T/B", "1")]),
    ]
    for markdown, expected in rows:
        assert outline(markdown) == expected, markdown


def test_the_time_for_markers_without_headings_does_not_explode() -> None:
    lines = ("-" + " " * 9) * 20 + "a"
    assert outline(lines) == [("T", lines)]


def test_no_title() -> None:
    assert outline("a\n\n## A\n\n1", "") == [("", "a"), ("A", "1")]


def test_a_long_heading_is_shortened_and_its_text_kept() -> None:
    for length in (LONGEST_HEADING, LONGEST_HEADING + 1):
        [(headings, text)] = outline(f"## {'a' * length}\n\n1")
        is_long = length > LONGEST_HEADING
        assert len(headings) == len("T/") + LONGEST_HEADING
        assert text == (f"## {'a' * length} 1" if is_long else "1")


def test_the_text_of_a_heading() -> None:
    rows = [
        ("# a", "a"),
        ("## `a_b` \\*c\\* *d*", "a_b *c* d"),
        ("## 2 * 3 [x](https://example.org/?a=b) ![y](z)", "2 * 3 x y"),
        ("## a[^1]", "a"),
        ("## \\[a\\]", "[a]"),
    ]
    for line, text in rows:
        assert heading_text(line) == text


def anchors_of(markdown: str, *headings: tuple[str, str]) -> list[str]:
    known = [HeadingAnchor(text=text, anchor=anchor) for text, anchor in headings]
    return [section.anchor for section in page_sections(markdown, "T", known)]


def test_the_anchor_is_that_of_the_nearest_heading() -> None:
    markdown = "# T\n\n0\n\n## A\n\n1\n\n### B\n\n2\n\n## B\n\n3"
    rows = [
        ([("T", "t"), ("A", "a"), ("B", "b1"), ("B", "b2")], ["t", "a", "b1", "b2"]),
        ([("T", "t"), ("A", "a"), ("B", ""), ("B", "b2")], ["t", "a", "a", "b2"]),
        ([("A", "a"), ("B", "b1")], ["", "a", "a", ""]),
        ([("B", "menu"), ("A", "a"), ("B", "b1"), ("B", "b2")], ["", "a", "a", ""]),
        ([], ["", "", "", ""]),
    ]
    for headings, expected in rows:
        assert anchors_of(markdown, *headings) == expected, headings
