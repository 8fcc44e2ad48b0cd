"""The text of documents that are not web pages: all of it, as they have no menus and no adverts."""

from collections.abc import Callable
from functools import partial

from crawler.extraction.output.plain_text import plain
from crawler.page.page import Extraction, Page
from crawler.page.text import first_sentence

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
MAX_TITLE = 300  # characters
MOST_HEADINGS = 3
"""If the file of a document has no title, the highest of this many headings at its beginning is the title."""
MAX_SENTENCE = 100
"""The most characters of a first sentence that serves as the title of a document without headings."""
METHOD = "document"
"""The name of this extractor in items of documents."""


def document_text(page: Page) -> Extraction:
    """All text of a document."""
    text = plain(page.blocks, keeps_repeated=True)
    title = ""
    ended = None
    if page.document is not None:
        title = page.document.title
        ended = page.document.ended
    return Extraction(text=text, title=title or _title(page), blocks=page.blocks, ended=ended or page.ended)


def _title(page: Page) -> str:
    """The highest of the first headings, or else the first sentence if it is short."""
    headings = [block for block in page.blocks if block.tag in HEADINGS][:MOST_HEADINGS]
    highest = min(headings, key=lambda block: block.tag or "", default=None)
    if highest is not None:
        return highest.text[:MAX_TITLE]
    if not page.blocks:
        return ""
    sentence = first_sentence(page.blocks[0].text.partition("\n")[0])
    return sentence if len(sentence) <= MAX_SENTENCE else ""


def with_documents(extract: Callable[[Page], Extraction]) -> Callable[[Page], Extraction]:
    """A method that extracts web pages with `extract`, and documents with `document_text`."""
    return partial(_extract, extract)


def _extract(extract: Callable[[Page], Extraction], page: Page) -> Extraction:
    if page.document is not None:
        return document_text(page)
    return extract(page)
