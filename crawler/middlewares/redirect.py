"""Follows redirects within the scope of the crawl, to addresses that are not known yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler.build_crawl import crawl_of
from crawler.outcomes import Code, Outcome
from crawler.spiders.request_outcomes import MOVED_TO, REFUSED_TIMES, Refusal
from crawler.spiders.topic_tracker import KINDS
from crawler.urls.parsing import absolute

if TYPE_CHECKING:
    from crawler.frontier.frontier import Frontier
    from crawler.frontier.page_result import Lease
    from crawler.frontier.scope import Scope

ANYWHERE = KINDS | {"image"}
CONDITIONS = (b"If-None-Match", b"If-Modified-Since")
OF_THE_OLD = ("handle_httpstatus_list", REFUSED_TIMES)
"""Meta keys that do not apply to the target of a redirect."""
MOVED = (301, 302, 303, 307, 308)


class ScopedRedirectMiddleware(RedirectMiddleware):
    """Follows a redirect like a link: one page for each address, and none outside the scope.

    The target of a seed becomes a home of the crawl. Images, examples and robots.txt may be anywhere.
    """

    scope: Scope
    frontier: Frontier
    learn: Callable[[str, str], None]
    """Called with the new home of a seed."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl, middleware = crawl_of(crawler), super().from_crawler(crawler)
        middleware.scope, middleware.frontier, middleware.learn = crawl.scope, crawl.frontier, crawl.learning.take_in
        return middleware

    async def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        lease: Lease | None = request.meta.get("lease")
        try:
            answer = super().process_response(request, response)
        except ValueError:
            raise Refusal(Outcome(Code.REDIRECT_TO_NOTHING)) from None
        except IgnoreRequest:
            raise Refusal(Outcome(Code.TOO_MANY_REDIRECTS)) from None
        if lease is None or (answer is response and response.status not in MOVED):
            return answer
        url = None if answer is response else absolute(request.url, answer.url)
        if url is None:
            raise Refusal(Outcome(Code.REDIRECT_TO_NOTHING))
        candidate = lease.candidate
        if candidate.kind == "seed":
            self.learn("home", url)
            request.meta[MOVED_TO] = (*request.meta.get(MOVED_TO, ()), url)
        elif candidate.kind not in ANYWHERE and (refusal := self.scope.refusal(url, page=candidate.kind != "list")):
            raise Refusal(Outcome(Code.REDIRECT_REFUSED, str(refusal)))
        to = candidate._replace(url=url, requested=candidate.requested or candidate.url)
        moved = await self.frontier.redirect(lease.id, to)
        if moved is None or url == request.url:
            raise Refusal(Outcome(Code.REDIRECT_TO_KNOWN))
        # Validators of the requested page do not apply to another one.
        headers = {name: value for name, value in answer.headers.items() if name not in CONDITIONS}
        meta = {name: value for name, value in answer.meta.items() if name not in OF_THE_OLD}
        return answer.replace(
            url=url, headers=headers, meta=meta | {"lease": moved, MOVED_TO: request.meta.get(MOVED_TO, ())}
        )
