"""Serves the dashboard with Uvicorn until a signal, with limits for its connections.

Uvicorn itself limits neither the size of requests, nor slow clients, nor the memory of responses. All limits are
applied in the thread of the event loop.
"""

import asyncio
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from threading import Event, Thread
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from crawler.command_line.terminal import printable, say
from crawler.contrib.dashboard.access import RefusedError
from crawler.translation.message import N_, Message, localized
from crawler.urls.lru_dict import LruDict

SECONDS = 60
"""Seconds for the head of a request, for its body, and for the client to receive each PIECE of a response."""
BUFFER = 1 << 17
"""Bytes of a response that the system buffers for a client: with more, a stalled client is noticed late."""
PIECE = 1 << 14
"""Bytes of a response that are written at once."""
MOST_HEAD = 1 << 14
MOST_BODY = 1 << 20
MOST_DRAINED = 4 * MOST_BODY
"""Bytes of a too large body that are read before it is refused: a client may read nothing until it has sent it."""
MOST_ANSWERS = 100_000_000
"""Bytes of all responses in transit; above it, the responses without progress for the longest time are aborted."""
MOST_WAITING = 100
"""Requests that wait for a thread or have one."""
MOST_CONNECTIONS = 500
"""Above it, the oldest idle connection is closed."""
TOO_LARGE = RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large.")
LONG_HEAD = RefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of this request is too long.")
TOO_SLOW = RefusedError(HTTPStatus.REQUEST_TIMEOUT, "This request took too long to arrive.")
BUSY = RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "The dashboard is busy; try again.")

App = Callable[..., Awaitable[None]]


class Visitors:
    """All connections of a server, oldest first."""

    def __init__(self) -> None:
        self.connections: dict[Connection, None] = {}
        self.answers: LruDict[Connection, int] = LruDict(MOST_ANSWERS, weigh=int)
        """The bytes of responses in transit; the last one made progress most recently."""
        self.waiting = 0
        """Requests whose response is being prepared."""

    def make_room(self) -> bool:
        """Close a connection if there are too many; returns whether there is room for another."""
        if len(self.connections) < MOST_CONNECTIONS:
            return True
        free = [connection for connection in self.connections if not connection.is_waiting]
        if free:
            leaving = min(free, key=lambda connection: connection.is_taking)
            del self.connections[leaving]
            leaving.hang_up()
        return bool(free)

    def begin(self, answer: "Connection", size: int) -> None:
        """Count the bytes of a response; abort others if they use too much memory."""
        for stalled, _ in self.answers.set(answer, size):
            stalled.transport.abort()


