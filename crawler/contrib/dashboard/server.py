"""Serves the dashboard with Uvicorn until a signal, with limits for its connections.

Uvicorn itself limits neither the size of requests, nor slow clients, nor the memory of responses. Here a connection
receives a request with its whole body, passes it to the dashboard, and sends the response in pieces as fast as the
client receives them. All limits are applied in the thread of the event loop.
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

CLIENT_SECONDS = 60
"""Time limit for the head of a request, for its body, for the client to receive each PIECE of a response, and for the
next request to begin.
"""
SEND_BUFFER = 1 << 17
"""Bytes of a response that the system buffers for a client: with more, a stalled client is noticed late."""
PIECE = 1 << 14
"""Bytes of a response that are written at once."""
MOST_HEAD = 1 << 14
"""The most bytes of the head of a request."""
MOST_BODY = 1 << 20
"""The most bytes of the body of a request."""
MOST_DRAINED = 4 * MOST_BODY
"""The most bytes of a too large body that are read, and dropped, before it is refused: many clients read no response
until they have sent the whole body.
"""
MOST_IN_TRANSIT = 100_000_000
"""Bytes of all responses in transit; beyond it, the responses that have stalled longest are aborted."""
MOST_WAITING = 100
"""The most requests whose responses are being prepared, which wait for a thread or have one; further requests are
refused as BUSY.
"""
MOST_CONNECTIONS = 500
"""The most open connections; for a further one, `Connections.make_room` closes an older one."""
TOO_LARGE = RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large.")
LONG_HEAD = RefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of this request is too long.")
TOO_SLOW = RefusedError(HTTPStatus.REQUEST_TIMEOUT, "This request took too long to arrive.")
BUSY = RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "The dashboard is busy; try again.")

App = Callable[..., Awaitable[None]]


class Connections:
    """All connections of a server, with limits for all of them together."""

    def __init__(self) -> None:
        self.open: dict[Connection, None] = {}
        """The open connections, oldest first."""
        self.in_transit: LruDict[Connection, int] = LruDict(MOST_IN_TRANSIT, weigh=int)
        """The bytes of the response that each connection is sending, in the order in which they last made progress."""
        self.waiting = 0
        """Requests whose responses are being prepared."""

    def make_room(self) -> bool:
        """Close a connection if there are too many; returns whether there is room for another."""
        if len(self.open) < MOST_CONNECTIONS:
            return True
        closable = [connection for connection in self.open if not connection.is_waiting]
        if closable:
            # The oldest connection that sends no response, or else the oldest of all.
            leaving = min(closable, key=lambda connection: connection.is_sending)
            del self.open[leaving]
            leaving.hang_up()
        return bool(closable)

    def begin_sending(self, connection: "Connection", size: int) -> None:
        """Count the bytes of a response; abort others if all together use too much memory."""
        for stalled, _ in self.in_transit.set(connection, size):
            stalled.transport.abort()


class Connection(H11Protocol):
    """A connection of Uvicorn with limits.

    The event loop calls `connection_made`, `data_received` and `connection_lost`; Uvicorn calls `respond`.
    """

    def __init__(self, connections: Connections, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        # Uvicorn calls `app` for each request: here `respond`, which calls the dashboard.
        self.dashboard: App = self.app
        self.app = self.respond
        self.all_connections = connections
        self.is_waiting = False
        """Whether a response is being prepared."""
        self.has_head_begun = False
        """Whether a part of a request's head has been received."""
        self.timer: asyncio.TimerHandle | None = None

    @property
    def is_sending(self) -> bool:
        """Whether a response is being sent to the client."""
        return self in self.all_connections.in_transit or self.transport.get_write_buffer_size() > 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self.all_connections.make_room():
            transport.abort()
            return
        self.all_connections.open[self] = None
        transport.set_write_buffer_limits(high=PIECE)
        self._limit_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self.all_connections.open.pop(self, None)
        self.all_connections.in_transit.pop(self)
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # Limit the time for the head from its first byte on. Data that arrives while a response is
        # still being sent belongs to the next request. Its head gets no timer of its own: the timer of the response's
        # final piece still runs.
        if not self.has_head_begun and not self.is_waiting and self not in self.all_connections.in_transit:
            self.has_head_begun = True
            self._limit_time()
        super().data_received(data)

    def hang_up(self) -> None:
        """Close the connection; the rest of a response that is being sent is lost."""
        if self.is_sending:
            self.transport.abort()
        else:  # cleanly: the system may still be sending the end of a response
            self.transport.close()

    async def respond(self, scope: Any, receive: App, send: App) -> None:
        """Pass a request with its whole body to the dashboard, and send the response in pieces."""
        self._stop_timer()
        body, refusal, is_whole = await self._receive_body(scope, receive)
        if body is None:  # the client is gone
            return
        self._stop_timer()
        self.has_head_begun = False
        if self.all_connections.waiting >= MOST_WAITING:
            refusal = refusal or BUSY
        scope["state"] |= {"body": body, "refusal": refusal}  # the dashboard sends the refusal
        self.is_waiting = True
        self.all_connections.waiting += 1
        has_response_begun = False

        async def send_on(message: Any) -> None:
            nonlocal has_response_begun
            if message["type"] == "http.response.start":
                has_response_begun = True
                await self._send_head(message, send, is_whole)
            else:
                await self._send_body(message, send)

        try:
            await self.dashboard(scope, receive, send_on)
        finally:
            if not has_response_begun:
                self._stop_waiting()

    async def _send_head(self, message: Any, send: App, is_whole: bool) -> None:
        """Send the head of a response; `is_whole` says whether the whole request was read."""
        self._stop_waiting()
        headers = message["headers"]
        if not is_whole:  # the rest of the request would be read as the next request
            headers = [*headers, (b"connection", b"close")]
        self.all_connections.begin_sending(
            self, next((int(value) for name, value in headers if name == b"content-length"), 0)
        )
        self._limit_time()
        await send({**message, "headers": headers})

    async def _send_body(self, message: Any, send: App) -> None:
        """Send the body of a response, or a part of it, as fast as the client receives it."""
        body = message.get("body", b"")
        is_more = message.get("more_body", False)
        for start in range(0, max(len(body), 1), PIECE):  # an empty body is sent, too: it ends the response
            end = start + PIECE
            is_last = not is_more and end >= len(body)
            self._limit_time()
            if is_last:  # before it is sent, because the next request may begin meanwhile
                self.all_connections.in_transit.pop(self)
            else:
                self.all_connections.in_transit.use(self)
            await send({**message, "body": body[start:end], "more_body": not is_last})

    def _stop_waiting(self) -> None:
        self.all_connections.waiting -= 1
        self.is_waiting = False

    async def _receive_body(self, scope: Any, receive: Any) -> tuple[bytes | None, RefusedError | None, bool]:
        """The body, or None if the client is gone; the refusal of a bad request; whether all of the body was read."""
        head_size = len(scope["raw_path"]) + len(scope["query_string"])
        head_size += sum(len(name) + len(value) for name, value in scope["headers"])
        if head_size > MOST_HEAD:
            return b"", LONG_HEAD, False
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if int(length) > MOST_DRAINED:
            return b"", TOO_LARGE, False

        body = bytearray()
        size = 0
        is_more = True
        try:
            async with asyncio.timeout(CLIENT_SECONDS):
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
        """Close the connection CLIENT_SECONDS from now, unless it is already closing and has sent everything."""
        self._stop_timer()
        if not self.transport.is_closing() or self.transport.get_write_buffer_size():
            self.timer = self.loop.call_later(CLIENT_SECONDS, self.hang_up)

    def _stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()


