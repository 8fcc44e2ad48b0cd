"""Whose text a page has, by its title, its canonical address and the heading of its text."""

import pytest

from crawler.extraction.auto import auto
from crawler.metadata.text_owner import MOST_ABOVE, MOST_PARAMETERS, TextOwner, owner_rank, text_owner
from crawler.page.page import Extraction, Page

SITE = "http://a.example"
URL = f"{SITE}/posts/dance/"
BODY = "".join(
    f"<p>{words} The bees dance in the dark of the hive, and nobody sees them there.</p>" for words in "abcdef"
)
ITSELF, UNKNOWN, ANOTHER = TextOwner


def article(heading: str, title: str = "How bees dance - A blog", head: str = "", above: str = "") -> str:
    return f"<title>{title}</title>{head}<body><article>{heading}{above}{BODY}</article></body>"


def canonical(url: str) -> str:
    return f"<link rel=canonical href='{url}'>"


def test_whose_text_a_page_has() -> None:
    rows = [
        (article("<h1>How bees dance</h1>"), ITSELF),
        (article("<h1>How bees dance</h1>", "HOW BEES DANCE!"), ITSELF),
        (article("<h1>How bees dance</h1>", "A blog"), UNKNOWN),
        (article("<h1>How bees dance</h1>", "", canonical("/posts/dance")), UNKNOWN),
        (article(""), UNKNOWN),
        (article("<h2><a href=/posts/dance>How bees dance</a></h2>"), ITSELF),
        (article("<h2><a href=/posts/dance#top>How bees dance</a></h2>", "A blog"), UNKNOWN),
        (article("<h2><a href=/>How bees dance</a></h2>"), ITSELF),
        (article("<h2><a href=/posts/dance-2>How bees dance</a></h2>"), ANOTHER),
        (article("<h2><a href=/posts/dance-2>How bees dance</a></h2>", "Archive"), ANOTHER),
        (article("<h2>How bees dance <a href=/edit>Edit</a></h2>"), UNKNOWN),
        (article("<h1>How bees dance</h1>", head=canonical("/posts/dance")), ITSELF),
        (article("<h1>How bees dance</h1>", head=canonical("https://A.example/posts/dance#text")), ITSELF),
        (article("<h1>How bees dance</h1>", head=canonical("/posts/dance?page=1")), ANOTHER),
        (article("<h1>How bees dance</h1>", head=canonical("/posts/")), ANOTHER),
        (article("<h1>How bees dance</h1>", head=canonical("http://b.example/dance")), ANOTHER),
        ("<title>Empty</title>", UNKNOWN),
    ]
    for html, expected in rows:
        page = Page.from_html(html, URL)
        assert text_owner(page, auto(page)) is expected


@pytest.mark.parametrize(("lines", "expected"), [(MOST_ABOVE - 1, ANOTHER), (MOST_ABOVE, UNKNOWN)])
def test_the_heading_may_stand_above_the_text(lines: int, expected: TextOwner) -> None:
    above = "<h2><a href=/posts/other>A title</a></h2>" + lines * "<div>line</div>"
    page = Page.from_html(f"<title>A blog</title><body>{above}{BODY}</body>", URL)
    kept = tuple(block for block in page.blocks if block.tag == "p")
    assert text_owner(page, Extraction("Bees.", "", blocks=kept)) is expected


def test_the_text_of_a_printed_form_is_that_of_the_page() -> None:
    page = Page.from_html(article("<h1><a href=/posts/dance/>How bees dance</a></h1>"), f"{URL}print/")
    assert text_owner(page, auto(page)) is ANOTHER


def test_which_page_comes_first() -> None:
    rows = [
        ((ITSELF, f"{URL}?p=1&q=2"), (UNKNOWN, URL)),
        ((UNKNOWN, f"{URL}?" + "&".join(200 * ["p=1"])), (ANOTHER, URL)),
        ((UNKNOWN, URL), (UNKNOWN, f"{URL}?share=mail")),
        ((UNKNOWN, f"{URL}?p=1"), (UNKNOWN, f"{URL}?p=1&share=mail")),
    ]
    for better, worse in rows:
        assert owner_rank(*better) < owner_rank(*worse)


def test_further_parameters_do_not_count() -> None:
    long = [f"{URL}?" + "&".join(count * ["p"]) for count in (MOST_PARAMETERS, MOST_PARAMETERS + 1)]
    assert owner_rank(UNKNOWN, long[0]) == owner_rank(UNKNOWN, long[1])
