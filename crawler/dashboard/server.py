"""The HTTP side: a request is read, answered by a thread, and written; nothing else of the dashboard knows Twisted."""

import logging
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from twisted.internet import threads
from twisted.protocols import policies
from twisted.python.failure import Failure
from twisted.python.threadpool import ThreadPool
from twisted.web import resource, server

from crawler.dashboard.access import SAFE
from crawler.dashboard.request import TEXT, Answer, Request
from crawler.dashboard.sending import SECONDS, Outbox
from crawler.translation.message import printable

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""Answers that are worked at."""
AT_ONCE_SLOW = 2
"""Besides, of those that may wait for others or take long: a few of them must not hold up all."""
SLOW = re.compile(
    r".*/(?:metrics|course|original|blocks|links|versions|gold\.jsonl|evaluate/files)|.*/labels/pages/.*|/evaluate.*"
)
"""Their addresses; changes are slow, too, as they wait for a crawl that is writing."""
MOST_WAITING = 100
MOST_CONNECTED = 500
"""Browsers, and what else; where there are more, those that wait for no answer give way."""
MOST_BYTES = 1 << 20
"""Of what a browser sends along."""
MOST_FIELDS = 10_000
FORM = "application/x-www-form-urlencoded"
RETRY = (("Retry-After", "1"),)
BUSY = Answer(b"The dashboard is busy; try again.\n", TEXT, HTTPStatus.SERVICE_UNAVAILABLE, RETRY)
TOO_LARGE = Answer(b"This is too large.\n", TEXT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
FAILED = Answer(b"Something went wrong; the log says what.\n", TEXT, HTTPStatus.INTERNAL_SERVER_ERROR)

Answers = Callable[[Request], Answer]


class BoundedRequest(server.Request):
    """A request of which no more is kept than may come, and which is waited for no longer than it may take."""

    size = 0
    deadline: Any = None
    channel: Any

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        super().gotLength(length)
        self.deadline = self.channel.callLater(SECONDS, self._refuse, b"408 Request Timeout")
        self.notifyFinish().addBoth(lambda _: self._stop_waiting())
        if length is not None and length > MOST_BYTES:
            self._refuse(b"413 Request Entity Too Large")

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        self.size += len(data)
        if self.size <= MOST_BYTES:
            super().handleContentChunk(data)
        else:
            self._refuse(b"413 Request Entity Too Large")

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:  # noqa: N802 - Twisted's name
        self._stop_waiting()
        if self.size > MOST_BYTES:  # it was refused, but its end came along
            return
        self._parsePOSTFormSubmission = False  # forms are read below, with a bound
        self.channel.transport.waits = True
        # Twisted would answer "*" by itself, whoever asks.
        super().requestReceived(command, b"/*" if path == b"*" else path, version)

    def write(self, data: bytes) -> None:
        self.channel.transport.waits, self.channel.transport.takes = False, True
        super().write(data)

    def finish(self) -> None:
        self.channel.transport.takes = False
        super().finish()

    def _stop_waiting(self) -> None:
        if self.deadline is not None and self.deadline.active():
            self.deadline.cancel()

    def _refuse(self, why: bytes) -> None:
        """Say why, and hear nothing more."""
        if self.channel is not None and not self.channel.transport.disconnecting:
            self.channel.transport.write(b"HTTP/1.1 " + why + b"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.channel.loseConnection()


class Visitor(policies.ProtocolWrapper):
    """A connection."""

    waits = False
    """Whether it has asked for something that is still being made."""
    takes = False
    """Whether it is taking an answer, of which there is more to come."""
    leaves = False
    """Whether it was hung up on for another."""


class Few(policies.WrappingFactory):
    """Lets no more in than may be connected at once: the oldest that waits for nothing is hung up on for a new one.

    An answer that is made may be on its way for long; so those that take one give way last, but they do: who never
    reads must not keep others out.
    """

    protocol = Visitor

    def __init__(self, factory: server.Site, reactor: Any) -> None:
        super().__init__(factory)
        self.reactor = reactor

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        if len(self.protocols) >= MOST_CONNECTED:
            sent = set(self.reactor.getWriters())
            free = [one for one in self.protocols if not (one.waits or one.leaves)]
            if not free:
                return None
            leaving = min(free, key=lambda one: one.takes or one.transport in sent)
            leaving.leaves = True
            if leaving.takes or leaving.transport in sent:
                leaving.transport.abortConnection()
            else:  # in order: the system may still be sending the end of an answer
                leaving.transport.loseConnection()
        return super().buildProtocol(addr)


class Counter(resource.Resource):
    """Takes requests, and hands back the answers."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, answer: Answers, reactor: Any, pool: ThreadPool, slow: ThreadPool) -> None:
        super().__init__()
        self.answer, self.reactor, self.pool, self.slow = answer, reactor, pool, slow
        self.waiting = 0
        self.outbox = Outbox()

    def render(self, request: server.Request) -> int:
        if self.waiting >= MOST_WAITING:
            self.outbox.send(request, BUSY)
            return server.NOT_DONE_YET
        self.waiting += 1
        gone: list[Failure] = []
        request.notifyFinish().addErrback(gone.append)

        def done(answer: Answer) -> None:
            self.waiting -= 1
            if not gone:
                self.outbox.send(request, answer)

        def failed(why: Failure) -> Answer:
            logger.error("A request could not be answered: %s", printable(why.getTraceback()))
            return FAILED

        try:
            asked = read(request)
        except ValueError:
            done(TOO_LARGE)
            return server.NOT_DONE_YET
        is_slow = asked.method not in SAFE or SLOW.fullmatch(asked.path) is not None
        pool = self.slow if is_slow else self.pool
        answered = threads.deferToThreadPool(self.reactor, pool, self.answer, asked)
        answered.addErrback(failed).addCallback(done)
        return server.NOT_DONE_YET


def read(request: server.Request) -> Request:
    """What a browser asks; a ValueError where it has too many fields."""
    # The address is not taken apart in full: one that names another host has a path that is not served here.
    path, _, query = request.uri.decode("utf-8", "replace").partition("?")
    headers = {
        name.decode("latin-1").lower(): ", ".join(value.decode("utf-8", "replace") for value in values)
        for name, values in request.requestHeaders.getAllRawHeaders()
    }
    form: dict[str, str] = {}
    if headers.get("content-type", "").partition(";")[0].strip().lower() == FORM and request.content is not None:
        form = _fields(request.content.read().decode("utf-8", "replace"))
    client = str(getattr(request.getClientAddress(), "host", ""))
    return Request(request.method.decode("latin-1"), path, _fields(query), form, headers, client)


def _fields(text: str) -> dict[str, str]:
    """The fields of a query or a form, of each name the first."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS):
        found.setdefault(name, value)
    return found


def site(answer: Answers, reactor: Any, pool: ThreadPool, slow: ThreadPool) -> policies.WrappingFactory:
    """What listens at the port."""
    found = server.Site(
        Counter(answer, reactor, pool, slow), requestFactory=BoundedRequest, timeout=SECONDS, reactor=reactor
    )
    found.displayTracebacks = False
    return Few(found, reactor)
