"""The field `quality`: numbers of the extraction, and for those who ask for them the numbers of published rules."""

from collections.abc import Mapping

from crawler.doors import Door, load
from crawler.metadata.language import language
from crawler.page.page import Extraction, Page

OF_EXTRACTION = ("certainty", "kept_frac")
"""The numbers that every page has."""


def extraction_quality(page: Page, found: Extraction) -> dict[str, float | None]:
    """The numbers of the extraction by name; zeros of a page without text."""
    whole = sum(len(block.text) for block in page.blocks)
    kept = sum(len(block.text) for block in found.blocks) or len(found.text)
    return {"certainty": found.certainty, "kept_frac": round(min(1.0, kept / whole), 4) if whole else 0.0}


def text_quality(page: Page, found: Extraction) -> dict[str, float | None]:
    """All numbers by name; raises a MissingPartError if what computes them is not installed."""
    measured = load(Door.QUALITY, "measured")
    of_text: dict[str, float | None] = measured(found.text, language(found.text or found.title, page.language))
    return extraction_quality(page, found) | of_text


def has_text_numbers(quality: Mapping[str, float | None] | None) -> bool:
    """Whether these are more than the numbers of the extraction."""
    return bool(quality and quality.keys() - OF_EXTRACTION)
