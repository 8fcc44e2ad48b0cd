"""The parts of a page that its browser requests: which of them are fetched, and the cache of answers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import Enum

from crawler.urls.address import address_of
from crawler.urls.file_cache import DAY, Fetched, FileCache

PIXEL = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c000000000100010000020144003b")
"""A transparent GIF image of one pixel."""
SCRIPTS = frozenset(("script",))
DATA = frozenset(("xhr", "fetch", "other"))
"""Kinds of data; Chromium calls the scripts of workers and preloaded data `other`."""
MOST_POSTED = 64_000
"""The most bytes in the body of a POST request that is sent; queries for data are smaller."""
MOST_KEPT = 64_000_000
"""The most bytes of the answers in the cache."""
KEPT_SECONDS = 300.0
"""How long the cache keeps data, and answers that a part does not exist; it keeps scripts for a day."""
SENT_HEADERS = frozenset(("accept", "content-type", "referer", "origin"))
"""Headers set by scripts that are sent to all sites."""
OWN_HEADERS = ("authorization", "x-")
"""Prefixes of headers that are sent only to the page's own site."""
NEVER_SENT = ("x-forwarded-", "x-http-method", "x-method-override", "x-original-", "x-rewrite-")
"""Prefixes of headers that override the request method, the URL or the client."""
MOST_HEADER = 4_000
"""The most characters in the value of a header that is sent."""
PREFLIGHT_HEADERS = ("access-control-request-",)
"""Prefixes of the headers of preflight requests, by which a browser asks whether another origin may send a request."""
PASSED_HEADERS = ("content-type", "access-control-", "cross-origin-", "x-content-type-options", "location")
"""Prefixes of the headers that the browser gets: it needs them to decide what scripts may read, and for redirects."""
CACHEABLE = frozenset((200, 301, 308, 404, 410))
"""Statuses of answers that can be cached: https://www.rfc-editor.org/rfc/rfc9110#section-15.1."""
MISSING = frozenset((404, 410))
"""Statuses of parts that do not exist."""
# Directives of Cache-Control: https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2.
FORBIDS_KEEPING = re.compile(r"no-store|no-cache|private|max-age *= *\"?0")
GIVES_TIME = re.compile(r"max-age *= *\"?[1-9]")


class Treatment(Enum):
    """How a request for a part of a page is answered."""

    FETCH = "fetch"
    EMPTY = "empty"
    """The answer is an empty stylesheet."""
    PIXEL = "pixel"
    """The answer is an image of one pixel."""
    REFUSE = "refuse"


@dataclass(frozen=True)
class PagePart:
    """A request for a part of a page."""

    url: str
    page: str
    """The address of the page."""
    kind: str
    """What it is loaded as: script, fetch, image and so on."""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    is_of_public_page: bool = True
    """Whether its page is from a public IP address; then parts from other addresses are refused."""
    is_repeated: bool = False
    """Whether its page has requested it before, to poll for a change."""
    foreign_hosts: set[str] = field(default_factory=set)
    """The hosts of other sites that its page has requested so far; a set that all parts of the page share."""

    @property
    def is_foreign(self) -> bool:
        """Whether it is on a different site than its page."""
        return address_of(self.url).site != address_of(self.page).site

    @property
    def treatment(self) -> Treatment:
        """How the request is treated; only scripts and data are fetched.

        >>> PagePart("https://a.example/x", "https://b.example/", "fetch", "POST").treatment
        <Treatment.REFUSE: 'refuse'>
        """
        if self.kind == "stylesheet":
            return Treatment.EMPTY
        if self.kind == "image":
            return Treatment.PIXEL
        if not self.url.startswith(("http://", "https://")):
            return Treatment.REFUSE
        if self.method in ("GET", "OPTIONS") and self.kind in SCRIPTS | DATA:
            return Treatment.FETCH
        if self.method == "POST" and self.kind in DATA and not self.is_foreign and len(self.body) <= MOST_POSTED:
            return Treatment.FETCH
        return Treatment.REFUSE

    @property
    def sent_headers(self) -> dict[str, str]:
        """The headers of its request that are sent on."""
        own_headers = () if self.is_foreign else OWN_HEADERS
        preflight_headers = PREFLIGHT_HEADERS if self.method == "OPTIONS" else ()
        return {
            name: value
            for name, value in self.headers.items()
            if (name in SENT_HEADERS or name.startswith((*own_headers, *preflight_headers)))
            and not name.startswith(NEVER_SENT)
            and len(value) <= MOST_HEADER
        }

    @property
    def key(self) -> Hashable:
        """The key of its answer in the cache: the site of the page, and everything that determines the answer. The page
        itself is left out: only the header Referer names it.
        """
        headers = {name: value for name, value in self.sent_headers.items() if name != "referer"}
        return address_of(self.page).site, self.is_of_public_page, self.url, tuple(sorted(headers.items()))