class Connection(H11Protocol):
    """A connection of Uvicorn with limits."""

    def __init__(self, visitors: Visitors, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.visitors = visitors
        self.dashboard: App = self.app
        self.app = self.respond
        self.is_waiting = False
        """Whether a response is being prepared."""
        self.has_begun = False
        """Whether a part of a request's head has been received."""
        self.timer: asyncio.TimerHandle | None = None

    @property
    def is_taking(self) -> bool:
        """Whether a response is being sent to the client."""
        return self in self.visitors.answers or self.transport.get_write_buffer_size() > 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self.visitors.make_room():
            transport.abort()
            return
        self.visitors.connections[self] = None
        transport.set_write_buffer_limits(high=PIECE)
        self._limit_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self.visitors.connections.pop(self, None)
        self.visitors.answers.pop(self)
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.has_begun and not self.is_waiting and self not in self.visitors.answers:
            self.has_begun = True
            self._limit_time()
        super().data_received(data)

    def hang_up(self) -> None:
        """Close the connection; without sending the rest if the client does not receive its response."""
        if self.is_taking:
            self.transport.abort()
        else:  # cleanly: the system may still be sending the end of a response
            self.transport.close()

    async def respond(self, scope: Any, receive: App, send: App) -> None:
        """Pass a request with its whole body to the dashboard, and send the response in pieces."""
        self._stop_timer()
        body, refusal, is_whole = await self._body(scope, receive)
        if body is None:
            return
        self._stop_timer()
        self.has_begun = False
        if self.visitors.waiting >= MOST_WAITING:
            refusal = refusal or BUSY
        scope["state"] |= {"body": body, "refusal": refusal}
        self.is_waiting = True
        self.visitors.waiting += 1
        has_begun = False

        async def send_on(message: Any) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                await self._begin(message, send, is_whole)
            else:
                await self._continue(message, send)

        try:
            await self.dashboard(scope, receive, send_on)
        finally:
            if not has_begun:
                self._stop_waiting()

    async def _begin(self, message: Any, send: App, is_whole: bool) -> None:
        """Send the head of a response."""
        self._stop_waiting()
        headers = message["headers"]
        if not is_whole:  # no other request can follow a part of one
            headers = [*headers, (b"connection", b"close")]
        self.visitors.begin(self, next((int(value) for name, value in headers if name == b"content-length"), 0))
        self._limit_time()
        await send({**message, "headers": headers})

    async def _continue(self, message: Any, send: App) -> None:
        """Send more of a response as fast as the client receives it."""
        body = message.get("body", b"")
        is_more = message.get("more_body", False)
        for start in range(0, max(len(body), 1), PIECE):
            end = start + PIECE
            is_last = not is_more and end >= len(body)
            self._limit_time()
            if is_last:  # the next request may begin while the piece is sent
                self.visitors.answers.pop(self)
            else:
                self.visitors.answers.use(self)
            await send({**message, "body": body[start:end], "more_body": not is_last})

    def _stop_waiting(self) -> None:
        self.visitors.waiting -= 1
        self.is_waiting = False

    async def _body(self, scope: Any, receive: Any) -> tuple[bytes | None, RefusedError | None, bool]:
        """The body, or None if the client is gone; the refusal of a bad request; whether all of the body was read."""
        head = len(scope["raw_path"]) + len(scope["query_string"])
        if head + sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEAD:
            return b"", LONG_HEAD, False
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if int(length) > MOST_DRAINED:
            return b"", TOO_LARGE, False

        body = bytearray()
        size = 0
        is_more = True
        try:
            async with asyncio.timeout(SECONDS):
                while is_more and size <= MOST_DRAINED:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None, None, False
                    piece = message["body"]
                    is_more = message["more_body"]
                    size += len(piece)
                    if size <= MOST_BODY:
                        body += piece
        except TimeoutError:
            return b"", TOO_SLOW, False
        return bytes(body), TOO_LARGE if size > MOST_BODY else None, not is_more

    def _limit_time(self) -> None:
        """Close the connection after SECONDS, counted from now."""
        self._stop_timer()
        if not self.transport.is_closing() or self.transport.get_write_buffer_size():
            self.timer = self.loop.call_later(SECONDS, self.hang_up)

    def _stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()


@dataclass(frozen=True)
class ListenAddress:
    """The address on which a dashboard listens, its path, and the addresses of reverse proxies."""

    host: str
    port: int
    root: str = ""
    proxies: tuple[str, ...] = ()


def start_line(where: str, host: str, port: int, root: str = "") -> Message:
    """The line with the address of the dashboard.

    >>> str(start_line("crawl.db", "::1", 6080))
    'The dashboard of crawl.db is at http://[::1]:6080/ (Ctrl-C stops it)'
    >>> str(start_line("crawl.db", "0.0.0.0", 6080)).partition("(")[2]
    'on other machines, use another address of this machine; Ctrl-C stops it)'
    """
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound to here
    name = everywhere.get(host, host)
    if ":" in name:
        name = f"[{name}]"
    values = {"where": where, "url": f"http://{name}:{port}{root}/"}
    local = N_("The dashboard of {where} is at {url} (Ctrl-C stops it)")
    public = N_(
        "The dashboard of {where} is at {url} (on other machines, use another address of this machine; Ctrl-C stops it)"
    )
    return Message(public if host in everywhere else local, values)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on a host and a port; raises an OSError if that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server(("127.0.0.1" if host == "localhost" else host, port), family=family, backlog=128)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    # Connections inherit the option: asyncio sets it only for sockets whose protocol number is given.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def server_of(application: App, proxies: Sequence[str] = ()) -> uvicorn.Server:
    """A server with limits on its connections, behind reverse proxies at these addresses or in these networks."""
    return uvicorn.Server(
        uvicorn.Config(
            application,
            http=partial(Connection, Visitors()),  # type: ignore[arg-type]
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            log_level=logging.CRITICAL,
            access_log=False,
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            timeout_keep_alive=SECONDS,
            h11_max_incomplete_event_size=MOST_HEAD,
        )
    )


def serve(application: App, address: ListenAddress, where: str) -> int:
    """Serve until a signal ends the server; returns the exit status.

    All threads are daemons, so that the process does not wait for unfinished responses at the end.
    """
    try:
        listening = listen(address.host, address.port)
    except OSError as error:
        sentence = N_("cannot listen on {host} port {port}: {why}; choose another with --port")
        values = {"host": address.host, "port": address.port, "why": error.strerror}
        say("dashboard", Message(sentence, values))
        return 1
    ended = Event()
    for stop_signal in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop_signal, lambda *_: ended.set())

    def run() -> None:
        try:
            server_of(application, address.proxies).run([listening])
        finally:
            ended.set()

    line = start_line(where, address.host, listening.getsockname()[1], address.root)
    print(printable(localized(line)), flush=True)
    Thread(target=run, name="server", daemon=True).start()
    while not ended.wait(1.0):  # on Windows, a signal does not interrupt a longer wait
        pass
    return 0
