"""The HTTP side: a request is read, answered by a thread, and written; nothing else of the dashboard knows Twisted."""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from twisted.internet import threads
from twisted.python.failure import Failure
from twisted.python.threadpool import ThreadPool
from twisted.web import resource, server

from crawler.dashboard.door import HEADERS
from crawler.dashboard.request import TEXT, Answer, Request

logger = logging.getLogger(__name__)

AT_ONCE = 4
"""Answers that are worked at."""
MOST_WAITING = 100
MOST_BYTES = 1 << 20
"""Of what a browser sends along."""
MOST_FIELDS = 10_000
SECONDS = 60
"""That a browser may take for its request, or until the next one."""
FORM = "application/x-www-form-urlencoded"
BUSY = Answer(b"The dashboard is busy; try again.\n", TEXT, HTTPStatus.SERVICE_UNAVAILABLE)
TOO_LARGE = Answer(b"This is too large.\n", TEXT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
FAILED = Answer(b"Something went wrong; the log says what.\n", TEXT, HTTPStatus.INTERNAL_SERVER_ERROR)

Answers = Callable[[Request], Answer]


class BoundedRequest(server.Request):
    """A request of which no more is kept than may come."""

    size = 0

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        self.size += len(data)
        if self.size <= MOST_BYTES:
            super().handleContentChunk(data)
        elif self.channel is not None:
            self.channel.loseConnection()


class Counter(resource.Resource):
    """Takes requests, and hands back the answers."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, answer: Answers, reactor: Any, pool: ThreadPool) -> None:
        super().__init__()
        self.answer, self.reactor, self.pool = answer, reactor, pool
        self.waiting = 0

    def render(self, request: server.Request) -> int:
        if self.waiting >= MOST_WAITING:
            _write(request, BUSY)
            return server.NOT_DONE_YET
        self.waiting += 1
        gone: list[Failure] = []
        request.notifyFinish().addErrback(gone.append)

        def done(answer: Answer) -> None:
            self.waiting -= 1
            if not gone:
                _write(request, answer)

        def failed(why: Failure) -> None:
            logger.error("A request could not be answered: %s", why.getTraceback())
            done(FAILED)

        try:
            asked = read(request)
        except ValueError:
            done(TOO_LARGE)
            return server.NOT_DONE_YET
        threads.deferToThreadPool(self.reactor, self.pool, self.answer, asked).addCallbacks(done, failed)
        return server.NOT_DONE_YET


def read(request: server.Request) -> Request:
    """What a browser asks; a ValueError where it has too many fields."""
    address = urlsplit(request.uri.decode("latin-1"))
    headers = {
        name.decode("latin-1").lower(): values[0].decode("utf-8", "replace")
        for name, values in request.requestHeaders.getAllRawHeaders()
    }
    form: dict[str, str] = {}
    if headers.get("content-type", "").partition(";")[0].strip().lower() == FORM and request.content is not None:
        form = _fields(request.content.read().decode("utf-8", "replace"))
    method = request.method.decode("latin-1")
    return Request(method, address.path, _fields(address.query), form, headers)


def _fields(text: str) -> dict[str, str]:
    """The fields of a query or a form, of each name the first."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS):
        found.setdefault(name, value)
    return found


def _write(request: server.Request, answer: Answer) -> None:
    request.setResponseCode(answer.status)
    for name, value in {**HEADERS, "Content-Type": answer.type, **dict(answer.headers)}.items():
        request.setHeader(name, value)
    request.setHeader("Server", "winnow")
    request.write(answer.body if request.method != b"HEAD" else b"")
    request.finish()


def site(answer: Answers, reactor: Any, pool: ThreadPool) -> server.Site:
    """What listens at the port."""
    found = server.Site(Counter(answer, reactor, pool), requestFactory=BoundedRequest, timeout=SECONDS)
    found.displayTracebacks = False
    return found
