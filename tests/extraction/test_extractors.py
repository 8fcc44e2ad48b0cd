"""One contract for every extractor."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile import PAGES
from lxml import etree

from crawler.extraction import EXTRACTORS, extract
from crawler.page import Extraction, Page
from crawler.walk import Block

CASES = Path(__file__).parent.parent / "pages"
EXAMPLES = {folder.name: (folder / "input.html").read_bytes() for folder in sorted(CASES.iterdir())}
BODIES = PAGES | EXAMPLES
Extractor = Callable[[Page], Extraction]

# Methods that read the source: a line of theirs may be a part of one of the page's.
ON_SOURCE = frozenset(("max-text", "slope"))

# One that goes by two names is tried once.
DIFFERENT = {extractor: name for name, extractor in EXTRACTORS.items()}
every_extractor = pytest.mark.parametrize("extractor", DIFFERENT, ids=DIFFERENT.values())
Opened = tuple[Page, bytes, tuple[Block, ...]]


@pytest.fixture(scope="module", params=BODIES.values(), ids=BODIES)
def opened(request: pytest.FixtureRequest) -> Opened:
    """A page for all extractors, with its tree and its blocks as they were before the first."""
    page = Page("http://example.com/a", request.param)
    return page, etree.tostring(page.root), page.blocks


@every_extractor
def test_contract(extractor: Extractor, opened: Opened) -> None:
    page, before, blocks = opened
    start = time.thread_time()
    found = extractor(page)
    assert time.thread_time() - start < 2
    assert etree.tostring(page.root) == before
    assert page.blocks is blocks
    rest = iter(blocks)
    assert all(any(block is kept for block in rest) for kept in found.blocks)
    for text in (found.text, found.title):
        assert text == text.strip()
        text.encode()
    assert extractor(page) == found


@every_extractor
@pytest.mark.parametrize("name", ["empty", "white space", "nuls", "refresh"])
def test_a_page_without_text_has_none(extractor: Extractor, name: str) -> None:
    assert extractor(Page("http://example.com/a", PAGES[name])) == Extraction("", "")


@every_extractor
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_page_gives_the_same_text(extractor: Extractor, name: str) -> None:
    first, second = (extractor(Page("http://example.com/a", EXAMPLES[name])) for _ in range(2))
    assert (first.text, first.title, len(first.blocks)) == (second.text, second.title, len(second.blocks))


@pytest.mark.parametrize("method", EXTRACTORS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_is_invented(method: str, name: str) -> None:
    page = Page("http://example.com/a", EXAMPLES[name])
    lines = [line for block in page.blocks for line in block.text.splitlines()]
    for line in EXTRACTORS[method](page).text.splitlines():
        assert any(line in whole for whole in lines) if method in ON_SOURCE else line in lines


@pytest.mark.parametrize("method", EXTRACTORS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_blocks_are_where_the_text_is_from(method: str, name: str) -> None:
    found = EXTRACTORS[method](Page("http://example.com/a", EXAMPLES[name]))
    lines = [block.text for block in found.blocks]
    if method in ON_SOURCE:
        assert set(lines) <= set(found.text.splitlines())
    else:
        assert "\n".join(lines) == found.text


@pytest.mark.parametrize("method", EXTRACTORS)
def test_extractors_go_by_their_names(method: str) -> None:
    html = "<title>Bees</title><p>Bees dance.</p>"
    expected = EXTRACTORS[method](Page.from_html(html))
    found = extract(html, method=method)
    assert (found.text, found.title) == (expected.text, expected.title)


def test_an_unknown_method() -> None:
    with pytest.raises(KeyError):
        extract("<p>x", method="no-such")
