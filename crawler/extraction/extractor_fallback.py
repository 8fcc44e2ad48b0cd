"""A second method for pages whose text the first method doubts: any other method, or a server on localhost.

The server gets each page by itself, as `POST` with the JSON object `{"url": …, "html": …}`, and answers with status 200
and `{"text": …}`. If it answers anything else, or if the second method raises an exception, the page keeps the first
text.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import SplitResult, urlsplit

from crawler.extraction.auto import DOUBT
from crawler.page.page import Extraction, Page
from crawler.urls.guarded_connection import GuardedConnection, NotAllowedError
from crawler.urls.public_hosts import Address, AllowList

logger = logging.getLogger(__name__)

SECONDS = 30.0
"""Time limit of a server for one page."""
MAX_ANSWER = 5_000_000
"""The most bytes of a server's answer."""


class FallbackError(Exception):
    """The second method gives no text; the message says why."""


@dataclass(frozen=True)
class FallbackServer:
    """A server that finds the main text of pages."""

    address: str
    allowed: AllowList
    """The addresses that are allowed besides localhost."""
    seconds: float = SECONDS
    """The time limit for one page."""

    @property
    def _parts(self) -> SplitResult:
        return urlsplit(self.address)

    def _may_connect(self, host: str, port: int, address: Address) -> bool:
        return address.is_loopback or self.allowed.opens(host, port, address)

    def _connection(self) -> GuardedConnection:
        return GuardedConnection(self._parts, self._may_connect, self.seconds)

    def check(self) -> None:
        """Raise a ValueError if the address is not valid, or a NotAllowedError or an OSError if it may not be used."""
        if self._parts.scheme != "http" or not self._parts.hostname or self._parts.username:
            raise ValueError(f"{self.address[:100]!r} is not the address of a server, with http:// and without a user")
        self._connection().allowed_address()

    def __call__(self, page: Page) -> Extraction:
        """The main text from the server; raises a FallbackError if the server gives none."""
        body = json.dumps({"url": page.url, "html": page.html}).encode("utf-8", "replace")
        target = self._parts.path or "/"
        if self._parts.query:
            target += f"?{self._parts.query}"
        try:
            with self._connection() as connection:
                connection.request("POST", target, body, {"Content-Type": "application/json"})
                return Extraction(text=_text(connection.getresponse()), title="")
        except NotAllowedError:
            raise FallbackError("its address is not allowed") from None
        except (OSError, HTTPException) as error:
            raise FallbackError(f"no answer: {error or type(error).__name__}") from None


def _text(response: HTTPResponse) -> str:
    """The text in an answer; raises a FallbackError if there is none."""
    if response.status != 200:
        raise FallbackError(f"status {response.status}")
    answer = response.read(MAX_ANSWER + 1)
    if len(answer) > MAX_ANSWER:
        raise FallbackError(f"more than {MAX_ANSWER:,} bytes")
    try:
        text = json.loads(answer)["text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FallbackError("no JSON object with a text") from None
    if not isinstance(text, str):
        raise FallbackError("no JSON object with a text")
    return text


@dataclass(frozen=True)
class ExtractorFallback:
    """The second method, for pages in doubt."""

    name: str
    """A dotted path or an address, as it is named in items."""
    extract: Callable[[Page], Extraction]


def is_doubtful(extraction: Extraction) -> bool:
    """Whether a method expects a low F1 of its text.

    >>> is_doubtful(Extraction("", "", certainty=0.79)), is_doubtful(Extraction("", ""))
    (True, False)
    """
    return extraction.certainty is not None and extraction.certainty < DOUBT


def with_fallback(extract: Callable[..., Extraction], fallback: ExtractorFallback) -> Callable[..., Extraction]:
    """A method that takes the text of a second method if it doubts its own. The result keeps the low certainty of the
    first method, so that the doubt is visible.
    """
    return partial(_extract, extract, fallback)


def _extract(extract: Callable[..., Extraction], fallback: ExtractorFallback, page: Page, **options: Any) -> Extraction:
    # Other parts of the crawler extract the same page, so the result is cached. It is not if there are options such as
    # a library, on which it depends.
    first = extract(page, **options) if options else page.once(extract)
    if not is_doubtful(first):
        return first
    try:
        second = fallback.extract(page)
        if not isinstance(second, Extraction) or not second.text.strip():
            raise FallbackError("no text")
    except Exception as error:  # an error in the method of another package must not cost the page
        logger.warning("%s gives no text of %s: %s", fallback.name, page.url, error or type(error).__name__)
        return first
    return replace(
        second,
        certainty=first.certainty,
        title=second.title or first.title,
        comments=second.comments or first.comments,
        page_type=second.page_type or first.page_type,
        method=fallback.name,
    )
