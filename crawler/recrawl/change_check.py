"""Checks whether a page is new, changed or unchanged, by its clean text and its title.

When a banner or a footer changes, the default method `auto` may judge a doubtful block differently, although the main
text is the same. So the three texts that it chooses for balance, for precision and for recall are compared with those
of the visit before, and a page has changed only if all three have: a block that is in doubt for one of them is seldom
in doubt for the others. A page with the same text and another title has changed, too.
"""

from dataclasses import replace

from crawler.extraction import EXTRACTORS, LEARNING, Extractor, version
from crawler.extraction.auto import auto, choices
from crawler.metadata.text_owner import text_owner
from crawler.page.page import Extraction, Page
from crawler.page.text import fingerprint, fingerprint_of_letters, letters
from crawler.recrawl.near_duplicates import signature, similarity
from crawler.recrawl.page_history import ChangeCheck, PageChange, PageHistory

NO_TEXT = "-"
"""Stands for the fingerprint of a text without letters, which has none."""


class ChangeDetector:
    """Checks pages for changes, by the texts of the extractor.

    A method that learns from a site (`LEARNING`, which includes `auto`) removes more repeated text with each page of
    the site that it reads, though no page changes. For such a method, the three texts that `auto` chooses from the page
    alone are compared, or if it chooses none, the text of the method without the site's library. For all other methods,
    and for documents, the text of the method is compared.
    """

    def __init__(self, method: str, favour: str, extract: Extractor, fallback: str = "") -> None:
        self.version = version(method, favour, fallback)
        self.method = method
        self.extract = extract
        if method in LEARNING:
            self.extract = EXTRACTORS[method]  # without a site's library

    def check(self, page: Page, extraction: Extraction, history: PageHistory | None) -> ChangeCheck:
        """The result of the check, with a signature unless the page is unchanged."""
        fingerprints = self._fingerprints(page, extraction)
        check = ChangeCheck(
            PageChange.NEW,
            fingerprints,
            self.version,
            certainty=extraction.certainty,
            text_owner=text_owner(page, extraction),
        )
        if history is None:
            return with_signature(check, extraction.text)
        if history.extractor_version != self.version:
            return with_signature(replace(check, change=PageChange.RENEWED), extraction.text)
        has_same_text = _is_same(history.source_fingerprint or NO_TEXT, check.source_fingerprint or NO_TEXT)
        if has_same_text and not _is_retitled(history.title, extraction.title):
            return replace(check, change=PageChange.SAME)
        return with_signature(replace(check, change=PageChange.CHANGED), extraction.text, history)

    def _fingerprints(self, page: Page, extraction: Extraction) -> str:
        """The fingerprints of the texts that are compared, separated by spaces."""
        if page.document is not None:
            return fingerprint(extraction.text) or NO_TEXT
        if self.method not in LEARNING or not self._auto_extraction(page, extraction).blocks:
            return fingerprint(page.once(self.extract).text) or NO_TEXT
        blocks_of_text = choices(page)
        letters_of_block = {block: letters(page.blocks[block].text) for block in set().union(*blocks_of_text)}
        texts = (b"".join(letters_of_block[block] for block in blocks) for blocks in blocks_of_text)
        return " ".join(fingerprint_of_letters(text) or NO_TEXT for text in texts)

    def _auto_extraction(self, page: Page, extraction: Extraction) -> Extraction:
        """The extraction of the page by `auto`: the given one if `auto` is the method."""
        if self.method == "auto":
            return extraction
        return page.once(auto)


def _is_same(before: str, now: str) -> bool:
    """Whether all fingerprints are equal, or at least one that stands for a text with letters.

    >>> _is_same("a b c", "d b e"), _is_same("a - -", "d - -"), _is_same("-", "-")
    (True, False, True)
    """
    # There are three fingerprints on one side and one on the other if `auto` chose texts at only one of the visits.
    pairs = zip(before.split(), now.split(), strict=False)
    return before == now or any(earlier == later and later != NO_TEXT for earlier, later in pairs)


def _is_retitled(before: str | None, now: str) -> bool:
    """Whether the title of a page changed; False if either title is empty or unknown.

    >>> _is_retitled("On bees", "On  Bees!"), _is_retitled("On bees", "On wasps"), _is_retitled("On bees", "")
    (False, True, False)
    """
    if not before or not now:
        return False
    return letters(before) != letters(now)


def with_signature(check: ChangeCheck, text: str, history: PageHistory | None = None) -> ChangeCheck:
    """The check with the signature of the text, and with how much the text changed if both texts have signatures."""
    new_signature = signature(text)
    if history is None or history.signature is None or new_signature is None:
        return replace(check, signature=new_signature, distance=None)
    return replace(check, signature=new_signature, distance=round(1 - similarity(history.signature, new_signature), 4))
