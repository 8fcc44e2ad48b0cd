"""Refuses requests that a site disallows for the purpose of the crawl, and requests the files in which sites say so.

The tdmrep.json of a host and the licence files that its robots.txt names are requested before its first page, and
licence files that a page names after that page; each file is valid for a day. These requests keep the pauses of their
hosts and obey robots.txt.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from crawler.build_crawl import crawl_of
from crawler.frontier.page_result import AddressKind
from crawler.outcomes import Code, Outcome
from crawler.rights import rsl, tdm_reservation
from crawler.rights.page_rights import NO_FILES, SiteFiles, licence_addresses, may_name_a_file
from crawler.rights.purpose import Purpose
from crawler.rights.rsl import LicenceFile
from crawler.spiders.page_reader import page_of, rights_headers
from crawler.spiders.request_outcomes import OF_SITE, SITE_FILES, Refusal
from crawler.urls.address import address_of
from crawler.urls.file_cache import DAY, OVERHEAD_BYTES, Fetched, FileCache
from crawler.urls.lru_dict import LruDict

logger = logging.getLogger(__name__)

MAX_SIZE = 500_000
"""The most bytes of a file."""
MAX_KEPT = 5_000_000
"""The most bytes of all files in memory."""
MAX_LICENCES = 10
"""The most licence files that the pages of one host may name."""
CONTENT_KINDS = frozenset((AddressKind.SEED, AddressKind.LINK, AddressKind.IMAGE))
"""Kinds of addresses whose pages and images are collected."""


class RightsMiddleware:
    """Refuses requests that are disallowed for the purpose of the crawl, as far as this is known beforehand."""

    def __init__(self, crawler: Crawler, purpose: Purpose) -> None:
        self.crawler = crawler
        self.purpose = purpose
        self.files: FileCache[str, Any] = FileCache(MAX_KEPT)
        # For at most as many hosts as `files` can keep entries.
        self.licence_counts: LruDict[str, int] = LruDict(MAX_KEPT // OVERHEAD_BYTES)
        """How many licence files the pages of a host have named."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        purpose = crawl_of(crawler).arguments.purpose
        if not purpose.uses:
            raise NotConfigured  # without a message: such a crawl refuses nothing and needs no files
        return cls(crawler, purpose)

    async def process_request(self, request: Request) -> None:
        """Refuse a request, or let it pass with the files of its host."""
        if not _is_for_content(request):
            return
        site = await self.with_files(request.url, request.meta.get(SITE_FILES, NO_FILES))
        request.meta[SITE_FILES] = site
        signal = self.purpose.refusal(site.evidence(request.url))
        if signal is not None:
            raise Refusal(Outcome(Code.RIGHTS_RESERVED, signal))

    async def process_response(self, request: Request, response: Response) -> Response:
        """Request the licence files that a page names, and add them to the files of its request."""
        if not _is_for_content(request):
            return response
        headers = rights_headers(response)
        if may_name_a_file(response.body, headers):
            site = request.meta.get(SITE_FILES, NO_FILES)
            origin = address_of(response.url).origin
            for url in licence_addresses(page_of(response), headers):
                if not self._count_licence(origin):
                    continue
                file = await self.licence(url)
                if file is not None:
                    site = replace(site, of_page=(*site.of_page, file))
            request.meta[SITE_FILES] = site
        return response

    def _count_licence(self, origin: str) -> bool:
        """Count a licence file that a page of a host names; returns whether it is within the limit."""
        self.licence_counts.set(origin, self.licence_counts.get(origin, 0) + 1)
        return self.licence_counts[origin] <= MAX_LICENCES

    async def with_files(self, url: str, site: SiteFiles) -> SiteFiles:
        """The files of the host of an address: those in `site`, and the missing ones that the crawl's purpose needs."""
        if self.purpose.wants_reservations and site.tdm is None:
            tdm_url = address_of(url).origin + tdm_reservation.PATH
            if site.robots is None or site.robots.allows(tdm_url):
                tdm = await self.files.get(tdm_url, lambda: self._fetch(tdm_url, tdm_reservation.read_file))
                site = replace(site, tdm=tdm)
        if site.robots is not None and not site.licences:
            licence_files = [await self.licence(licence_url) for licence_url in site.robots.own.licences]
            site = replace(site, licences=tuple(file for file in licence_files if file is not None))
        return site

    async def licence(self, url: str) -> LicenceFile | None:
        """The licence file at an address, or None if there is none."""
        licence_file: LicenceFile | None = await self.files.get(url, lambda: self._fetch(url, rsl.read_file))
        return licence_file

    async def _fetch(self, url: str, read: Callable[[bytes, str, str], Any]) -> Fetched[Any]:
        """The file at an address, as `read` reads it; None if there is none."""
        valid_until = self.files.clock() + DAY
        try:
            request = Request(url, NO_CALLBACK, meta={OF_SITE: True, "download_maxsize": MAX_SIZE}, priority=1000)
            response = await self.crawler.engine.download_async(request)
        except Exception as error:
            logger.debug("%s cannot be read: %s", url, error)
            return Fetched(None, 0, valid_until)
        if response.status != 200:
            return Fetched(None, 0, valid_until)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Fetched(read(response.body, url, now), len(response.body), valid_until)


def _is_for_content(request: Request) -> bool:
    """Whether a request is for a page or an image that is collected."""
    return "lease" in request.meta and request.meta["lease"].candidate.kind in CONTENT_KINDS
