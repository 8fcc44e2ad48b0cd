"""The download handler for http and https, which changes Scrapy's in four ways: the pause between two requests to a
host begins when the first is sent, Twisted does not retry on its own, the headers and chunks of responses are limited,
and some requests may only go to public addresses.

Twisted has no hooks for this, so the factories of its connection pools are subclassed, and methods of its protocols and
parsers are replaced.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from time import monotonic
from typing import Any

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError, ResponseDataLossError
from scrapy.http import Response
from twisted.internet.interfaces import IAddress, IHandshakeListener
from twisted.python.failure import Failure
from twisted.web.http import _ChunkedTransferDecoder
from zope.interface import alsoProvides

from crawler.build_crawl import slot_of
from crawler.outcomes import Code, Outcome
from crawler.spiders.request_outcomes import ONLY_PUBLIC, Refusal
from crawler.urls.http_limits import MOST_CHUNKS
from crawler.urls.public_hosts import is_public

MOST_BYTES = 256 * 1024
"""The most bytes of the headers of a response, as in Chrome; Twisted has no limit."""
LONGEST_LINE = 64 * 1024
"""The most bytes of one header. Twisted's limit is 16 KB, which some Content-Security-Policy headers exceed."""


class LimitError(Exception):
    """A response exceeds a limit."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


class LimitedHandler(HTTP11DownloadHandler):
    """Scrapy's handler with limits for responses, and without Twisted's retries.

    Twisted retries when a host closes a connection that was kept open; these retries are not counted and ignore the
    pause of the host. Scrapy's RetryMiddleware retries instead, on a new connection, as the host may have closed all
    connections that were kept open.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._crawler = crawler
        self._pool.retryAutomatically = False
        # Sends retries; it keeps no connections open.
        self._retries = HTTP11DownloadHandler(crawler)
        self._retries._pool.persistent = False
        # Sends requests that may only go to public addresses; it keeps no connections open, either.
        self._only_public = HTTP11DownloadHandler(crawler)
        self._only_public._pool.persistent = False
        for pool in (self._pool, self._retries._pool, self._only_public._pool):
            pool._factory = _with_limits(pool._factory, self._begin_pause)
        self._only_public._pool._factory = _to_public_addresses(self._only_public._pool._factory)

    async def download_request(self, request: Request) -> Response:
        try:
            if request.meta.get(ONLY_PUBLIC):
                return await self._only_public.download_request(request)
            if "retry_times" in request.meta:
                return await self._retries.download_request(request)
            return await super().download_request(request)
        except (DownloadFailedError, ResponseDataLossError) as error:
            for reason in getattr(error.__cause__, "reasons", ()):
                if reason.check(LimitError):
                    raise Refusal(Outcome(reason.value.code)) from error
            raise

    def _begin_pause(self, name: str) -> None:
        """Begin the pause of a host now, as its request was sent; Scrapy began it before there was a connection."""
        slot = slot_of(self._crawler, name)
        if slot is not None:
            slot.lastseen = monotonic()


def _with_limits(factory: Any, report: Callable[[str], None]) -> Any:
    """A factory of connections like this one, with limits for responses; `report` is called as in SentRequests."""

    class Limited(factory):  # type: ignore[misc]
        def buildProtocol(self, addr: IAddress | None) -> Any:  # noqa: N802 - the name that Twisted calls
            protocol = super().buildProtocol(addr)
            protocol.dataReceived = ResponseLimits(protocol)
            SentRequests(protocol, report)
            return protocol

    return Limited


def _to_public_addresses(factory: Any) -> Any:
    """A factory of connections like this one, which refuses connections to addresses that are not public.

    It checks the address to which a connection was made, before anything is sent. A connection that was kept open is
    not checked again, so these requests have a pool of their own.
    """

    class ToPublicAddresses(factory):  # type: ignore[misc]
        def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - the name that Twisted calls
            if not is_public(ip_address(addr.host.partition("%")[0])):
                raise Refusal(Outcome(Code.NOT_PUBLIC))
            return super().buildProtocol(addr)

    return ToPublicAddresses


class SentRequests:
    """Calls `report` with the host of each request of a connection, after the request was sent."""

    def __init__(self, protocol: Any, report: Callable[[str], None]) -> None:
        self._send = protocol.request
        self._report = report
        self._host = ""
        protocol.request = self.send
        protocol.handshakeCompleted = self.report_last
        alsoProvides(protocol, IHandshakeListener)

    def send(self, request: Any) -> Any:
        """Send a request. TLS sends the first one after its handshake, when Twisted calls `report_last` again."""
        answer = self._send(request)
        self._host = request.headers.getRawHeaders(b"host")[0].decode("latin-1")
        self.report_last()
        return answer

    def report_last(self) -> None:
        """Report the last request in two iterations of the event loop: in the next one, the loop writes the request."""
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._report, self._host)


class FewChunks(_ChunkedTransferDecoder):
    """Decodes a body of a limited number of chunks."""

    _chunks = 0

    def _dataReceived_CRLF(self) -> bool:  # noqa: N802 - the name that Twisted calls at the end of a chunk
        self._chunks += 1
        if self._chunks > MOST_CHUNKS:
            raise LimitError(Code.BODY_TOO_LARGE)
        return super()._dataReceived_CRLF()


class ResponseLimits:
    """Receives the data of a connection, and closes the connection if a response exceeds the limits or its length."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol
        self._receive = protocol.dataReceived
        self._parser: Any = None
        """The parser of the current response; each response has its own."""
        self._received = 0
        """Bytes received of the current response."""

    def __call__(self, data: bytes) -> None:
        parser = self._protocol._parser
        if parser is not self._parser:
            self._parser = parser
            self._received = 0
            if parser is not None:
                parser.MAX_LENGTH = LONGEST_LINE
                parser.lineLengthExceeded = self._refuse
                parser._transferDecoders = {b"chunked": FewChunks}
                parser.finisher = partial(self._finish, parser.finisher)
        self._received += len(data)
        self._receive(data)
        if self._received > MOST_BYTES and self._is_in_headers():
            self._refuse()

    def _is_in_headers(self) -> bool:
        """Whether the headers of the current response have not ended yet."""
        parser = self._protocol._parser
        return parser is not None and parser.state in ("STATUS", "HEADER")

    def _refuse(self, _: bytes = b"") -> None:
        """Close the connection, as the headers are too large."""
        self._protocol._giveUp(Failure(LimitError(Code.HEADERS_TOO_LARGE)))

    def _finish(self, finish: Any, rest: bytes) -> None:
        """End a response. If data follow it, close the connection, so that they are not read as the next response."""
        if rest:
            self._protocol._currentRequest.persistent = False
        finish(rest)
