"""The images of a page as its record lists them: without noise, each with its probability of noise."""

from collections.abc import Mapping, Sequence
from typing import Any

from crawler.noise.image_evidence import Sighting
from crawler.noise.verdict import Judge, Verdict, VerdictsOnPage, page_verdicts
from crawler.page.page import Extraction, Page

DIGITS = 4  # decimal places of a probability
MOST_IMAGES = 500
"""The most images of a page that are considered: each takes time, and is in memory until its page is committed."""


def page_images(page: Page, extraction: Extraction) -> list[dict[str, Any]]:
    """The images that are content, judged by this page alone. The cached verdicts also serve the page's Markdown."""
    return _content_images(page, page.once(VerdictsOnPage(extraction)))


def judged_images(page: Page, page_sightings: Sequence[Sighting], judge: Judge | None = None) -> list[dict[str, Any]]:
    """The images that are content, in page order, each with its first description; `noise` is the probability of noise.

    `page_sightings` has at least the images that `all_images` lists.
    """
    return _content_images(page, page_verdicts(page_sightings, judge))


def _content_images(page: Page, verdicts: Mapping[str, Verdict]) -> list[dict[str, Any]]:
    """The images that are content by these verdicts."""
    return [
        {**image, "noise": round(verdicts[image["url"]].probability, DIGITS)}
        for image in all_images(page)
        if not verdicts[image["url"]].is_noise
    ]


def all_images(page: Page) -> list[dict[str, Any]]:
    """The images, noise or not, in page order, each with its first description; `noise` is None."""
    alts: dict[str, str] = {}
    for image in page.images[:MOST_IMAGES]:
        alts[image.url] = alts.get(image.url) or image.alt
    return [{"url": url, "alt": alt, "noise": None} for url, alt in alts.items()]
