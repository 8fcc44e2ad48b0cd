"""Pages that serve something else than to be read."""

import pytest

from crawler.metadata.page_purpose import FEW_WORDS, is_listing, is_login
from crawler.page.page import Extraction, Page

FIELD = "<form><input type='Password' name=p></form>"


@pytest.mark.parametrize(
    ("html", "words", "expected"),
    [
        (FIELD, 0, True),
        (FIELD, FEW_WORDS - 1, True),
        (FIELD, FEW_WORDS, False),
        ("<p>Choose a password of eight letters.</p>", 7, False),
        ("<form><input name=password></form>", 0, False),
        ("<form><input type=text></form>", 0, False),
    ],
)
def test_a_form_to_log_in(html: str, words: int, expected: bool) -> None:
    assert is_login(Page.from_html(html), Extraction("word " * words, "")) is expected


def data(*types: str) -> str:
    graph = ",".join(f'{{"@type": {one}}}' for one in types)
    return f'<script type="application/ld+json">{{"@graph": [{graph}]}}</script>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<body class='archive category category-birds'>", True),
        ("<body class='home blog'>", True),
        ("<body class='mediawiki ltr ns-14 ns-subject'>", True),
        ("<body class='mediawiki ltr ns-0 ns-subject'>", False),
        ("<body class='single single-post'>", False),
        ("<body class='blog single'>", False),
        ("<body class='blogging'>", False),
        ("<body>", False),
        ("", False),
        (data('"CollectionPage"', '"BreadcrumbList"'), True),
        (data('["CollectionPage"]'), True),
        (data('"CollectionPage"', '"Article"'), False),
        (data('"WebPage"', '"NewsArticle"'), False),
    ],
)
def test_a_list_of_other_pages(html: str, expected: bool) -> None:
    assert is_listing(Page.from_html(html)) is expected
