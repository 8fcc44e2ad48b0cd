"""The owner of a text: of pages with nearly the same text, one page owns it and the others repeat it.

A list with the whole text of a post, an archive of one post, a print version and a form to share a page repeat the text
of another page. Each shows this itself: its canonical address is the other page, the heading of its text links to the
other page, or its address has more parameters. The page that owns the text has the heading of the text in its title.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from crawler.page.blocks import Block
from crawler.page.page import Extraction, Page
from crawler.page.text import letters
from crawler.urls.address import address_of

HEADINGS = frozenset(("h1", "h2", "h3", "h4"))
WHOLLY = 0.9
"""The least share of a heading that a link must cover."""
MOST_ABOVE = 4
"""How many lines above the beginning of the text may be its heading: author, date and category may come between."""
MOST_PARAMETERS = 99
"""The most parameters of an address that are counted."""


class TextOwner(IntEnum):
    """The owner of a page's text, according to the page. Among near-duplicates, the page with the smallest value is
    preferred.
    """

    ITSELF = 0
    """Its title names the heading of the text."""
    UNKNOWN = 1
    ANOTHER = 2
    """Its canonical address, or the heading of its text, leads to another page."""


def owner_rank(owner: int, url: str) -> int:
    """A rank that is lowest for the owner of the text among pages with nearly the same text: by `owner`, a TextOwner,
    and by the number of parameters of the address if several pages have the same `owner`.

    >>> owner_rank(TextOwner.UNKNOWN, "http://a.example/bees"), owner_rank(TextOwner.UNKNOWN, "http://a.example/bees?p")
    (100, 101)
    """
    query = address_of(url).query
    parameters = query.count("&") + 1 if query else 0
    return owner * (MOST_PARAMETERS + 1) + min(parameters, MOST_PARAMETERS)


def text_owner(page: Page, extraction: Extraction) -> TextOwner:
    """The owner of a page's text."""
    if page.document is not None:  # a PDF or another file says nothing about other pages
        return TextOwner.UNKNOWN
    if page.canonical is not None and not _is_same(page.canonical, page.url):
        return TextOwner.ANOTHER
    heading = _heading(page.blocks, extraction.blocks)
    if heading is None:
        return TextOwner.UNKNOWN
    if _leads_elsewhere(page, heading):
        return TextOwner.ANOTHER
    name = letters(heading.text)
    if name and name in letters(page.title):
        return TextOwner.ITSELF
    return TextOwner.UNKNOWN


def _heading(blocks: Sequence[Block], kept: Sequence[Block]) -> Block | None:
    """The heading of the text with the blocks `kept`: the first block, or the nearest heading a few lines above it."""
    if not kept:
        return None
    first = next((at for at, block in enumerate(blocks) if block is kept[0]), 0)
    above = reversed(blocks[max(0, first - MOST_ABOVE) : first + 1])
    return next((block for block in above if block.tag in HEADINGS and block.text), None)


def _leads_elsewhere(page: Page, heading: Block) -> bool:
    """Whether a heading is a link to a page that is neither this page nor the front page of a site."""
    if heading.linked < WHOLLY * len(heading.text):
        return False
    at = next((at for at, block in enumerate(page.blocks) if block is heading), None)
    targets = [link.url for link in page.links if link.at == at]
    return any(not _is_same(url, page.url) and address_of(url).path.strip("/") for url in targets)


def _is_same(url: str, other: str) -> bool:
    """Whether two addresses differ at most in their scheme, in capitals, in a slash at the end or in a fragment."""
    return _spelling(url) == _spelling(other)


def _spelling(url: str) -> str:
    return url.partition("#")[0].partition("://")[2].rstrip("/").casefold()
