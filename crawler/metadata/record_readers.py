"""Reads the fields of a page's record from the page and its extraction. Only the field `images` is read elsewhere, in
crawler/noise/page_images.py. A page with a `document` was made from a PDF or another file, which has its own metadata.
"""

from collections.abc import Callable
from typing import Any

from crawler.metadata.author import author
from crawler.metadata.language import language
from crawler.metadata.page_purpose import page_type
from crawler.metadata.publication_date import publication_date
from crawler.metadata.text_quality import extraction_quality
from crawler.page.page import Extraction, Page, media_type
from crawler.page.text import fingerprint
from crawler.rights.page_rights import page_rights


def _published(page: Page, extraction: Extraction) -> str | None:
    if page.document:
        return page.document.published
    return publication_date(page, extraction).moment


def _published_source(page: Page, extraction: Extraction) -> str:
    if page.document:
        if page.document.published:
            return page.made_from
        return ""
    return publication_date(page, extraction).source


READERS: dict[str, Callable[[Page, Extraction], Any]] = {
    "language": lambda page, extraction: language(extraction.text or extraction.title, page.language),
    "title": lambda _, extraction: extraction.title,
    "text": lambda _, extraction: extraction.text,
    "comments": lambda _, extraction: extraction.comments,
    "author": lambda page, extraction: page.document.author if page.document else author(page, extraction),
    "published": _published,
    "published_source": _published_source,
    "page_type": page_type,
    "quality": extraction_quality,
    "text_fingerprint": lambda _, extraction: fingerprint(extraction.text),
    "rights": lambda page, _: page_rights(page),
    "content_type": lambda page, _: page.document.media_type if page.document else media_type(page.content_type),
    "page_count": lambda page, _: page.document.pages if page.document else None,
}
