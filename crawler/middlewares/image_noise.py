"""Judges images before they are requested, so that adverts, menus and ornaments are never downloaded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.build_crawl import crawl_of
from crawler.checked_settings import image_filter_of
from crawler.frontier.page_result import AddressKind, Lease
from crawler.noise.image_evidence import Sighting
from crawler.noise.verdict import ImageFilter, Verdict, leads_to_noise
from crawler.outcomes import Code, Outcome
from crawler.spiders.links_and_images import EvidenceCache
from crawler.spiders.request_outcomes import VERDICT, Refusal
from crawler.store.batch.addresses import AddressKeys
from crawler.translation.reasons import records


class ImageNoiseMiddleware:
    """Refuses images that are noise by the evidence of their site, and pages that only such an image links to.

    It is called before robots.txt and everything else that costs a request. A share of the noise, selected by the keys
    of the addresses, is requested to audit the verdicts, unless a later middleware refuses it.
    """

    def __init__(
        self,
        image_filter: ImageFilter,
        evidence: EvidenceCache,
        keys: AddressKeys,
        audit: float,
        count: Callable[[str], None],
    ) -> None:
        self.image_filter = image_filter
        self.evidence = evidence
        self.keys = keys
        self.audit = audit
        """The share of the noise that is requested to audit the verdicts."""
        self.count = count

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        if not settings.getbool("IMAGE_NOISE_ENABLED"):
            raise NotConfigured  # without a message, as it is switched off
        crawl = crawl_of(crawler)
        audit = settings.getfloat("IMAGE_NOISE_AUDIT")
        keys = crawl.session.committer.keys
        return cls(image_filter_of(settings), crawl.evidence, keys, audit, crawler.stats.inc_value)

    def process_request(self, request: Request) -> None:
        """Refuse noise, and count the verdicts; pass content and requests that are not judged."""
        lease: Lease | None = request.meta.get("lease")
        if lease is None or lease.candidate.sight is None or VERDICT in request.meta:  # with a verdict, it is a retry
            return

        # The verdict on the image: the requested one, or the one that alone links to the requested page.
        candidate = lease.candidate
        sighting = Sighting.of(lease.candidate.sight)
        evidence = self.evidence.of(lease.shown_on)
        verdict = self.image_filter.verdict(sighting, evidence)
        is_image = candidate.kind is AddressKind.IMAGE
        is_noise = verdict.is_noise and (
            is_image or leads_to_noise(sighting, verdict, self.image_filter.judge, evidence.pages)
        )
        key = self.keys(candidate.url, candidate.kind)
        is_audited = is_noise and self.is_audited(key)
        address_columns = {"key": key, "site_id": lease.shown_on, "kind": candidate.kind, "sight": candidate.sight}
        request.meta[VERDICT] = _record(sighting, verdict, is_noise) | address_columns | {"audited": is_audited}

        # The request is refused if it is noise and not audited.
        if not is_noise:
            self.count("image_noise/kept")
            return
        if is_audited:
            self.count("image_noise/audited")
            return
        self.count("image_noise/skipped")
        self.count(f"image_noise/skipped/{verdict.decided_by}")
        if not is_image:
            self.count("image_noise/links")
        raise Refusal(Outcome(Code.NOISE, verdict.decided_by))

    def is_audited(self, key: int) -> bool:
        """Whether the noise with this key is requested for the audit."""
        return key % 1_000_000 < self.audit * 1_000_000


def _record(sighting: Sighting, verdict: Verdict, is_noise: bool) -> dict[str, Any]:
    """The row of a verdict in the database, without the columns about its address and the audit."""
    return {
        "url": sighting.url,
        "target": sighting.target,
        "page": sighting.page,
        "noise": is_noise,
        "probability": verdict.probability,
        "keyword": verdict.keyword,
        "redundancy": verdict.redundancy,
        "entropy": verdict.entropy,
        "reasons": records(verdict.reasons),
        "decided_by": verdict.decided_by if is_noise else "",
        # Known once the image was downloaded.
        "mistaken": None,
        "bytes": None,
        "bytes_are_measured": False,
        "file": None,
        "decided_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
