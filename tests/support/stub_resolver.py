"""A resolver that asks nobody, and a reactor that connects to loopback only: what a crawl of refused addresses runs on.

`-s TWISTED_DNS_RESOLVER=stub_resolver.StubResolver` installs both. STUB_NAMES holds the names that exist, as JSON:
{name: [address, ...]}; where these are lists, each look-up takes the next one. STUB_CONNECTIONS names the file that
every attempt to connect is written to, as ADDRESS PORT. STUB_PUBLIC names an address of loopback that counts as public.
"""

import json
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Address, ip_address
from pathlib import Path
from typing import Any, Self

from scrapy.resolver import HostResolution
from twisted.internet import address as twisted_address
from twisted.internet.error import ConnectionRefusedError
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer


def addresses_of(name: str, names: dict[str, list[Any]]) -> list[str]:
    """The addresses a name has or a number means, in every spelling that inet_aton reads.

    >>> [addresses_of(name, {}) for name in ("167772161", "0x7f.1", "012.1", "::1", "nowhere.test")]
    [['10.0.0.1'], ['127.0.0.1'], ['10.0.0.1'], ['::1'], []]
    """
    with suppress(ValueError):
        return [str(ip_address(name))]
    with suppress(OSError):
        return [socket.inet_ntoa(socket.inet_aton(name))]
    return names.get(name.lower(), [])


@implementer(IHostnameResolver)
class StubResolver:
    """Answers from a table."""

    def __init__(self, reactor: Any, names: dict[str, list[Any]], record: Path) -> None:
        self.reactor, self.names, self.record = reactor, names, record
        self.connect = reactor.connectTCP

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> Self:
        return cls(reactor, json.loads(os.environ["STUB_NAMES"]), Path(os.environ["STUB_CONNECTIONS"]))

    def install_on_reactor(self) -> None:
        if public := os.environ.get("STUB_PUBLIC"):
            IPv4Address.is_global = property(lambda address: str(address) == public)  # type: ignore[assignment]
        self.reactor.installNameResolver(self)
        self.reactor.connectTCP = self.connect_to_loopback

    def connect_to_loopback(self, host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        with self.record.open("a") as file:
            file.write(f"{host} {port}\n")
        if not ip_address(host).is_loopback:
            raise ConnectionRefusedError("this address is not on loopback")
        return self.connect(host, port, *args, **kwargs)

    def addresses(self, name: str) -> list[str]:
        """The addresses of a name at this look-up."""
        found: list[Any] = addresses_of(name, self.names)
        if not found or isinstance(found[0], str):
            return found
        return found.pop(0) if len(found) > 1 else found[0]

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[Any] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> HostResolution:
        resolution = HostResolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        for address in self.addresses(hostName):
            kind = twisted_address.IPv6Address if ":" in address else twisted_address.IPv4Address
            resolutionReceiver.addressResolved(kind("TCP", address, portNumber))
        resolutionReceiver.resolutionComplete()
        return resolution
