"""Reads each field of a page's record from the page and its extraction."""

from collections.abc import Callable
from typing import Any

from crawler.metadata.author import author
from crawler.metadata.language import language
from crawler.metadata.publication_date import publication_date
from crawler.metadata.text_quality import quality
from crawler.page.links import ImageLink
from crawler.page.page import Extraction, Page
from crawler.page.text import fingerprint


def _images(images: tuple[ImageLink, ...]) -> list[dict[str, str]]:
    """The images' addresses in page order, each with its first description."""
    found: dict[str, str] = {}
    for image in images:
        found[image.url] = found.get(image.url) or image.alt
    return [{"url": url, "alt": alt} for url, alt in found.items()]


READERS: dict[str, Callable[[Page, Extraction], Any]] = {
    "language": lambda page, found: language(found.text or found.title, page.language),
    "title": lambda _, found: found.title,
    "text": lambda _, found: found.text,
    "comments": lambda _, found: found.comments,
    "author": author,
    "published": lambda page, found: publication_date(page, found).moment,
    "published_source": lambda page, found: publication_date(page, found).source,
    "page_type": lambda _, found: found.page_type,
    "quality": quality,
    "text_fingerprint": lambda _, found: fingerprint(found.text),
    "images": lambda page, _: _images(page.images),
}
