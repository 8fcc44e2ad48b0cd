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
from crawler.spiders.redirects import Redirects
from crawler.spiders.request_outcomes import REFUSED_TIMES, Refusal
from crawler.urls.parsing import absolute

CONDITIONS = (b"If-None-Match", b"If-Modified-Since")
"""Headers that apply to the requested page, and not to the target of a redirect."""
DROPPED_META_KEYS = ("handle_httpstatus_list", REFUSED_TIMES)
"""Meta keys that do not apply to the target of a redirect."""
REDIRECT_STATUSES = (301, 302, 303, 307, 308)


class ScopedRedirectMiddleware(RedirectMiddleware):
    """Follows HTTP redirects as Scrapy does, but within the scope of links; those of robots.txt may lead anywhere."""

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
        """Pass a response, or return the request for the target of a redirect; raises a Refusal if there is none."""
        try:
            answer = super().process_response(request, response)
        except ValueError:
            raise Refusal(Outcome(Code.REDIRECT_TO_NOTHING)) from None
        except IgnoreRequest:
            raise Refusal(Outcome(Code.TOO_MANY_REDIRECTS)) from None
        if "lease" not in request.meta or (answer is response and response.status not in REDIRECT_STATUSES):
            return answer

        url = None if answer is response else absolute(request.url, answer.url)
        if url is None:
            raise Refusal(Outcome(Code.REDIRECT_TO_NOTHING))
        lease = await self.redirects.follow(request, url)
        if lease is None:
            raise Refusal(Outcome(Code.REDIRECT_TO_KNOWN))

        headers = {name: value for name, value in answer.headers.items() if name not in CONDITIONS}
        meta = {name: value for name, value in answer.meta.items() if name not in DROPPED_META_KEYS}
        return answer.replace(url=url, headers=headers, meta=meta | {"lease": lease})
