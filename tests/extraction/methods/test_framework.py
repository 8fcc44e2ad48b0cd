"""Shi's branches one by one, on each side of each limit, his four rules, and the rule of the fewer paragraphs."""

import pytest

from crawler.extraction.methods.framework import DEFAULT, LayoutLimits, Length, framework, length
from crawler.page.html_tree import Element
from crawler.page.page import Page

PAPER = LayoutLimits(divs=False)
WIDE, NARROW = f"width={DEFAULT.width + 1}", f"width={DEFAULT.width}"


def table(attributes: str, inside: str) -> str:
    return f"<table {attributes}><tr><td>{inside}</td></tr></table>"


def text(html: str, limits: LayoutLimits = DEFAULT) -> str:
    return framework(Page.from_html(html), limits).text


def test_every_branch() -> None:
    rows = [
        # No width, no height, or a height alone: nothing speaks against the table.
        ("", True),
        ("height=5", True),
        ("height=5%", True),
        # One is missing, and the width is no percentage: delta1.
        (WIDE, True),
        (NARROW, False),
        (f'width="{DEFAULT.width + 1}px"', True),
        (f'width="{DEFAULT.width}px"', False),
        # Both are there, and the width is a percentage: delta2, whatever the height.
        (f"width={DEFAULT.width_percent + 1}% height=5", True),
        (f"width={DEFAULT.width_percent}% height=900", False),
        (f"width={DEFAULT.width_percent + 1}% height=5%", True),
        (f"width={DEFAULT.width_percent}% height=100%", False),
        # A percentage without a height, which the paper leaves out: delta2 too.
        (f"width={DEFAULT.width_percent + 1}%", True),
        (f"width={DEFAULT.width_percent}%", False),
        # Both are there, and the height is a percentage: delta3, whatever the width.
        (f"width=5 height={DEFAULT.height_percent + 1}%", True),
        (f"width=900 height={DEFAULT.height_percent}%", False),
        # Two numbers: neither long and low nor high and narrow.
        ("width=499 height=100", True),
        ("width=500 height=100", False),
        ("width=100 height=499", True),
        ("width=100 height=500", False),
        ("width=900 height=0", False),
        ("width=0 height=0", False),
        # What is no length is not there.
        ("width=* height=auto", True),
    ]
    for limits in [DEFAULT, PAPER]:
        for attributes, is_kept in rows:
            assert text(table(attributes, "<p>One.</p>"), limits) == "One." * is_kept


def test_every_limit_counts() -> None:
    rows = [
        LayoutLimits(width=50),
        LayoutLimits(width_percent=5),
        LayoutLimits(height_percent=5),
        LayoutLimits(aspect=50),
    ]
    for limits in rows:
        sizes = ["width=60", "width=6% height=1", "width=1 height=6%", "width=490 height=10"]
        assert [text(table(size, "<p>One.</p>")) for size in sizes] == [""] * 4
        assert sum(text(table(size, "<p>One.</p>"), limits) == "One." for size in sizes) == 1


def test_rule_1_paragraphs() -> None:
    rows = [
        ("<p>One.</p>", True),
        ("One.<br>Two.", True),
        ("<font>One.<br>Two.</font>", True),
        ("One.", False),
        ("<b>One.</b>", False),
        ("<p><img src=x></p>", False),
        # Where half of a line is linked it is a paragraph still.
        ("<p>abcd<a href=x>efgh</a></p>", True),
        ("<p>abcd<a href=x>efghi</a></p>", False),
        ("<a href=x>One.</a><br><a href=y>Two.</a>", False),
    ]
    for inside, is_kept in rows:
        html = table(WIDE, inside)
        assert (text(html) != "") == is_kept
        assert (text(html, PAPER) != "") == is_kept


def test_rule_2_the_larger_percentage_is_main_text() -> None:
    assert text(table("width=80%", "<p>Main.</p>") + table("width=20%", "<p>Side.</p>")) == "Main."


def test_rule_3_one_level_of_nested_tables() -> None:
    rows = [
        ("<p>a<p>b", "<p>c", "a\nb"),
        ("<p>a", "<p>b<p>c", "b\nc"),
        # As many on both levels: the longer ones.
        ("<p>a", "<p>bb", "bb"),
        ("<p>aa", "<p>b", "aa"),
    ]
    for outer, inner, kept in rows:
        assert text(table("", f"{outer}{table('', inner)}"), PAPER) == kept


def test_rule_3_holds_for_neighbours_of_one_level() -> None:
    inner = table("", "<p>a<p>b") + table("", "<p>c")
    assert text(table("", f"{inner}<p>d"), PAPER) == "a\nb\nc"


