"""Reads each field of a page's record from the page and its extraction; of its images, crawler.noise.page_images."""

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


def _published(page: Page, found: Extraction) -> str | None:
    return page.document.published if page.document else publication_date(page, found).moment


def _published_source(page: Page, found: Extraction) -> str:
    if page.document:
        return page.made_from if page.document.published else ""
    return publication_date(page, found).source


READERS: dict[str, Callable[[Page, Extraction], Any]] = {
    "language": lambda page, found: language(found.text or found.title, page.language),
    "title": lambda _, found: found.title,
    "text": lambda _, found: found.text,
    "comments": lambda _, found: found.comments,
    "author": lambda page, found: page.document.author if page.document else author(page, found),
    "published": _published,
    "published_source": _published_source,
    "page_type": page_type,
    "quality": extraction_quality,
    "text_fingerprint": lambda _, found: fingerprint(found.text),
    "rights": lambda page, _: page_rights(page),
    "content_type": lambda page, _: page.document.media_type if page.document else media_type(page.content_type),
    "page_count": lambda page, _: page.document.pages if page.document else None,
}
