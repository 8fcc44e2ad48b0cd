"""What pages of a site have in common is not main text."""

import pytest

from crawler.extraction import LEARNING, with_library
from crawler.extraction.auto import auto
from crawler.extraction.auto.common_blocks import BlockLibrary
from crawler.extraction.methods.template import N1, N2, LeafLabel, learn
from crawler.page.page import Extraction, Page

NOTICE = "This story was written by a member of the valley's bee keepers, who meet on Mondays."
TEXTS = [f"{word} bees carry pollen home, and the keeper of hive {word} counts them at dusk." for word in "abcdefghijk"]


def page(number: int, notice: str = f"<p>{NOTICE}</p>") -> Page:
    own = "".join(f"<p>{TEXTS[number]} {extra}</p>" for extra in ("They dance.", "They rest."))
    return Page.from_html(
        f"<article><h1>Hive {number}</h1><h2>Ingredients</h2>{own}{notice}</article>", "http://a.example/"
    )


def cleaned(one: Page, library: BlockLibrary) -> Extraction:
    return with_library(auto, library)(one)


@pytest.fixture(scope="module")
def library() -> BlockLibrary:
    found = learn(map(page, range(N1)), LEARNING["auto"]())
    assert isinstance(found, BlockLibrary)
    return found


def test_common_blocks_are_left_out(library: BlockLibrary) -> None:
    one = page(N1)
    assert NOTICE in auto(one).text
    text = cleaned(one, library).text
    assert NOTICE not in text
    assert TEXTS[N1] in text


def test_headings_stay(library: BlockLibrary) -> None:
    assert ("Ingredients" in cleaned(page(N1), library).text) == ("Ingredients" in auto(page(N1)).text)
    assert {label.tag for label in library} == {"p"}


def test_blocks_have_to_be_equal(library: BlockLibrary) -> None:
    almost = NOTICE.replace("Mondays", "Sundays")
    assert almost in cleaned(page(N1, f"<p>{almost}</p>"), library).text


@pytest.mark.parametrize(("pages", "is_common"), [(N2 - 1, False), (N2, True)])
def test_three_pages_of_ten_make_a_block_common(pages: int, is_common: bool) -> None:
    some = [page(number, f"<p>{NOTICE}</p>" if number < pages else "") for number in range(N1)]
    assert bool(learn(some, BlockLibrary())) == is_common


def test_a_page_of_common_blocks_alone_keeps_its_text(library: BlockLibrary) -> None:
    one = Page.from_html(f"<p>{NOTICE}</p>", "http://a.example/")
    assert cleaned(one, library).text == NOTICE


def test_a_text_that_is_mostly_common_is_kept(library: BlockLibrary) -> None:
    """As on the printed version of an article, or on pages of a law that share its preamble."""
    shared = [
        f"Law {number} says in its preamble that bees are kept by all, and honey is for all." for number in range(6)
    ]
    pages = [
        Page.from_html(
            f"<article><h1>Law</h1>{''.join(f'<p>{one}</p>' for one in shared)}<p>{TEXTS[number]}</p></article>",
            "http://a.example/",
        )
        for number in range(N1 + 1)
    ]
    known = learn(pages[:N1], BlockLibrary())
    text = cleaned(pages[N1], known).text
    assert known
    assert all(one in text for one in (*shared, TEXTS[N1]))


LINES = ["import os", "def count(bees):", "if not bees:", "return None", "return len(bees)"]
LISTING = {
    "lines": "<pre>" + "<br>".join(LINES) + "</pre>",
    "elements": "<pre><code>" + "".join(f"<div class=line>{line}</div>" for line in LINES) + "</code></pre>",
    "numbered": f"<table><tr><td><pre>1<br>2</pre></td><td><pre>{'<br>'.join(LINES)}</pre></td></table>",
}
ROWS = [("hive", "yes"), ("frame", "no"), ("smoker", "yes"), ("veil", "not in the rain")]
DATA_TABLE = "<table>" + "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in ROWS) + "</table>"


def article(number: int, shared: str) -> Page:
    return page(number, f"{shared}<p>{NOTICE}</p>")


def test_parts_of_code_and_of_data_tables_stay() -> None:
    rows = [
        *[(listing, LINES) for listing in LISTING.values()],
        (DATA_TABLE, [word for row in ROWS for word in row]),
    ]
    for shared, words in rows:
        known = learn((article(number, shared) for number in range(N1)), BlockLibrary())
        text = cleaned(article(N1, shared), known).text
        assert {label.text for label in known} == {NOTICE}
        assert NOTICE not in text
        assert [word for word in words if word not in text] == []


def test_a_line_that_is_common_elsewhere_stays_in_code() -> None:
    known = BlockLibrary([LeafLabel("pre", "return None")])
    assert "return None" in cleaned(article(N1, LISTING["lines"]), known).text


def test_cells_of_a_layout_are_common() -> None:
    layout = f"<table><tr><td>{NOTICE}</td></tr></table>"
    known = learn((page(number, layout) for number in range(N1)), BlockLibrary())
    assert NOTICE not in cleaned(page(N1, layout), known).text