@dataclass(frozen=True)
class ListenAddress:
    """The address on which a dashboard listens, and the reverse proxies before it."""

    host: str
    port: int
    root: str = ""
    """The path under which a reverse proxy serves the dashboard."""
    proxies: tuple[str, ...] = ()
    """The addresses and networks of the reverse proxies."""


def start_line(where: str, host: str, port: int, root: str = "") -> Message:
    """The line with the address of the dashboard; `where` is the database that it shows.

    >>> str(start_line("crawl.db", "::1", 6080))
    'The dashboard of crawl.db is at http://[::1]:6080/ (Ctrl-C stops it)'
    >>> str(start_line("crawl.db", "0.0.0.0", 6080)).partition("(")[2]
    'on other machines, use another address of this machine; Ctrl-C stops it)'
    """
    # The addresses that stand for all addresses of this machine, each with the address at which it reaches itself.
    local_address = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not bound to here
    name = local_address.get(host, host)
    if ":" in name:
        name = f"[{name}]"
    values = {"where": where, "url": f"http://{name}:{port}{root}/"}
    local = N_("The dashboard of {where} is at {url} (Ctrl-C stops it)")
    public = N_(
        "The dashboard of {where} is at {url} (on other machines, use another address of this machine; Ctrl-C stops it)"
    )
    return Message(public if host in local_address else local, values)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on a host and a port; raises an OSError if that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server(("127.0.0.1" if host == "localhost" else host, port), family=family, backlog=128)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    # Connections inherit the option: asyncio sets it only for sockets whose protocol number is given.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def server_of(application: App, proxies: Sequence[str] = ()) -> uvicorn.Server:
    """A server with limits on its connections, behind reverse proxies at these addresses or in these networks."""
    return uvicorn.Server(
        uvicorn.Config(
            application,
            http=partial(Connection, Connections()),  # type: ignore[arg-type]
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            log_level=logging.CRITICAL,
            access_log=False,
            server_header=False,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            timeout_keep_alive=CLIENT_SECONDS,
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
        why = str(error.strerror).partition(" (while ")[0]  # `create_server` adds the address
        values = {"host": address.host, "port": address.port, "why": why}
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
