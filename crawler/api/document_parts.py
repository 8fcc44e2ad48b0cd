"""The functions that `Document` needs for parts other than the text, and imports only then, as the import is slow."""

from __future__ import annotations

from typing import Any

from crawler.metadata.record_readers import READERS
from crawler.metadata.text_quality import text_quality
from crawler.noise.page_images import page_images
from crawler.noise.page_markdown import page_markdown
from crawler.page.page import Extraction, Page

__all__ = ["field_value", "page_images", "page_markdown", "text_quality"]


def field_value(name: str, page: Page, extraction: Extraction) -> Any:
    """The value of the field of an item that describes the page, such as `author`."""
    return READERS[name](page, extraction)
