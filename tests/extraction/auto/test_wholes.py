import numpy as np
import pytest

from crawler.extraction.auto.wholes import wholes
from crawler.page.page import Page


def kept(html: str, chosen: set[str]) -> str:
    """The blocks that are kept of a page if these words would be, each block one word."""
    page = Page.from_html(html)
    flags = [block.text in chosen for block in page.blocks]
    return " ".join(page.blocks[index].text for index in wholes(page, flags, np.ones(len(flags), np.float32)))


def table(*rows: str) -> str:
    return f"<table>{''.join('<tr>' + ''.join(f'<td>{cell}</td>' for cell in row) + '</tr>' for row in rows)}</table>"


@pytest.mark.parametrize(
    ("html", "chosen", "expected"),
    [
        (table("ab", "cd", "ef"), "ab", "a b c d e f"),  # enough of a table
        (table("ab", "cd", "ef"), "a", ""),
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", "xy", "x a b c d e f y"),  # in the midst of the text
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", "xa", "x"),
        ("<table><caption>x</caption><tr><td>a<td>b<tr><td>c<td>d</table>", "ab", "x a b c d"),
        (table("a", "b", "c"), "a", "a"),  # one column is a layout
        (f"<table><tr><td>a{table('bc', 'de')}</td></tr></table>", "abd", "a b c d e"),  # the inner one has the data
        ("<table><tr><td>a<p>b<p>c<p>d</td><td>e</td></tr><tr><td>f</td><td>g</td></tr></table>", "abcdf", "a b c d f"),
        ("<ul><li>a<li>b<li>c</ul>", "a", "a b c"),
        ("<ol><li>a<li>b<li>c<li>d</ol>", "a", ""),
        ("<p>x<ol><li>a<li>b<li>c<li>d</ol><p>y", "xay", "x a b c d y"),
        ("<p>x<ol><li>a<li>b<li>c<li>d</ol><p>y", "xy", "x y"),
        ("<ul><li>a<p>b<p>c<li>d</ul>", "bcd", "b c d"),  # long items are no list of words
        ("<p>a</p><p>b</p><p>c</p>", "ab", "a b"),
    ],
)
def test_tables_and_lists_are_whole(html: str, chosen: str, expected: str) -> None:
    assert kept(html, set(chosen)) == expected


@pytest.mark.parametrize(
    ("html", "chosen", "expected"),
    [
        ("<dl><dt>Size</dt><dd>L</dd><dt>Colour</dt><dd>red</dd></dl>", [3], [2, 3]),
        ("<dl><dt>Size</dt><dd>L</dd></dl>", [0], [0, 1]),
        ("<dl><dt><a href=/>Size</a></dt><dd>L</dd></dl>", [1], [1]),
        (f"<dl><dt>a</dt><dd>{'x' * 81}</dd></dl>", [0], [0]),
        (f"<dl><dt>a</dt><dd>{'x' * 80}</dd></dl>", [0], [0, 1]),
        ("<p>a</p><p>b</p>", [0], [0]),
    ],
)
def test_labels_and_values_belong_together(html: str, chosen: list[int], expected: list[int]) -> None:
    page = Page.from_html(html)
    flags = [index in chosen for index in range(len(page.blocks))]
    assert wholes(page, flags, np.ones(len(flags), np.float32)) == expected


def test_what_is_not_judged_stays_out() -> None:
    page = Page.from_html(table("ab", "cd", "ef"))
    assert wholes(page, [True, True, False], np.ones(3, np.float32)) == [0, 1]
