"""The field `quality`: numbers about the extraction, and optionally the numbers of published quality rules."""

from collections.abc import Mapping

from crawler.doors import Door, load
from crawler.metadata.language import language
from crawler.page.page import Extraction, Page

OF_EXTRACTION = ("certainty", "kept_frac")
"""The names of the numbers about the extraction, which every page has."""


def extraction_quality(page: Page, extraction: Extraction) -> dict[str, float | None]:
    """The numbers of the extraction by name.

    `certainty` is the F1 that the method expects of its text; None for most methods. `kept_frac` is the share of the
    characters of the page's text that the extracted text keeps, at most 1; 0 for a page without text.
    """
    whole = sum(len(block.text) for block in page.blocks)
    kept = sum(len(block.text) for block in extraction.blocks) or len(extraction.text)  # some methods give only a text
    kept_fraction = 0.0
    if whole:
        kept_fraction = round(min(1.0, kept / whole), 4)
    return {"certainty": extraction.certainty, "kept_frac": kept_fraction}


def text_quality(page: Page, extraction: Extraction) -> dict[str, float | None]:
    """The numbers of the extraction and of the quality rules, by name; raises a MissingPartError if the part with the
    rules, crawler/contrib/corpus/quality, is not installed.
    """
    measured = load(Door.QUALITY, "measured")
    of_language = language(extraction.text or extraction.title, page.language)
    numbers_of_text: dict[str, float | None] = measured(extraction.text, of_language)
    return extraction_quality(page, extraction) | numbers_of_text


def has_text_numbers(quality: Mapping[str, float | None] | None) -> bool:
    """Whether there are numbers of the text, in addition to those of the extraction."""
    return bool(quality and quality.keys() - OF_EXTRACTION)
