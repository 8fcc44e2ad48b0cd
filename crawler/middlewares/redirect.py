"""Follows redirects within the scope of the crawl, to addresses that are not known yet."""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler.build_crawl import crawl_of
from crawler.outcomes import Code, Outcome
from crawler.spiders.redirect_targets import Redirects
from crawler.spiders.request_outcomes import REFUSED_TIMES, Refusal
from crawler.urls.parsing import absolute

CONDITIONS = (b"If-None-Match", b"If-Modified-Since")
"""Headers that apply to the requested page, and not to the target of a redirect."""
DROPPED_META_KEYS = ("handle_httpstatus_list", REFUSED_TIMES)
"""Meta keys that do not apply to the target of a redirect."""
REDIRECT_STATUSES = (301, 302, 303, 307, 308)


class ScopedRedirectMiddleware(RedirectMiddleware):
    """Follows HTTP redirects as Scrapy does, but within the scope.

    Redirects of requests without a lease, such as for robots.txt, may lead anywhere.
    """

    redirects: Redirects

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        middleware = super().from_crawler(crawler)
        middleware.redirects = crawl.redirects
        return middleware

    async def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        """Pass a response, or return the request for the target of a redirect.

        Raises a Refusal if a redirect has no target, or is not followed.
        """
        try:
            followed = super().process_response(request, response)
        except ValueError:  # the target is not an address
            raise Refusal(Outcome(Code.REDIRECT_TO_NOTHING)) from None
        except IgnoreRequest:
            raise Refusal(Outcome(Code.TOO_MANY_REDIRECTS)) from None
        is_passed = followed is response
        if "lease" not in request.meta or (is_passed and response.status not in REDIRECT_STATUSES):
            return followed

        # Scrapy passes a redirect without a target like any other response.
        url = None if is_passed else absolute(request.url, followed.url)
        if url is None:
            raise Refusal(Outcome(Code.REDIRECT_TO_NOTHING))
        lease = await self.redirects.follow(request, url)
        if lease is None:
            raise Refusal(Outcome(Code.REDIRECT_TO_KNOWN))

        headers = {name: value for name, value in followed.headers.items() if name not in CONDITIONS}
        meta = {name: value for name, value in followed.meta.items() if name not in DROPPED_META_KEYS}
        return followed.replace(url=url, headers=headers, meta=meta | {"lease": lease})
