"""One server for many host names, each on a loopback address of its own, that can also answer as HTTP forbids.

Every request is in the log, with the time by two clocks: the wall clock that the crawler is given, and a steady one.
"""

import asyncio
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

HTML = "text/html; charset=utf-8"
SLOW_SECONDS = 0.4
BEAT = 0.05


class Hit(NamedTuple):
    """A request as the server saw it."""

    wall: float
    steady: float
    """Of the first request of a connection, when that was opened."""
    host: str
    path: str
    status: int
    """0 where the answer does not arrive whole."""
    edition: int | None
    """Of the page that was sent whole, or confirmed by a 304."""
    rest: float
    """The seconds that Retry-After asked for."""
    agent: str
    earliest: float
    """The first moment by the steady clock at which it may have come, if the server was held up until it was seen."""


@dataclass(frozen=True)
class Asked:
    """A request, by names in lower case."""

    host: str
    path: str
    headers: Mapping[str, str]
    wall: float
    is_tls: bool = False


class Connection(asyncio.Protocol):
    """One connection; it stays open until an answer closes it."""

    def __init__(self, server: "Server", is_tls: bool = False) -> None:
        self.server, self.is_tls, self.received = server, is_tls, b""
        self.opened: float | None = time.monotonic()  # before a handshake
        self.earliest = min(self.opened, server.beat + BEAT)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        *requests, self.received = (self.received + data).split(b"\r\n\r\n")
        for request in requests:
            first, *lines = request.decode("latin-1").split("\r\n")
            pairs = (line.partition(":") for line in lines)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            host = headers.get("host", "").partition(":")[0]
            self.server.serve(self, Asked(host, first.split(" ")[1], headers, self.server.wall(), self.is_tls))

    def later(self, seconds: float, call: Callable[..., object], *what: object) -> None:
        asyncio.get_running_loop().call_later(seconds, call, *what)

    def write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        self.transport.close()


Way = Callable[[Connection, bytes, bytes], None]
"""Sends an answer: the head without its end and without a Content-Length, and the body."""


def whole(to: Connection, head: bytes, body: bytes) -> None:
    to.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def old(to: Connection, head: bytes, body: bytes) -> None:
    """As HTTP/1.0: the body ends with the connection."""
    to.write(head.replace(b"HTTP/1.1", b"HTTP/1.0", 1) + b"\r\n" + body)
    to.close()


def _chunk(body: bytes) -> bytes:
    return b"%x\r\n" % len(body) + body + b"\r\n"


def chunked(to: Connection, head: bytes, body: bytes) -> None:
    middle = len(body) // 2
    to.write(head + b"Transfer-Encoding: chunked\r\n\r\n" + _chunk(body[:middle]))
    to.later(0.02, to.write, _chunk(body[middle:]) + b"0\r\n\r\n")


def broken_chunks(to: Connection, head: bytes, body: bytes) -> None:
    to.write(head + b"Transfer-Encoding: chunked\r\n\r\n" + _chunk(body[:200]) + b"zz\r\n")
    to.later(0.02, to.close)


def cut(to: Connection, head: bytes, body: bytes) -> None:
    """Less than its Content-Length says."""
    to.write(head + b"Content-Length: %d\r\n\r\n" % (len(body) * 2) + body)
    to.later(0.02, to.close)


def overlong(to: Connection, head: bytes, body: bytes) -> None:
    """More than its Content-Length says."""
    whole(to, head, body)
    to.later(0.02, to.write, b"<p>More than was announced.")
    to.later(0.02, to.close)


def slow(to: Connection, head: bytes, body: bytes) -> None:
    to.later(SLOW_SECONDS, whole, to, head, body)


def stuck(to: Connection, head: bytes, body: bytes) -> None:
    """Headers, and nothing more."""
    to.write(head + b"Content-Length: %d\r\n\r\n" % len(body))


def dripping(to: Connection, head: bytes, body: bytes) -> None:
    """A byte every now and then, without end."""
    to.write(head + b"\r\n")

    def drip() -> None:
        if not to.transport.is_closing():
            to.write(b" ")
            to.later(0.2, drip)

    drip()


def lost(to: Connection, head: bytes, body: bytes) -> None:
    """Nothing: the connection ends."""
    to.transport.abort()


def raw(to: Connection, head: bytes, body: bytes) -> None:
    """The body in place of an answer."""
    to.write(body)
    to.close()


ARRIVE = (whole, old, chunked, slow, overlong)


@dataclass(frozen=True)
class Reply:
    """An answer."""

    body: bytes = b""
    status: int = 200
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    way: Way = whole
    edition: int | None = None

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}", f"Content-Type: {self.content_type}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "".join(f"{line}\r\n" for line in lines).encode("latin-1")


class Server:
    """Answers for all hosts; `log` has every request."""

    def __init__(self, answer: Callable[[Asked], Reply], wall: Callable[[], float] = time.time) -> None:
        self.answer, self.wall = answer, wall
        self.log: list[Hit] = []
        self.connections: set[Connection] = set()
        self.port = self.tls_port = 0
        self.beat = time.monotonic()
        """When its loop last went round, at most BEAT seconds ago unless it is held up."""

    def keep_beating(self) -> None:
        self.beat = time.monotonic()
        asyncio.get_running_loop().call_later(BEAT, self.keep_beating)

    def serve(self, to: Connection, asked: Asked) -> None:
        reply = self.answer(asked)
        rest = float(reply.headers.get("Retry-After", "0"))
        agent = asked.headers.get("user-agent", "")
        status, edition = (reply.status, reply.edition) if reply.way in ARRIVE else (0, None)
        steady, earliest = time.monotonic(), min(time.monotonic(), self.beat + BEAT)
        if to.opened is not None:
            steady, earliest, to.opened = to.opened, to.earliest, None
        self.log.append(Hit(asked.wall, steady, asked.host, asked.path, status, edition, rest, agent, earliest))
        reply.way(to, reply.head(), reply.body)


async def _listen(server: Server, addresses: list[str], tls: ssl.SSLContext | None) -> list[asyncio.Server]:
    loop, found = asyncio.get_running_loop(), []
    for address in addresses:
        found.append(await loop.create_server(lambda: Connection(server), address, server.port, backlog=256))
        server.port = found[-1].sockets[0].getsockname()[1]
        if tls is not None:
            secure = partial(Connection, server, is_tls=True)
            found.append(await loop.create_server(secure, address, server.tls_port, backlog=256, ssl=tls))
            server.tls_port = found[-1].sockets[0].getsockname()[1]
    return found


def tls_by_name(files: Mapping[str, Path]) -> ssl.SSLContext:
    """What shows each host's own certificate, from files of certificate and key."""
    contexts = {name: ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for name in files}
    for name, path in files.items():
        contexts[name].load_cert_chain(path)
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        connection.context = contexts.get(name or "", found)

    found.set_servername_callback(choose)  # type: ignore[arg-type]
    return found


@contextmanager
def serving(server: Server, addresses: list[str], tls: ssl.SSLContext | None = None) -> Iterator[None]:
    """The hosts, served in a thread: this process does little else meanwhile."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)  # clients that hang up early are part of the tests
    listening = loop.run_until_complete(_listen(server, addresses, tls))
    loop.call_soon(server.keep_beating)
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(_close(server, listening))
        loop.close()


async def _close(server: Server, listening: list[asyncio.Server]) -> None:
    for one in listening:
        one.close()
    for connection in list(server.connections):
        connection.transport.abort()
    await asyncio.sleep(0.05)
