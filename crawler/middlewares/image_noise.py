"""Pictures are judged before anything is asked for their sake: adverts, menus and ornaments are never downloaded."""

from datetime import UTC, datetime
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.explanation import records
from crawler.failures import Noise
from crawler.judging import Court, court_of, leads_to_noise
from crawler.noise.sighting import Sighting
from crawler.noise.verdict import Verdict
from crawler.spiders.topic import spider_of
from crawler.state.entries import Candidate

JUDGED = "image_noise"
"""Marks requests in their meta that were judged: retries and redirects are not judged again."""


class ImageNoiseMiddleware:
    """Refuses pictures that are noise by what their site shows, and pages that only such a picture leads to.

    It comes before robots.txt and all else that costs a request. A share of the noise, chosen by its address, may pass
    all the same, so that one can see how often it is wrong; whether it is fetched then is for others to say.
    """

    def __init__(self, crawler: Crawler, court: Court, audit: float) -> None:
        self.crawler, self.spider = crawler, spider_of(crawler)
        self.court, self.audit = court, audit

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        if not settings.getbool("IMAGE_NOISE_ENABLED"):
            raise NotConfigured  # without words: it was asked for
        return cls(crawler, court_of(settings), settings.getfloat("IMAGE_NOISE_AUDIT"))

    def process_request(self, request: Request) -> None:
        """Let content pass, and what is none's business here; end the lease of noise."""
        candidate: Candidate | None = request.meta.get("candidate")
        if candidate is None or candidate.sight is None or JUDGED in request.meta:
            return
        request.meta[JUDGED] = True
        lease, frontier, stats = request.meta["lease"], self.spider.frontier, self.crawler.stats
        sighting = Sighting.of(candidate.sight)
        evidence = self.spider.pictures.shelf.of(frontier.shown_on(lease))
        verdict = self.court.verdict(sighting, evidence)
        is_picture = candidate.kind == "image"
        noise = verdict.is_noise and (is_picture or leads_to_noise(sighting, verdict, self.court.judge, evidence.pages))
        audited = noise and self.is_chosen(frontier.keys(candidate.url, candidate.kind))
        told = {"sight": candidate.sight, "audited": audited}
        frontier.judged(lease, _record(sighting, verdict, noise) | told)
        if not noise:
            stats.inc_value("image_noise/kept")
            return
        if audited:  # what comes of it is not known yet
            stats.inc_value("image_noise/chosen")
            return
        model = verdict.decided_by or "model"
        stats.inc_value("image_noise/skipped")
        stats.inc_value(f"image_noise/skipped/{model}")
        if not is_picture:
            stats.inc_value("image_noise/links")
        frontier.not_asked(lease)
        raise Noise(f"noise/{model}")

    def is_chosen(self, key: int) -> bool:
        """Whether what has this key is to be fetched although it is noise."""
        return key % 1_000_000 < self.audit * 1_000_000


def _record(sighting: Sighting, verdict: Verdict, noise: bool) -> dict[str, Any]:
    """What is kept of a verdict."""
    return {
        "url": sighting.url,
        "target": sighting.target,
        "page": sighting.page,
        "noise": noise,
        "probability": verdict.probability,
        "keyword": verdict.keyword,
        "redundancy": verdict.redundancy,
        "entropy": verdict.entropy,
        "reasons": records(verdict.reasons),
        "decided_by": verdict.decided_by if noise else "",
        "mistaken": None,
        "bytes": None,
        "bytes_are_measured": False,
        "file": None,
        "decided_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
