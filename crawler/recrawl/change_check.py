"""What a page that was fetched is beside what it was before: new, changed, or the same."""

from dataclasses import replace
from functools import partial

from crawler.extraction import EXTRACTORS, LEARNING, Extractor
from crawler.extraction.version import version
from crawler.page.page import Extraction, Page
from crawler.page.text import fingerprint
from crawler.recrawl.near_duplicates import signature, similarity
from crawler.recrawl.page_history import ChangeCheck, PageChange, PageHistory


class ChangeDetector:
    """Tells whether pages changed, by what a method makes of them."""

    def __init__(self, method: str, favour: str, extract: Extractor) -> None:
        self.version = version(method, favour)
        self.source = extract if method not in LEARNING else partial(without_template, method)

    def check(self, page: Page, extraction: Extraction, known: PageHistory | None) -> ChangeCheck:
        """What a page is; the signature comes with those that are to be stored."""
        source = page.once(self.source)
        found = ChangeCheck(PageChange.NEW, fingerprint(source.text), self.version, certainty=extraction.certainty)
        if known is None:
            return with_signature(found, extraction.text)
        if known.extractor_version != self.version:
            return with_signature(replace(found, found=PageChange.RENEWED), extraction.text)
        if known.source_fingerprint == found.source_fingerprint:
            return replace(found, found=PageChange.SAME)
        return with_signature(replace(found, found=PageChange.CHANGED), extraction.text, known)


def without_template(method: str, page: Page) -> Extraction:
    """A page's text without what the method learned of its site.

    That is known better from page to page, and a text that is shorter for it is no change. Nor is it one when a menu
    changes, which such a method does not know yet: `auto` says what is text, as far as it sees any.
    """
    found = page.once(EXTRACTORS["auto"])
    return found if found.text else EXTRACTORS[method](page)


def with_signature(check: ChangeCheck, text: str, known: PageHistory | None = None) -> ChangeCheck:
    """The same with the text's signature, and with how much it changed if both texts are long enough to tell."""
    now, before = signature(text), known.signature if known is not None else None
    alike = similarity(before, now) if before is not None and now is not None else None
    return replace(check, signature=now, distance=None if alike is None else round(1 - alike, 4))