@dataclass(frozen=True)
class PartAnswer:
    """The answer to a request for a part."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def passed_headers(self) -> dict[str, str]:
        """The headers that the browser gets."""
        return {name: value for name, value in self.headers.items() if name.startswith(PASSED_HEADERS)}

    @property
    def may_be_kept(self) -> bool:
        """Whether other pages of the site may get the same answer: https://www.rfc-editor.org/rfc/rfc9111#section-3."""
        control = self.headers.get("cache-control", "").lower()
        varies = self.headers.get("vary", "").lower()
        if self.status not in CACHEABLE or FORBIDS_KEEPING.search(control) or "pragma" in self.headers:
            return False
        return varies in ("", "accept-encoding", "origin") and not self.is_outdated

    @property
    def is_outdated(self) -> bool:
        """Whether it had already expired when it was sent."""
        try:
            expires = parsedate_to_datetime(self.headers["expires"])
            return expires <= parsedate_to_datetime(self.headers["date"])
        except KeyError:
            return False
        except ValueError:
            return True  # an invalid date such as 0: https://www.rfc-editor.org/rfc/rfc9111#section-5.3-7

    @property
    def is_lasting_data(self) -> bool:
        """Whether data stays the same for a while: its headers have a lifetime or a date of modification."""
        has_time = GIVES_TIME.search(self.headers.get("cache-control", "").lower()) is not None
        return has_time or "last-modified" in self.headers or "expires" in self.headers


def seconds_to_keep(part: PagePart, answer: PartAnswer | None) -> float:
    """How long other pages of the site may get the same answer; 0 if they may not."""
    if answer is None or not answer.may_be_kept:
        return 0.0
    if answer.status in MISSING:
        return KEPT_SECONDS
    if part.kind in SCRIPTS:
        return DAY
    if answer.is_lasting_data:
        return KEPT_SECONDS
    return 0.0


Fetch = Callable[[PagePart], Awaitable[PartAnswer | None]]
"""Fetches a part; returns None if it is refused or fails."""


class PartCache:
    """A cache of the parts that the pages of a site share, so that a page needs few requests."""

    def __init__(self, fetch: Fetch, most_bytes: int = MOST_KEPT) -> None:
        self._fetch = fetch
        self.files: FileCache[Hashable, PartAnswer | None] = FileCache(most_bytes)

    async def get(self, part: PagePart) -> PartAnswer | None:
        """The answer to a request, which is sent only once for pages that request the same part at the same time."""
        # Data that a page requests again may have changed: pages poll for changes.
        if part.method != "GET" or (part.is_repeated and part.kind not in SCRIPTS):
            return await self._fetch(part)
        is_own_answer = False  # whether this request is sent, rather than answered from the cache or by an earlier one

        async def fetch() -> Fetched[PartAnswer | None]:
            nonlocal is_own_answer
            is_own_answer = True
            answer = await self._fetch(part)
            size = len(answer.body) if answer is not None else 0
            return Fetched(answer, size, self.files.clock() + seconds_to_keep(part, answer))

        answer = await self.files.get(part.key, fetch)
        if is_own_answer or seconds_to_keep(part, answer):
            return answer
        return await self._fetch(part)  # the answer to another page may be used only by that page
