"""Redirects, followed within the crawl's scope and to pages it does not know yet."""

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.http import Response

from crawler.failures import Refusal
from crawler.middlewares.backoff import REFUSED_TIMES
from crawler.spiders.examples import KINDS
from crawler.spiders.topic import spider_of
from crawler.state.entries import Candidate
from crawler.urls import absolute

ANYWHERE = KINDS | {"image"}
CONDITIONS = (b"If-None-Match", b"If-Modified-Since")
OF_THE_OLD = ("handle_httpstatus_list", REFUSED_TIMES)
"""What the meta of a request says of the address it was made for."""
MOVED = (301, 302, 303, 307, 308)


class ScopedRedirectMiddleware(RedirectMiddleware):
    """Follows a redirect as it would a link: one page for each address, and none outside the scope.

    A seed may move: where it leads is the crawl's home too. Pictures and examples may lie anywhere. robots.txt, which
    has no candidate, is followed wherever it went.
    """

    async def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        candidate: Candidate | None = request.meta.get("candidate")
        try:
            answer = super().process_response(request, response)
        except ValueError:
            raise Refusal("redirected to no web address") from None
        if candidate is None or (answer is response and response.status not in MOVED):
            return answer
        url = None if answer is response else absolute(request.url, answer.url)
        if url is None:
            raise Refusal("redirected to no web address")
        spider = spider_of(self.crawler)
        if candidate.kind == "seed":
            spider.teach(request.meta["lease"], "home", url)
        elif candidate.kind not in ANYWHERE and (refusal := spider.scope.refusal(url, page=candidate.kind != "list")):
            raise Refusal(f"redirected: {refusal}")
        to = candidate._replace(url=url, requested=candidate.requested or candidate.url)
        lease = await spider.frontier.move(request.meta["lease"], to)
        if lease is None or url == request.url:
            raise Refusal("redirected to a page already known")
        # By what the page that was asked for is known, another cannot be compared.
        headers = {name: value for name, value in answer.headers.items() if name not in CONDITIONS}
        meta = {name: value for name, value in answer.meta.items() if name not in OF_THE_OLD}
        return answer.replace(url=url, headers=headers, meta=meta | {"lease": lease, "candidate": to})
