"""The images of a page as its record lists them: without those that are noise, each with its verdict."""

from typing import Any

from crawler.noise.verdict import Judge, page_verdicts
from crawler.page.page import Extraction, Page

DIGITS = 4  # of a probability
MOST_IMAGES = 500
"""The most images of a page that are considered: each takes time, and waits in memory for its commit."""


def page_images(
    page: Page, found: Extraction, judges_images: bool = True, judge: Judge | None = None
) -> list[dict[str, Any]]:
    """The images that are content as far as the page alone shows, in page order, each with its first description.

    `noise` is the probability of noise; None if images are not to be judged.
    """
    alts: dict[str, str] = {}
    for image in page.images[:MOST_IMAGES]:
        alts[image.url] = alts.get(image.url) or image.alt
    if not judges_images:
        return [{"url": url, "alt": alt, "noise": None} for url, alt in alts.items()]
    said = page_verdicts(page, found, judge, MOST_IMAGES)
    return [
        {"url": url, "alt": alt, "noise": round(said[url].probability, DIGITS)}
        for url, alt in alts.items()
        if not said[url].is_noise
    ]
