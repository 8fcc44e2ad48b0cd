"""Pages that serve something else than to be read."""

import pytest

from crawler.metadata.page_purpose import SHORT, is_listing, is_login
from crawler.page.page import Extraction, Page

FIELD = "<form><input type='Password' name=p></form>"


@pytest.mark.parametrize(
    ("title", "path", "html", "length", "expected"),
    [
        ("Log in", "", FIELD, 0, True),
        ("Log in", "", FIELD, SHORT - 1, True),
        ("Log in", "", FIELD, SHORT, False),
        ("Nature", "index.php?title=Special:UserLogin&returnto=Bee", FIELD, 0, True),
        ("Nature", "wp-login.php?action=lostpassword", FIELD, 0, True),
        ("Anmelden", "", FIELD, 0, True),
        ("用户登录", "", FIELD, 0, True),
        ("Nature", "sign-in", FIELD, 0, True),
        ("Bees", "news/1", FIELD, 0, False),
        ("Signing bees", "blogs/inn", FIELD, 0, False),
        ("Log in", "", "<p>Choose a password of eight letters.</p>", 7, False),
        ("Log in", "", "<form><input name=password></form>", 0, False),
        ("Log in", "", "<form><input type=text></form>", 0, False),
    ],
)
def test_a_form_to_log_in(title: str, path: str, html: str, length: int, expected: bool) -> None:
    page = Page.from_html(f"<title>{title}</title>{html}", f"http://a.example/{path}")
    assert is_login(page, Extraction("w" * length, "")) is expected


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
        ("<body class='home blog single'>", False),
        ("<body class='home blog paged'>", True),
        ("<body class='blog'>", False),
        ("<body class='archive'>", False),
        ("<body class='archive date'>", True),
        ("<body class='search search-results'>", True),
        ("<body class='ns-14'>", False),
        ("<body class='blogging'>", False),
        ("<body>", False),
        ("", False),
        (data('"CollectionPage"', '"BreadcrumbList"'), True),
        (data('["CollectionPage"]'), True),
        (data('"CollectionPage"', '"Article"'), False),
        (data('"WebPage"', '"NewsArticle"'), False),
        (data('"CollectionPage"', '"HowTo"'), False),
        (data('"WebPage", "isPartOf": {"@type": "CollectionPage"}'), False),
    ],
)
def test_a_list_of_other_pages(html: str, expected: bool) -> None:
    assert is_listing(Page.from_html(html), Extraction("", "")) is expected


def post(number: int, text: str = "") -> str:
    return f"<article><h2><a href='/post/{number}'>Notes on bees, part {number}</a></h2><p>{text}</p></article>"


TEXT = "Honey bees keep their brood warm through the winter, and a cluster of workers turns by and by. " * 3


@pytest.mark.parametrize(
    ("html", "page_type", "expected"),
    [
        ("".join(post(number, TEXT) for number in range(3)), "", True),
        ("".join(post(number, TEXT) for number in range(3)), "article", False),
        ("".join(map(post, range(3))), "article", True),
        ("".join(post(number, TEXT) for number in range(2)), "", False),
        ("<h1>Tag: bees</h1>" + post(1), "", True),
        ("<h1>A note</h1><h2>Why</h2><h2>How</h2>" + post(1), "", False),
        (
            "".join(f"<h2 id=part-{number}><a href='?at=part-{number}'>Part {number}</a></h2>" for number in range(9)),
            "",
            False,
        ),
        (f"<h1>Winter</h1><p>{TEXT}</p><p>{TEXT}</p>" + "".join(map(post, range(5))), "", False),
        ("".join(post(1, TEXT) for _ in range(4)), "", False),
        ("".join(post(number, TEXT) for number in range(3)).replace("/post", "http://other.example"), "", False),
        ("".join(post(number, TEXT) for number in range(3)).replace("/post/", "#"), "", False),
        ("".join(post(number, TEXT) for number in range(4)) + "<h2>One</h2>" * 5, "", False),
    ],
)
def test_a_text_of_entries_is_a_list(html: str, page_type: str, expected: bool) -> None:
    page = Page.from_html(f"<body>{html}", "http://a.example/page/2")
    assert is_listing(page, Extraction("", "", page.blocks, page_type=page_type)) is expected
