"""Reads each field of a page's record from the page and its extraction; of its images, crawler.noise.page_images."""

from collections.abc import Callable
from typing import Any

from crawler.metadata.author import author
from crawler.metadata.language import language
from crawler.metadata.publication_date import publication_date
from crawler.metadata.text_quality import quality
from crawler.page.page import Extraction, Page
from crawler.page.text import fingerprint
from crawler.rights.page_rights import page_rights

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
    "rights": lambda page, _: page_rights(page),
}
