"""The outcome of each request, such as why it failed or was refused.

`outcome_of` finds the outcome of a failed request, and `result_of` begins the result of a request with what its meta
says. `Leases` counts the outcomes of finished results and passes the results to the frontier.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from gzip import BadGzipFile

import brotli
from OpenSSL.SSL import Error as TlsError
from scrapy import Request, exceptions
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from service_identity import CertificateError, VerificationError
from twisted.python.failure import Failure

from crawler.frontier.frontier import Frontier
from crawler.frontier.page_result import EXAMPLE_KINDS, AddressKind, Candidate, Lease, LessonKind, PageResult
from crawler.outcomes import READ, SEED_FAILURES, Code, Group, Outcome
from crawler.page.page import Page
from crawler.page.walls import HEADERS, PAYMENT_REQUIRED, wall_service
from crawler.recrawl.page_history import GONE_AFTER, ChangeCheck, PageChange, is_absent
from crawler.spiders.crawl_status import CrawlStatus, OutcomeCounts
from crawler.urls.address import address_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Refusal(exceptions.IgnoreRequest):
    """The crawler refuses to send or follow this request."""

    def __init__(self, outcome: Outcome, response: Response | None = None) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome
        self.response = response
        """The response, if the request was sent."""


TOO_BUSY = (429, 503)
"""Statuses of hosts that refuse requests for a time."""
EXAMPLE_CODES = frozenset((Code.EXAMPLE, Code.COUNTEREXAMPLE))
"""Outcomes of examples that were read."""
NO_WHOLE_PAGE = frozenset((204, 205, 206))
"""Statuses of responses with no body, or with only a part of one."""
TLS_ERRORS = (TlsError, VerificationError, CertificateError)
"""Errors of certificates, such as an unknown issuer, another name or no name."""
CODES: dict[type[BaseException], Code] = {
    exceptions.CannotResolveHostError: Code.HOST_NOT_FOUND,
    exceptions.DownloadTimeoutError: Code.TIMEOUT,
    exceptions.DownloadConnectionRefusedError: Code.CONNECTION_REFUSED,
    exceptions.DownloadCancelledError: Code.BODY_TOO_LARGE,
    exceptions.ResponseDataLossError: Code.ANSWER_CUT,
    exceptions.DownloadFailedError: Code.CONNECTION_LOST,
    **dict.fromkeys((BadGzipFile, zlib.error, brotli.error, zstd.ZstdError), Code.BAD_ENCODING),
    ValueError: Code.BAD_HOST_NAME,
}
"""The code of each error, subclasses before their base classes. Host names that cannot be encoded raise ValueError."""
PRICE = "crawler-price"
"""Header of the price of a page: https://developers.cloudflare.com/ai-crawl-control/features/pay-per-crawl/"""
PRICE_WORDS = re.compile(r"[\w$., ]{1,30}")
"""A price, such as USD 0.01."""
_WALL_HEADERS = {name.title().encode(): name for name in HEADERS}
"""The names of headers by which walls are recognized, by the keys under which Scrapy keeps them."""
MOST_REASON = 100
"""The most characters that are kept of another component's reason for refusing a request."""


def outcome_of(failure: Failure) -> Outcome:
    """Why a request failed, without the details of the individual request, so that equal outcomes can be counted."""
    error = failure.value
    if isinstance(error, HttpError):
        return _refused_by_status(error.response)
    if isinstance(error, Refusal):
        return error.outcome
    if isinstance(error, exceptions.IgnoreRequest):
        if "DOWNLOAD_MAXSIZE" in str(error):  # Scrapy's HttpCompressionMiddleware says so only in words
            return Outcome(Code.BODY_TOO_LARGE)
        return Outcome(Code.REFUSED, str(error)[:MOST_REASON])
    if _caused_by_tls(error):
        return Outcome(Code.TLS_REFUSED)
    code = next((code for kind, code in CODES.items() if isinstance(error, kind)), None)
    if code:
        return Outcome(code)
    return Outcome(Code.ERROR, type(error).__name__)


