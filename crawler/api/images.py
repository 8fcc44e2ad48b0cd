"""`judge_images(pages)`: which images of a site's pages are adverts, navigation or decoration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crawler.extraction.auto import auto
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.image_features import sightings
from crawler.noise.verdict import Judge, verdicts
from crawler.page.page import Page
from crawler.urls.address import address_of


@dataclass(frozen=True, slots=True)
class ImageVerdict:
    """Whether an image is noise, such as an advert or navigation, and why."""

    page: str
    """The address of the page that shows it."""
    url: str
    """The image's address."""
    is_noise: bool
    """Whether it is an advert, navigation or decoration."""
    probability: float
    """The probability that it is noise, from 0 to 1."""
    reasons: tuple[str, ...]
    """The reasons, as sentences."""


def judge_images(pages: Iterable[tuple[str, str | bytes]]) -> list[ImageVerdict]:
    """The verdict on each image of these pages, which are given as pairs of address and HTML.

    Give several pages of a site at once: an image that many of them show is likely to be navigation.

    >>> bee = "<img src=/bee.jpg alt='A bee' width=640 height=480>"
    >>> page = f"<p>Bees dance in the dark.<p>{bee}<img src=/1.gif width=1 height=1>"
    >>> [(verdict.url, verdict.is_noise) for verdict in judge_images([("https://example.org/", page)])]
    [('https://example.org/bee.jpg', False), ('https://example.org/1.gif', True)]
    """
    judge = Judge()
    sightings_of_pages = list[tuple[str, tuple[Sighting, ...]]]()
    evidence = dict[str, Evidence]()
    for url, html in pages:
        page = Page.from_html(html, url)
        shown = sightings(page, auto(page))
        evidence.setdefault(address_of(url).site, Evidence()).see(shown)
        sightings_of_pages.append((url, shown))
    return [
        ImageVerdict(
            page=page_url,
            url=url,
            is_noise=verdict.is_noise,
            probability=verdict.probability,
            reasons=tuple(str(reason.message) for reason in verdict.reasons),
        )
        for page_url, shown in sightings_of_pages
        for url, verdict in verdicts(shown, judge, evidence[address_of(page_url).site]).items()
    ]
