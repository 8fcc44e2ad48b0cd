"""Checks whether a page is new, changed or unchanged, by its clean text."""

from dataclasses import replace
from functools import partial

from crawler.extraction import EXTRACTORS, LEARNING, Extractor, version
from crawler.page.page import Extraction, Page
from crawler.page.text import fingerprint
from crawler.recrawl.near_duplicates import signature, similarity
from crawler.recrawl.page_history import ChangeCheck, PageChange, PageHistory


class ChangeDetector:
    """Checks pages for changes, by the extractor's texts."""

    def __init__(self, method: str, favour: str, extract: Extractor) -> None:
        self.version = version(method, favour)
        self.source = extract if method not in LEARNING else partial(without_template, method)

    def check(self, page: Page, extraction: Extraction, known: PageHistory | None) -> ChangeCheck:
        """The result of the check; with a signature if the page is to be stored."""
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
    """A page's text before the learned template of its site is removed.

    A template grows from page to page, and a text that only becomes shorter by that has not changed. A page whose menu
    changes before the template contains it has not changed either: so the text of `auto` is compared, if there is any.
    """
    found = page.once(EXTRACTORS["auto"])
    return found if found.text else EXTRACTORS[method](page)


def with_signature(check: ChangeCheck, text: str, known: PageHistory | None = None) -> ChangeCheck:
    """The check with the signature of the text, and with how much it changed if both texts have signatures."""
    now, before = signature(text), known.signature if known is not None else None
    alike = similarity(before, now) if before is not None and now is not None else None
    return replace(check, signature=now, distance=None if alike is None else round(1 - alike, 4))