def _refused_by_status(response: Response) -> Outcome:
    """The outcome of a response with an error status; for 402 with the price, if the response names it."""
    if response.status != PAYMENT_REQUIRED:
        return Outcome(Code.HTTP_STATUS, str(response.status))
    price = (response.headers.get(PRICE) or b"").decode("latin-1").strip()
    return Outcome(Code.PAYMENT_REQUIRED, price if PRICE_WORDS.fullmatch(price) else "")


def wall_outcome(response: Response) -> Outcome | None:
    """The outcome of a request if its response is a wall against robots, otherwise None."""
    sent_keys = _WALL_HEADERS.keys() & response.headers.keys()
    headers = {_WALL_HEADERS[key]: b", ".join(response.headers.getlist(key)).decode("latin-1") for key in sent_keys}
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    service = wall_service(
        response.status, headers, Page(url=response.url, body=response.body, content_type=content_type)
    )
    if service:
        return Outcome(Code.WALLED, service)
    return None


def _caused_by_tls(error: BaseException | None) -> bool:
    """Whether an error, its cause or one of the cause's `reasons` (Twisted) is an error of a certificate."""
    cause = getattr(error, "__cause__", None)
    reasons = [failure.value for failure in getattr(cause, "reasons", ())]
    return any(isinstance(inner, TLS_ERRORS) for inner in (error, cause, *reasons))


ROBOTS = "robots_txt"
"""Meta key of requests for robots.txt itself."""
OF_SITE = "file_of_site"
"""Meta key of requests for other files in which sites declare how their pages may be used."""
PART_OF_PAGE = "part_of_page"
"""Meta key of requests that the scripts of a page send."""
ONLY_PUBLIC = "only_public"
"""Meta key of a request: whether it may only be sent to a public address, even if the settings allow others."""
TRIAL = "trial"
"""Meta key of a request whose page was to be rendered: the trial (whether the page gained content), or None."""
SITE_FILES = "site_files"
"""Meta key of a request: the files of its host that declare how pages may be used."""
REFUSED_TIMES = "backoff_times"
"""Meta key of a request: how many times its host refused it."""
REFUSED = "refused"
"""Meta key of a request that waits until its host has answered another request."""
VERDICT = "verdict"
"""Meta key of a request for a judged image: the row of its verdict."""
TEMPORARY_CODES = frozenset(
    (Code.NOT_PUBLIC, Code.ROBOTS_UNREADABLE, Code.HOST_CLOSED, Code.HOST_WALLED, Code.LOGIN_FORM)
)
"""Outcomes after which, as after failures, a seed is requested again when the crawl is started again."""
RECRAWL_STATISTICS = {
    PageChange.NEW: ("new",),
    PageChange.CHANGED: ("changed",),
    PageChange.SAME: ("unchanged",),
    PageChange.RENEWED: ("unchanged",),
    PageChange.NOT_MODIFIED: ("unchanged", "not_modified"),
    PageChange.NOINDEX: ("noindex",),
}
"""The statistics that count each result of checking a page for changes."""


def can_wait(request: Request) -> bool:
    """Whether a request can be queued again; requests for robots.txt, similar files and parts of pages cannot."""
    return not request.meta.keys() & {ROBOTS, OF_SITE, PART_OF_PAGE}


def lease_of(request: Request) -> Lease:
    """The lease that a request was made for."""
    lease: Lease = request.meta["lease"]
    return lease


def result_of(request: Request, outcome: Outcome | None = None) -> PageResult:
    """The result of a request with what its meta says: the verdict on an image, the trial of a page, and for a seed
    that did not fail, the address to which redirects led.
    """
    lessons: tuple[tuple[LessonKind, str], ...] = ()
    if outcome is None or outcome.code.group is not Group.FAILED:
        home = new_home(lease_of(request).candidate)
        if home is not None:
            lessons = ((LessonKind.HOME, home),)
    verdict = request.meta.get(VERDICT)
    trial = request.meta.get(TRIAL)
    return PageResult(outcome, lessons=lessons, verdict=verdict, trial=trial)


