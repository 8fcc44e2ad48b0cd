"""A connection that checks the network address when it is opened: an earlier check could have seen another address,
because a host name may resolve to a different one each time.
"""

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection
from ipaddress import ip_address
from threading import Timer
from typing import Self
from urllib.parse import SplitResult

from crawler.urls.public_hosts import Address

MayConnect = Callable[[str, int, Address], bool]
"""Takes a host name, a port and an address that the name resolves to; returns whether to connect to this address."""


class NotAllowedError(Exception):
    """A host has no address to which a connection is allowed."""


class GuardedConnection(HTTPConnection):
    """A connection to the first allowed address of a host.

    After `seconds` the connection is shut down, even if the server keeps sending slowly.
    """

    def __init__(self, parts: SplitResult, may_connect: MayConnect, seconds: float) -> None:
        self.is_secure = parts.scheme == "https"
        super().__init__(parts.hostname or "", parts.port or (443 if self.is_secure else 80), timeout=seconds)
        self.may_connect = may_connect
        self._opened: socket.socket | None = None
        self._time_limit = Timer(seconds, self._shut_down)
        self._time_limit.daemon = True

    def allowed_address(self) -> str:
        """The first allowed address; raises a NotAllowedError if there is none."""
        for *_, socket_address in socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM):
            address = str(socket_address[0])
            without_zone = address.partition("%")[0]  # of a link-local address, such as fe80::1%eth0
            if self.may_connect(self.host, self.port, ip_address(without_zone)):
                return address
        raise NotAllowedError

    def connect(self) -> None:
        """Open the connection and start the time limit."""
        self.sock = self._opened = socket.create_connection((self.allowed_address(), self.port), self.timeout)
        self._time_limit.start()
        if self.is_secure:
            self.sock = self._opened = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._time_limit.cancel()
        self.close()

    def _shut_down(self) -> None:
        """Shut down the socket, which also ends a read in progress; `close` would not."""
        if self._opened is not None:
            with suppress(OSError):  # it may be closed by now
                self._opened.shutdown(socket.SHUT_RDWR)
