import numpy as np
import pytest

from crawler.extraction.auto.model import BlockJudgement
from crawler.extraction.auto.whole_tables_and_lists import (
    LEAST_CARDS,
    LIKELY_AFTER_TEXT,
    LIKELY_ALONE,
    LIKELY_CARDS,
    MAX_HEADING,
    WORDS_OF_CARD,
    wholes,
)
from crawler.page.page import Page


def judgement(number: int, page_type: str = "article", likely: float = 0.5, words: float = 1) -> BlockJudgement:
    """That of a page whose blocks have the same number of words and are as likely main text."""
    return BlockJudgement(np.full(number, likely, np.float32), np.full(number, words, np.float32), page_type)


def kept(html: str, chosen: set[str]) -> str:
    """The blocks that are kept of a page if these words would be, each block one word."""
    page = Page.from_html(html)
    flags = [block.text in chosen for block in page.blocks]
    return " ".join(page.blocks[index].text for index in wholes(page, flags, judgement(len(flags), likely=0.1)))


def table(*rows: str) -> str:
    return f"<table>{''.join('<tr>' + ''.join(f'<td>{cell}</td>' for cell in row) + '</tr>' for row in rows)}</table>"


def test_tables_and_lists_are_whole() -> None:
    rows = [
        (table("ab", "cd", "ef"), "ab", "a b c d e f"),  # enough of a table
        (table("ab", "cd", "ef"), "a", ""),
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", "xy", "x a b c d e f y"),  # in the midst of the text
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", "xa", "x"),
        ("<table><caption>x</caption><tr><td>a<td>b<tr><td>c<td>d</table>", "ab", "x a b c d"),
        (table("a", "b", "c"), "a", "a"),  # one column is a layout
        (f"<table><tr><td>a{table('bc', 'de')}</td></tr></table>", "abd", "a b c d e"),  # the inner one has the data
        ("<table><tr><td>a<p>b<p>c<p>d</td><td>e</td></tr><tr><td>f</td><td>g</td></tr></table>", "abcd", "a b c d"),
        (
            "<table><tr><td>a<p>b<p>c<p>d</td><td>e</td></tr><tr><td>f</td><td>g</td></tr></table>",
            "abcdf",
            "a b c d f g",
        ),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a", "a b"),  # a single row
        ("<ul><li>a<li>b<li>c</ul>", "a", "a b c"),
        ("<ol><li>a<li>b<li>c<li>d</ol>", "a", ""),
        ("<p>x<ol><li>a<li>b<li>c<li>d</ol><p>y", "xay", "x a b c d y"),
        ("<p>x<ol><li>a<li>b<li>c<li>d</ol><p>y", "xy", "x y"),
        ("<ul><li>a<p>b<p>c<li>d</ul>", "bcd", "b c d"),  # long items are no list of words
        ("<p>a</p><p>b</p><p>c</p>", "ab", "a b"),
    ]
    for html, chosen, expected in rows:
        assert kept(html, set(chosen)) == expected


def test_tables_and_code_after_the_text() -> None:
    rows = [
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", LIKELY_AFTER_TEXT + 0.01, "x", "x a b c d e f"),
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", LIKELY_AFTER_TEXT - 0.01, "x", "x"),
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", LIKELY_AFTER_TEXT + 0.01, "y", "y"),
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", LIKELY_ALONE + 0.01, "y", "a b c d e f y"),
        (f"<p>x</p>{table('ab', 'cd', 'ef')}<p>y</p>", LIKELY_ALONE - 0.01, "y", "y"),
        (f"<p>x</p>{table('ab')}<p>y</p>", LIKELY_AFTER_TEXT - 0.01, "xy", "x a b y"),  # a single row
        (f"<p>x</p><p>y</p>{table('ab', 'cd', 'ef')}", LIKELY_AFTER_TEXT + 0.01, "x", "x"),
        ("<p>x</p><pre>a<br>b</pre>", LIKELY_AFTER_TEXT + 0.01, "x", "x a b"),
        ("<p>x</p><pre>a<br>b</pre>", LIKELY_AFTER_TEXT - 0.01, "x", "x"),
        ("<p>x</p><pre>a<br>b</pre><p>y", LIKELY_AFTER_TEXT - 0.01, "xy", "x a b y"),
        ("<p>x</p><pre>a<br>b<br>c<br>d</pre>", LIKELY_AFTER_TEXT - 0.01, "xabc", "x a b c d"),
        ("<p>x<ol><li>a<li>b</ol>", LIKELY_AFTER_TEXT + 0.01, "x", "x"),
    ]
    for html, likely, chosen, expected in rows:
        page = Page.from_html(html)
        flags = [block.text in chosen for block in page.blocks]
        places = wholes(page, flags, judgement(len(flags), likely=likely))
        assert " ".join(page.blocks[index].text for index in places) == expected


