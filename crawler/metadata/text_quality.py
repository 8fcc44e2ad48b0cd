"""The numbers of a page's text: those of published rules, and how it was extracted."""

from crawler.metadata.language import language
from crawler.page.page import Extraction, Page


def quality(page: Page, found: Extraction) -> dict[str, float | None]:
    """The numbers by name; zeros of a page without text."""
    from crawler.contrib.corpus.quality import measured  # imports numpy, which is delayed until the first page

    whole = sum(len(block.text) for block in page.blocks)
    kept = sum(len(block.text) for block in found.blocks) or len(found.text)
    shares = {"certainty": found.certainty, "kept_frac": round(min(1.0, kept / whole), 4) if whole else 0.0}
    return shares | measured(found.text, language(found.text or found.title, page.language))
