"""Follows redirects, by HTTP or by `<meta http-equiv="refresh">`, within the scope and to each address once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scrapy import Request

from crawler.frontier.frontier import Frontier
from crawler.frontier.page_result import EXAMPLE_KINDS, AddressKind, Lease
from crawler.frontier.scope import Scope
from crawler.outcomes import Code, Outcome
from crawler.spiders.request_outcomes import Refusal, lease_of

UNSCOPED_KINDS = EXAMPLE_KINDS | {AddressKind.SEED, AddressKind.IMAGE}
"""Kinds of addresses whose redirects may lead out of the scope."""
REDIRECT_TIMES = "redirect_times"
"""Meta key of a request, which Scrapy uses too: how many redirects led here."""


@dataclass(frozen=True)
class Redirects:
    """Follows redirects like links; those of seeds, images and examples may lead anywhere."""

    scope: Scope
    frontier: Frontier
    max_redirects: int
    """The most redirects in a row."""

    async def follow(self, request: Request, url: str) -> Lease | None:
        """Replace the lease of a request with a lease on the target and return it; None if the target is known already.

        Raises a Refusal if the target is outside the scope, or there were too many redirects.
        """
        lease = lease_of(request)
        candidate = lease.candidate
        if request.meta.get(REDIRECT_TIMES, 0) >= self.max_redirects:
            raise Refusal(Outcome(Code.TOO_MANY_REDIRECTS))
        if candidate.kind not in UNSCOPED_KINDS:
            refusal = self.scope.refusal(url, page=candidate.kind is not AddressKind.LIST)
            if refusal is not None:
                raise Refusal(Outcome(Code.REDIRECT_REFUSED, str(refusal)))
        if url == request.url:  # a redirect to itself
            return None
        target = replace(candidate, url=url, requested=candidate.requested or candidate.url)
        return await self.frontier.redirect(lease.id, target)
