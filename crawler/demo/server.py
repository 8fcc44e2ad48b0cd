"""The server of the demo site on loopback: a thread of this process answers until the context ends."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from socketserver import TCPServer
from sys import exc_info
from threading import Thread, current_thread
from typing import Any
from urllib.parse import urlsplit

from crawler.demo.site import DEAD, Resource, resources

PORT = 8460
ADDRESS = f"http://127.0.0.1:{PORT}/"
CLOSE_SECONDS = 5.0  # how long closing waits for the thread of one connection


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD from the server's pages and keeps the connection open."""

    server: "Server"
    protocol_version = "HTTP/1.1"
    server_version = "WinnowDemo"
    sys_version = ""
    wbufsize = 1 << 16  # send header and body together
    disable_nagle_algorithm = True
    timeout = 60

    def do_GET(self) -> None:
        """Send the resource at the path, or the page that says that there is none."""
        resource = self.send_head()
        self.wfile.write(resource.body)

    def do_HEAD(self) -> None:
        """Send only the header."""
        self.send_head()

    def send_head(self) -> Resource:
        """Send the header of the resource at the path; returns the resource."""
        pages = self.server.pages
        resource = pages.get(urlsplit(self.path).path, pages[DEAD])
        self.send_response(resource.status)
        self.send_header("Content-Type", resource.content_type)
        self.send_header("Content-Length", str(len(resource.body)))
        if resource.location:
            self.send_header("Location", resource.location)
        for name, value in resource.headers:
            self.send_header(name, value)
        self.end_headers()
        return resource

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """A server that knows its open connections, so that closing it also ends their threads."""

    daemon_threads = True
    request_queue_size = 128
    allow_reuse_address = os.name == "posix"  # on Windows two servers could share a port
    allow_reuse_port = False

    def __init__(self, port: int) -> None:
        self.connections: dict[Thread, socket] = {}
        self.pages: Mapping[str, Resource] = {}
        super().__init__(("127.0.0.1", port), Handler)

    def server_bind(self) -> None:
        """Bind without the inherited look-up of the host's full name, which can take seconds."""
        TCPServer.server_bind(self)
        self.server_name = "127.0.0.1"
        self.server_port = self.socket.getsockname()[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start the thread of a new connection."""
        thread = Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        self.connections[thread] = request
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection until it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            del self.connections[current_thread()]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, unless the client has just disconnected."""
        if not isinstance(exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Close the listening socket and every connection, and wait for their threads."""
        super().server_close()
        for thread, connection in list(self.connections.items()):
            with suppress(OSError):  # the client has closed it already
                connection.shutdown(SHUT_RDWR)
            thread.join(CLOSE_SECONDS)


def bound(port: int, exact: bool = False) -> Server:
    """A server at the port. If the port is in use, the server has a free port; with `exact`, an OSError is raised."""
    try:
        return Server(port)
    except OSError:
        if exact:
            raise
        return Server(0)


def is_free(port: int) -> bool:
    """Whether a server can use the port."""
    try:
        Server(port).server_close()
    except OSError:
        return False
    return True


@contextmanager
def serving(port: int = PORT, exact: bool = False) -> Iterator[str]:
    """Serve the demo site for the length of the context; yields its address. With `exact`, only this port may be used.

    >>> with serving(0) as address:
    ...     address.startswith("http://127.0.0.1:")
    True
    """
    with bound(port, exact) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        server.pages = resources(address)
        poll_seconds = 0.05  # how soon `shutdown` is noticed
        thread = Thread(target=server.serve_forever, args=(poll_seconds,), name="demo site", daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.shutdown()
            thread.join()
