"""Answers on their way: handed over a piece at a time, as fast as each visitor takes them.

One over a slow line has all the time it needs, as long as a piece of it is taken each minute; who takes less is hung up
on.
"""

from collections import OrderedDict
from http import HTTPStatus
from typing import Any

from crawler.dashboard.access import HEADERS
from crawler.dashboard.request import Answer

PIECE = 1 << 13
SECONDS = 60
"""In which a piece of an answer must be taken, after what the system holds of it."""
MOST_BYTES = 100_000_000
"""Of all answers that are on their way: where there are more, those give way that have stood still for longest."""


class Sending:
    """An answer on its way, a producer as Twisted has it."""

    def __init__(self, request: Any, body: bytes, outbox: "Outbox") -> None:
        self.request, self.body, self.outbox = request, body, outbox
        self.sent = 0
        self.patience = request.channel.callLater(SECONDS, self.break_off)

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        """Hand over the next piece, as those before are taken."""
        if self not in self.outbox.on_their_way:  # it is being broken off
            return
        if self.sent >= len(self.body):
            self.request.unregisterProducer()
            self.request.finish()
            return
        self.patience.reset(SECONDS)
        self.outbox.on_their_way.move_to_end(self)
        self.request.write(self.body[self.sent : self.sent + PIECE])
        self.sent += PIECE

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        """The visitor is gone, which the request hears by itself."""

    def break_off(self) -> None:
        """Hang up."""
        self.request.channel.forceAbortClient()

    def end(self, _: object) -> None:
        """Forget the answer, whether it was sent or broken off."""
        if self.patience.active():
            self.patience.cancel()
        self.outbox.forget(self)


class Outbox:
    """All answers on their way, the one that has stood still for longest first."""

    def __init__(self) -> None:
        self.on_their_way: OrderedDict[Sending, None] = OrderedDict()
        self.bytes = 0

    def send(self, request: Any, answer: Answer) -> None:
        """Answer a request of Twisted's."""
        request.setResponseCode(answer.status, HTTPStatus(answer.status).phrase.encode())
        told = {**HEADERS, "Content-Type": answer.type, "Content-Length": str(len(answer.body)), "Server": "winnow"}
        for name, value in {**told, **dict(answer.headers)}.items():
            request.setHeader(name, value)
        if request.method == b"HEAD" or not answer.body:
            request.write(b"")
            request.finish()
            return
        one = Sending(request, answer.body, self)
        self.on_their_way[one] = None
        self.bytes += len(one.body)
        request.notifyFinish().addBoth(one.end)
        request.registerProducer(one, False)
        while self.bytes > MOST_BYTES and len(self.on_their_way) > 1:
            oldest = next(iter(self.on_their_way))
            self.forget(oldest)
            oldest.break_off()

    def forget(self, one: Sending) -> None:
        """Count this one no more."""
        if one in self.on_their_way:
            del self.on_their_way[one]
            self.bytes -= len(one.body)