def test_rule_4_pages_without_tables() -> None:
    rows = [
        ("<body><p>One.</p></body>", "One."),
        ("One.<br>Two.", "One.\nTwo."),
        ("One.", ""),
        ("<ul><li>One<li>Two</ul>", ""),
        # What stands outside all tables is a part like them, on a level of its own.
        (f"<p>One.<p>Two.{table('', '<p>Three.')}", "One.\nTwo."),
        (f"<p>One.{table('', '<p>Two.<p>Three.')}", "Two.\nThree."),
    ]
    for html, kept in rows:
        assert text(html, PAPER) == kept
        assert text(html) == kept


@pytest.mark.parametrize(("paragraphs", "is_kept"), [(1, False), (2, True)])
def test_noise_has_fewer_paragraphs(paragraphs: int, is_kept: bool) -> None:
    html = table("", "<p>a" * 10) + table("", "<p>b" * paragraphs)
    assert ("b" in text(html)) == is_kept
    assert ("b" in text(html, LayoutLimits(tie=0.1))) is True


def test_the_last_branch_pages_without_paragraphs() -> None:
    rows = [
        ("width=301 height=301", True),
        ("width=300 height=301", False),
        ("width=301 height=300", False),
        ("width=1600 height=320", False),
        ("width=51% height=51%", True),
        ("width=50% height=51%", False),
        ("width=51% height=50%", False),
        ("width=301 height=51%", True),
        ("width=301 height=50%", False),
        ("width=300 height=51%", False),
        ("width=51% height=301", True),
        ("width=51% height=300", False),
        ("width=50% height=301", False),
        ("width=600", False),
        ("", False),
    ]
    for attributes, is_kept in rows:
        html = table(attributes, "<a href=x>One</a>") + table("width=120 height=600", "<a href=y>Two</a>")
        assert text(html) == "One" * is_kept
        assert text(html + table("", "<p>Three.")) == "Three."


def test_the_extension_to_divs() -> None:
    rows = [
        ("<div><p>a<p>b</div><div>c</div>", "a\nb"),
        # Divs may nest: their depth is not the level of rule iii.
        ("<div><p>a</div><div><div><p>b</div></div>", "a\nb"),
        ("<nav><p>a</nav><header><p>b</header><aside><p>c</aside><footer><p>d</footer>", ""),
        ("<footer><div><p>a</div></footer><div><p>b</div>", "b"),
        ("<div style='width: 300px'><p>a</div><div style='WIDTH:301px'><p>b</div>", "b"),
        ("<div style='max-width: 300px'><p>a</div>", "a"),
        ("<div style='width: 50%; height: 900px'><p>a</div><div style='color: red; width: 51%'><p>b</div>", "b"),
        ("<div style='width: 10em'><p>a</div>", "a"),
        ("<table width=301 style='width: 5px'><tr><td><p>a</table>", "a"),
    ]
    for html, kept in rows:
        assert text(html) == kept


def test_divs_are_no_parts_without_the_extension() -> None:
    html = "<div><p>a<p>b</div><div>c</div><nav>d</nav>"
    assert text(html, PAPER) == "a\nb\nc\nd"
    assert text(html) == "a\nb"


def test_a_div_in_a_table_is_on_the_level_of_the_table() -> None:
    assert text(table("", "<p>a<p>b<div><p>c</div>")) == "a\nb\nc"


def test_edges_are_of_the_extension() -> None:
    html = f"<nav>{table('', '<p>One.')}</nav>"
    assert text(html, PAPER) == "One."
    assert text(html) == ""


def test_an_old_page() -> None:
    """A page of Shi's Fig. 1: a banner, a menu at the side, the text in the middle, a notice below."""
    banner = table("width=760 height=60", "<p>Buy this.</p>")
    menu = table("width=120", "<a href=1>One</a><br><a href=2>Two</a><br><p>Say hello.</p>")
    middle = table('width="98%"', "<h1>Head</h1><p>It rained.<p>Then it stopped.<p>Nobody knew why.")
    notice = table("width=760", "<p>All rights reserved.</p>")
    page = f"<body>{banner}{table('width=760', f'{menu}</td><td>{middle}')}{notice}</body>"
    for limits in (DEFAULT, PAPER):
        assert text(page, limits) == "Head\nIt rained.\nThen it stopped.\nNobody knew why."


def test_lengths() -> None:
    rows = [
        ("560", Length(560)),
        (" 560px ", Length(560)),
        ("560.5", Length(560)),
        ("75%", Length(75, is_percent=True)),
        ("75.5 %", Length(75, is_percent=True)),
        ("*", None),
        ("", None),
        ("2*", None),
        ("12em", None),
        ("123456", None),
    ]
    for given, read in rows:
        element: Element = Page.from_html(f'<table width="{given}">').root.find(".//table")
        assert length(element, "width") == read
        assert length(element, "height") is None
