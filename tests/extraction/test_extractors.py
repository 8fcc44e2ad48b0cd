"""One contract for every extractor."""

import json
import re
import time
from pathlib import Path

import pytest
from hostile_pages import PAGES
from lxml import etree

from crawler.extraction import EXTRACTORS, extract
from crawler.extraction.auto.model import PAGE_TYPES
from crawler.page.blocks import Block
from crawler.page.html_tree import MAX_BLOCKS
from crawler.page.page import Extraction, Page

CASES = Path(__file__).parent.parent / "pages"
EXAMPLES = {folder.name: (folder / "input.html").read_bytes() for folder in sorted(CASES.iterdir())}
BODIES = PAGES | EXAMPLES

# Methods that read the source: a line of theirs may be a part of one of the page's.
ON_SOURCE = frozenset(("max-text", "slope"))
# Methods that lay their text out: items begin with a dash, the cells of a row share a line.
LAID_OUT = frozenset(("auto",))

# One that goes by two names is tried once.
DIFFERENT = tuple(dict.fromkeys(EXTRACTORS.values()))
Opened = tuple[Page, bytes, tuple[Block, ...]]


@pytest.fixture(scope="module", params=BODIES.values(), ids=BODIES)
def opened(request: pytest.FixtureRequest) -> Opened:
    """A page for all extractors, with its tree and its blocks as they were before the first."""
    page = Page("http://example.com/a", request.param)
    return page, etree.tostring(page.root), page.blocks


def test_contract(opened: Opened) -> None:
    page, before, blocks = opened
    for extractor in DIFFERENT:
        start = time.thread_time()
        found = extractor(page)
        assert time.thread_time() - start < 2
        assert etree.tostring(page.root) == before
        assert page.blocks is blocks
        rest = iter(blocks)
        assert all(any(block is kept for block in rest) for kept in found.blocks)
        for text in (found.text, found.title, found.comments):
            assert text == text.strip()
            text.encode()
        assert found.page_type in ("", *PAGE_TYPES)
        assert not found.ended or len(blocks) > MAX_BLOCKS


def test_a_page_without_text_has_none() -> None:
    for extractor in DIFFERENT:
        for name in ["empty", "white space", "nuls", "refresh"]:
            assert extractor(Page("http://example.com/a", PAGES[name])) == Extraction("", "")


def test_the_text_of_an_extractor_is_the_page_s_and_that_of_its_blocks() -> None:
    for name, body in EXAMPLES.items():
        page = Page("http://example.com/a", body)
        page_lines = [line for block in page.blocks for line in block.text.splitlines()]
        for method, extractor in EXTRACTORS.items():
            extraction = extractor(page)
            text = extraction.text
            block_texts = [block.text for block in extraction.blocks]

            if method in ON_SOURCE:
                assert set(block_texts) <= set(text.splitlines()), (name, method)
            elif method in LAID_OUT:
                assert unmarked("".join(block_texts)) == unmarked(text), (name, method)
            else:
                assert "\n".join(block_texts) == text, (name, method)

            if method in LAID_OUT:
                text = re.sub("^- ", "", text, flags=re.MULTILINE).replace(" | ", "\n")
            for line in text.splitlines():
                is_of_page = any(line in whole for whole in page_lines) if method in ON_SOURCE else line in page_lines
                assert is_of_page, (name, method, line)


def test_the_same_page_gives_the_same_text() -> None:
    for body in list(EXAMPLES.values())[:4]:
        page = Page("http://example.com/a", body)
        for extractor in DIFFERENT:
            first, second = extractor(page), extractor(Page("http://example.com/a", body))
            assert (first.text, first.title, len(first.blocks)) == (second.text, second.title, len(second.blocks))
            assert extractor(page) == first


def unmarked(text: str) -> str:
    """The text without what lays it out."""
    return re.sub(r"[\s|-]", "", text)


PARAGRAPH = "The queen of the bees lays two thousand eggs a day, and the workers feed every one of them. " * 3
DATA = json.dumps({"@type": "NewsArticle", "headline": "Bees", "articleBody": f"{PARAGRAPH}\n{PARAGRAPH[::-1]}"})


@pytest.mark.parametrize("shown", ["", "<div>Loading</div>", "<p>Please switch scripts on.</p>"])
def test_the_text_of_scripts_is_of_no_block(shown: str) -> None:
    found = extract(f"<title>Bees</title><script type=application/ld+json>{DATA}</script>{shown}")
    assert found.text.splitlines() == [PARAGRAPH.strip(), PARAGRAPH[::-1].strip()]
    assert (found.blocks, found.comments) == ((), "")


def test_the_text_of_a_page_is_preferred_to_that_of_scripts() -> None:
    page = f"<title>Bees</title><script type=application/ld+json>{DATA}</script>" + f"<p>{PARAGRAPH}</p>" * 8
    found = extract(page)
    assert PARAGRAPH[::-1].strip() not in found.text
    assert found.blocks


def test_extractors_go_by_their_names() -> None:
    for method in EXTRACTORS:
        html = "<title>Bees</title><p>Bees dance.</p>"
        expected = EXTRACTORS[method](Page.from_html(html))
        found = extract(html, method=method)
        assert (found.text, found.title) == (expected.text, expected.title)


def test_an_unknown_method() -> None:
    with pytest.raises(ValueError, match=r"'no-such'.* auto, "):
        extract("<p>x", method="no-such")


@pytest.mark.parametrize(("method", "favour"), [("slope", "recall"), ("auto", "f1")])
def test_what_cannot_be_favoured(method: str, favour: str) -> None:
    with pytest.raises(ValueError, match=f"'{favour}'.*{method}"):
        extract("<p>x", method=method, favour=favour)