def new_home(candidate: Candidate) -> str | None:
    """The address to which redirects led a seed, which becomes a home of the crawl; None if there is none."""
    if candidate.kind is AddressKind.SEED and candidate.requested is not None:
        return candidate.url
    return None


@dataclass(frozen=True)
class Leases:
    """Ends leases, and counts their outcomes."""

    frontier: Frontier
    counts: OutcomeCounts
    status: CrawlStatus
    count_statistic: Callable[[str, int], None]
    is_later_round: Callable[[], bool]
    """Returns whether the crawl had a round before this one; only then are checks for changes counted."""

    def finish(self, lease: Lease, result: PageResult) -> None:
        """End a lease with its result, unless it has ended already."""
        lessons = (*result.lessons, *self._retry_notes(lease, result.outcome))
        if not self.frontier.finish(lease.id, replace(result, lessons=lessons)):
            return
        outcome = result.outcome
        if outcome is not None and outcome.code.group in (Group.SKIPPED, Group.FAILED):
            self.counts.count(outcome)
        self._record_seed(lease, outcome)
        self._record_wall(lease, outcome)
        if self.is_later_round():
            self._count_check(lease, result)

    def _retry_notes(self, lease: Lease, outcome: Outcome | None) -> Iterator[tuple[LessonKind, str]]:
        """For a seed or an example that failed, a note to request it again at the next start."""
        if outcome is not None and (outcome.code.group is Group.FAILED or outcome.code in TEMPORARY_CODES):
            if lease.candidate.kind is AddressKind.SEED:
                yield LessonKind.SEED_AGAIN, lease.candidate.url
            elif lease.candidate.kind in EXAMPLE_KINDS:
                yield LessonKind.EXAMPLE_AGAIN, lease.candidate.url

    def _record_seed(self, lease: Lease, outcome: Outcome | None) -> None:
        """Remember whether a seed or an example was read."""
        candidate = lease.candidate
        if candidate.kind is AddressKind.SEED:
            if outcome is None or outcome.code in READ:
                self.status.seeds_answered += 1
            elif outcome.code in SEED_FAILURES:
                self.status.seeds_failed[candidate.requested or candidate.url] = outcome
        elif candidate.kind in EXAMPLE_KINDS and outcome is not None and outcome.code not in EXAMPLE_CODES:
            self.status.examples_failed[candidate.requested or candidate.url] = outcome

    def _record_wall(self, lease: Lease, outcome: Outcome | None) -> None:
        """Remember the host of a page, or of a robots.txt, that is behind a wall."""
        # The detail of an unreadable robots.txt is the outcome of the request for it.
        if outcome is not None and outcome.code is Code.ROBOTS_UNREADABLE:
            outcome = Outcome.of(outcome.detail)
        if outcome is not None and outcome.code is Code.WALLED:
            self.status.note_wall(address_of(lease.candidate.url).host, outcome.detail)

    def _count_check(self, lease: Lease, result: PageResult) -> None:
        """Count the result of checking a page for changes."""
        code = result.outcome.code if result.outcome is not None else None
        check = result.check or ChangeCheck(PageChange.NOTHING)
        for name in RECRAWL_STATISTICS.get(check.change, ()):
            self.count_statistic(f"recrawl/{name}", 1)
        history = lease.history
        if history is None or not is_absent(check, code):
            return
        # A page with noindex has a time in `gone_at`, but still exists.
        was_present = history.gone_at is None or history.noindex
        if was_present and history.gone_count + 1 >= GONE_AFTER:
            self.count_statistic("recrawl/gone", 1)
