"""Checks whether a page is new, changed or unchanged, by its clean text and its title.

When a banner or a footer changes, `auto` may judge a block in doubt in another way, although nobody changed the text.
So three of its texts are compared, those for balance, for precision and for recall, and a page has changed only if all
three have: a block that is in doubt for one of them is seldom in doubt for the others.

A page whose title alone changed has changed, too.
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


class ChangeDetector:
    """Checks pages for changes, by the extractor's texts.

    What is known of a site grows from page to page, and a text that only becomes shorter by that has not changed. A
    page whose menu changes before it is known has not changed either: so for a method that learns from a site the texts
    that `auto` would choose without it are compared, if there are any.
    """

    def __init__(self, method: str, favour: str, extract: Extractor, fallback: str = "") -> None:
        self.version = version(method, favour, fallback)
        self.method = method
        self.extract = EXTRACTORS[method] if method in LEARNING else extract

    def check(self, page: Page, extraction: Extraction, history: PageHistory | None) -> ChangeCheck:
        """The result of the check; with a signature if the page is to be stored."""
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
            return with_signature(replace(check, found=PageChange.RENEWED), extraction.text)
        has_same_text = _is_same(history.source_fingerprint or NO_TEXT, check.source_fingerprint or NO_TEXT)
        if has_same_text and not _is_retitled(history.title, extraction.title):
            return replace(check, found=PageChange.SAME)
        return with_signature(replace(check, found=PageChange.CHANGED), extraction.text, history)

    def _fingerprints(self, page: Page, extraction: Extraction) -> str:
        """Of the texts that are compared, with spaces between them."""
        if page.document is not None:
            return fingerprint(extraction.text) or NO_TEXT
        if self.method not in LEARNING or not (extraction if self.method == "auto" else page.once(auto)).blocks:
            return fingerprint(page.once(self.extract).text) or NO_TEXT
        chosen = choices(page)
        of_block = {place: letters(page.blocks[place].text) for place in set().union(*chosen)}
        fingerprints = (fingerprint_of_letters(b"".join(of_block[place] for place in places)) for places in chosen)
        return " ".join(text_fingerprint or NO_TEXT for text_fingerprint in fingerprints)


def _is_same(before: str, now: str) -> bool:
    """Whether one of the texts is as it was.

    >>> _is_same("a b c", "d b e"), _is_same("a - -", "d - -"), _is_same("-", "-")
    (True, False, True)
    """
    pairs = zip(before.split(), now.split(), strict=False)
    return before == now or any(earlier == other != NO_TEXT for earlier, other in pairs)


def _is_retitled(before: str | None, now: str) -> bool:
    """Whether a page has another title; a page that has none, or whose title is not known, is not judged by it.

    >>> _is_retitled("On bees", "On  Bees!"), _is_retitled("On bees", "On wasps"), _is_retitled("On bees", "")
    (False, True, False)
    """
    return bool(before and now) and letters(str(before)) != letters(now)


def with_signature(check: ChangeCheck, text: str, history: PageHistory | None = None) -> ChangeCheck:
    """The check with the signature of the text, and with how much it changed if both texts have signatures."""
    now = signature(text)
    before = history.signature if history is not None else None
    alike = similarity(before, now) if before is not None and now is not None else None
    return replace(check, signature=now, distance=None if alike is None else round(1 - alike, 4))
