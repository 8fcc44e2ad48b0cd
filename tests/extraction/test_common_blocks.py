"""What pages of a site have in common is not main text."""

import pytest

from crawler.extraction import LEARNING, with_library
from crawler.extraction.auto import auto
from crawler.extraction.auto.common_blocks import BlockLibrary
from crawler.extraction.methods.template import N1, N2, learn
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
