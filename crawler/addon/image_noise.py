"""Refuses requests for images that are adverts or navigation, judged by the pages of their site."""

import logging
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from crawler.addon.response_page import html_page
from crawler.extraction import EXTRACTORS
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.image_features import sightings
from crawler.noise.verdict import Judge
from crawler.urls.address import address_of
from crawler.urls.lru_dict import LruDict

logger = logging.getLogger(__name__)

MOST_IMAGES = 100_000
"""Images whose pages are remembered. The oldest are forgotten first; they are then downloaded without being judged."""


class ImageNoiseFilter:
    """Reads each page on its way to the spider, and judges each request for an image that a page shows."""

    def __init__(self, stats: StatsCollector) -> None:
        self.stats = stats
        self.judge = Judge()
        self._evidence: dict[str, Evidence] = {}
        """What the pages of each site, as read so far, say about its images."""
        self._shown: LruDict[str, tuple[str, Sighting]] = LruDict(MOST_IMAGES)
        """For each address of an image, the site of the page that showed it last, and how the page shows it."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.stats)

    def process_request(self, request: Request) -> None:
        """Refuse an image that is noise."""
        if request.url not in self._shown:
            return
        site, sighting = self._shown[request.url]
        verdict = self.judge.judge(sighting, self._evidence[site])
        if verdict.is_noise:
            self.stats.inc_value("winnow/images_refused")
            reasons = "; ".join(str(reason.message) for reason in verdict.reasons)
            logger.debug("Image refused: %s (%s)", request.url, reasons)
            raise IgnoreRequest("the image is an advert or navigation")

    def process_response(self, request: Request, response: Response) -> Response:
        """Remember which images a page shows, and how."""
        page = html_page(response)
        if page is not None:
            shown = sightings(page, page.once(EXTRACTORS["auto"]))
            site = address_of(page.url).site
            self._evidence.setdefault(site, Evidence()).see(shown)
            for sighting in shown:
                self._shown.set(sighting.url, (site, sighting))
        return response
