"""The field `quality`: numbers of the extraction, and for those who ask for them the numbers of published rules."""

from collections.abc import Mapping

from crawler.doors import Door, load
from crawler.metadata.language import language
from crawler.page.page import Extraction, Page

OF_EXTRACTION = ("certainty", "kept_frac")
"""The numbers that every page has."""


def extraction_quality(page: Page, extraction: Extraction) -> dict[str, float | None]:
    """The numbers of the extraction by name; zeros of a page without text."""
    whole = sum(len(block.text) for block in page.blocks)
    kept = sum(len(block.text) for block in extraction.blocks) or len(extraction.text)
    return {"certainty": extraction.certainty, "kept_frac": round(min(1.0, kept / whole), 4) if whole else 0.0}


def text_quality(page: Page, extraction: Extraction) -> dict[str, float | None]:
    """All numbers by name; raises a MissingPartError if what computes them is not installed."""
    measured = load(Door.QUALITY, "measured")
    of_language = language(extraction.text or extraction.title, page.language)
    numbers_of_text: dict[str, float | None] = measured(extraction.text, of_language)
    return extraction_quality(page, extraction) | numbers_of_text


def has_text_numbers(quality: Mapping[str, float | None] | None) -> bool:
    """Whether these are more than the numbers of the extraction."""
    return bool(quality and quality.keys() - OF_EXTRACTION)
