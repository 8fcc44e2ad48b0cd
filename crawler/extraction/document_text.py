"""The text of a document that is no web page: all of it, as it has no menus and no adverts."""

from collections.abc import Callable
from functools import partial

from crawler.extraction.output.plain_text import plain
from crawler.page.page import Extraction, Page
from crawler.page.text import first_sentence

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
MAX_TITLE = 300
FIRST = 3
"""Headings among which the title is, if the file does not say it: the one of the highest level."""
MAX_SENTENCE = 100
"""Characters of a first sentence by which a reader would call a document without headings."""
METHOD = "document"
"""What items have as the name of their extractor."""


def document_text(page: Page) -> Extraction:
    """All text of a document."""
    text = plain(page.blocks, keeps_repeated=True)
    facts = page.document
    ended = (facts.ended if facts else None) or page.ended
    return Extraction(text=text, title=(facts.title if facts else "") or _title(page), blocks=page.blocks, ended=ended)


def _title(page: Page) -> str:
    """The highest of the first headings, else the first sentence if it is short."""
    headings = [block for block in page.blocks if block.tag in HEADINGS][:FIRST]
    highest = min(headings, key=lambda block: block.tag or "", default=None)
    if highest is not None:
        return highest.text[:MAX_TITLE]
    sentence = first_sentence(page.blocks[0].text.partition("\n")[0]) if page.blocks else ""
    return sentence if len(sentence) <= MAX_SENTENCE else ""


def with_documents(extract: Callable[[Page], Extraction]) -> Callable[[Page], Extraction]:
    """A method for web pages, which takes all text of documents."""
    return partial(_extract, extract)


def _extract(extract: Callable[[Page], Extraction], page: Page) -> Extraction:
    if page.document is not None:
        return document_text(page)
    return extract(page)