def test_labels_and_values_belong_together() -> None:
    rows = [
        ("<dl><dt>Size</dt><dd>L</dd><dt>Colour</dt><dd>red</dd></dl>", [3], [2, 3]),
        ("<dl><dt>Size</dt><dd>L</dd></dl>", [0], [0, 1]),
        ("<dl><dt><a href=/>Size</a></dt><dd>L</dd></dl>", [1], [1]),
        (f"<dl><dt>a</dt><dd>{'x' * 81}</dd></dl>", [0], [0]),
        (f"<dl><dt>a</dt><dd>{'x' * 80}</dd></dl>", [0], [0, 1]),
        ("<p>a</p><p>b</p>", [0], [0]),
    ]
    for html, chosen, expected in rows:
        page = Page.from_html(html)
        flags = [index in chosen for index in range(len(page.blocks))]
        assert wholes(page, flags, judgement(len(flags))) == expected


def test_what_is_not_judged_stays_out() -> None:
    page = Page.from_html(table("ab", "cd", "ef"))
    assert wholes(page, [True, True, False], judgement(3)) == [0, 1]


def card(number: int) -> str:
    return f"<div class=card><h3>Head {number}</h3><p>Words {number}</p></div>"


def test_cards_of_a_list() -> None:
    rows = [
        ("listing", LEAST_CARDS, LIKELY_CARDS + 0.01, WORDS_OF_CARD, True),
        ("", LEAST_CARDS, LIKELY_CARDS + 0.01, WORDS_OF_CARD, True),
        ("article", LEAST_CARDS, LIKELY_CARDS + 0.01, WORDS_OF_CARD, False),
        ("listing", LEAST_CARDS - 1, LIKELY_CARDS + 0.01, WORDS_OF_CARD, False),
        ("listing", LEAST_CARDS, LIKELY_CARDS - 0.01, WORDS_OF_CARD, False),
        ("listing", LEAST_CARDS, LIKELY_CARDS + 0.01, WORDS_OF_CARD / 2 - 0.1, False),
    ]
    for page_type, cards, likely, words, are_kept in rows:
        page = Page.from_html(f"<h1>List</h1><main>{''.join(map(card, range(cards)))}</main>")
        flags = [True] + [False] * (2 * cards)
        found = wholes(page, flags, judgement(len(flags), page_type, likely, words))
        assert found == (list(range(len(flags))) if are_kept else [0])


@pytest.mark.parametrize(("paragraphs", "are_kept"), [(4, True), (5, False)])
def test_cards_beside_a_text_are_teasers(paragraphs: int, are_kept: bool) -> None:
    page = Page.from_html(f"{'<p>Text.</p>' * paragraphs}<main>{''.join(map(card, range(4)))}</main>")
    flags = [True] * paragraphs + [False] * 8
    found = wholes(page, flags, judgement(len(flags), "listing", 0.5, WORDS_OF_CARD))
    assert (len(found) == len(flags)) is are_kept


def test_a_heading_needs_something_under_it() -> None:
    rows = [
        ("<p>a<h2>b</h2>", "article", "a"),
        ("<p>a<h2>b</h2>", "listing", "a b"),
        ("<p>a<h2>b</h2><p>c", "article", "a b c"),
        ("<p>a<h2>b</h2><h3>c</h3><p>d", "article", "a b c d"),
        ("<p>a<h2>b</h2><h3>c</h3>", "article", "a"),
        ("<h3>a</h3><h3>b</h3><p>c", "article", "b c"),
        ("<h3>a</h3><h2>b</h2><p>c", "article", "b c"),
        (f"<p>a<h2>{'b' * MAX_HEADING}</h2>", "article", "a"),
        (f"<p>a<h2>{'b' * (MAX_HEADING + 1)}</h2>", "article", f"a {'b' * (MAX_HEADING + 1)}"),
        ("<h1>a</h1>", "article", "a"),
    ]
    for html, page_type, expected in rows:
        page = Page.from_html(html)
        places = wholes(page, [True] * len(page.blocks), judgement(len(page.blocks), page_type))
        assert " ".join(page.blocks[index].text for index in places) == expected
