"""Refuses connections to addresses that are not public, whether a name, a redirect or an IP address leads there."""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.interfaces import IAddress, IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from crawler.build_crawl import crawl_of
from crawler.outcomes import Code, Outcome
from crawler.spiders.request_outcomes import Refusal
from crawler.urls.public_hosts import AllowList, is_public


@implementer(IHostnameResolver)
class PublicResolver:
    """A name resolver that returns only addresses to which connections are allowed.

    Twisted calls it for every connection, even if the host is an IP address in an unusual spelling, so no connection
    escapes this check. Twisted connects to the addresses that were checked, and does not look the name up again.
    """

    def __init__(self, resolver: Any, allow_list: AllowList) -> None:
        self.resolver = resolver
        self.allow_lists = [allow_list]
        """The networks that each crawl of this process allows. A connection does not say which crawl opens it, so all
        crawls must allow the address.
        """
        self.refused: set[str] = set()
        """The names of hosts without an allowed address."""

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803
        transportSemantics: str = "TCP",  # noqa: N803
    ) -> Any:
        receiver = _PublicOnly(self, resolutionReceiver, hostName, portNumber)
        # For such a name, Python would raise an error that Twisted does not handle, and the request would hang.
        if not _is_encodable(hostName):
            no_resolution = _NoResolution(hostName)
            receiver.resolutionBegan(no_resolution)
            receiver.resolutionComplete()
            return no_resolution
        return self.resolver.resolveHostName(receiver, hostName, portNumber, addressTypes, transportSemantics)

    def may_connect(self, host: str, port: int, address: str) -> bool:
        """Whether an address found for a host is public or allowed."""
        ip = ip_address(address.partition("%")[0])  # without the zone of an IPv6 address
        return is_public(ip) or all(allow_list.opens(host, port, ip) for allow_list in self.allow_lists)


def _is_encodable(name: str) -> bool:
    """Whether a name can be encoded for DNS; it cannot if a label of it is empty or too long."""
    try:
        return bool(name.encode("idna"))
    except UnicodeError:
        return False


@implementer(IHostResolution)
class _NoResolution:
    """The resolution of a name that cannot be encoded: it ends at once, without an address."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Does nothing, as the resolution is complete."""


@implementer(IResolutionReceiver)
class _PublicOnly:
    """Passes the allowed addresses of a host to another receiver."""

    def __init__(self, resolver: PublicResolver, receiver: Any, host: str, port: int) -> None:
        self.resolver = resolver
        self.receiver = receiver
        self.host = host
        self.port = port
        self.passed_count = 0
        self.refused_count = 0

    def resolutionBegan(self, resolution: Any) -> None:  # noqa: N802 - Twisted's names
        self.receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: N802
        if self.resolver.may_connect(self.host, self.port, address.host):
            self.passed_count += 1
            self.receiver.addressResolved(address)
        else:
            self.refused_count += 1

    def resolutionComplete(self) -> None:  # noqa: N802
        if self.refused_count and not self.passed_count:
            self.resolver.refused.add(self.host.lower())
        self.receiver.resolutionComplete()


class AddressGuard:
    """Puts a PublicResolver in front of the reactor's resolver while a crawl runs.

    Before it is installed, no request may be sent. Requests to hosts without an allowed address get the outcome
    NOT_PUBLIC.
    """

    def __init__(self, allowed: list[str]) -> None:
        self.allow_list = AllowList(allowed)
        self.resolver: PublicResolver | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        guard = cls(crawler.settings.getlist("ALLOWED_PRIVATE_HOSTS"))
        crawler.signals.connect(guard.install, signals.spider_opened)
        crawler.signals.connect(guard.remove, signals.spider_closed)
        return guard

    def install(self) -> None:
        from twisted.internet import reactor

        if isinstance(reactor.nameResolver, PublicResolver):  # another crawl in this process has installed it
            self.resolver = reactor.nameResolver
            self.resolver.allow_lists.append(self.allow_list)
        else:
            self.resolver = PublicResolver(reactor.nameResolver, self.allow_list)
            reactor.installNameResolver(self.resolver)

    def remove(self) -> None:
        from twisted.internet import reactor

        if self.resolver is None:
            return
        self.resolver.allow_lists.remove(self.allow_list)
        if not self.resolver.allow_lists and reactor.nameResolver is self.resolver:
            reactor.installNameResolver(self.resolver.resolver)

    def process_request(self, request: Request) -> None:
        """Raise an error for any request before the guard is installed."""
        if self.resolver is None:
            raise RuntimeError("no request may be sent before the address guard is installed")

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Refuse a request whose host has no allowed address, so that it is not retried."""
        host = (urlparse_cached(request).hostname or "").lower()
        not_found = isinstance(exception, CannotResolveHostError)
        if not_found and self.resolver is not None and host in self.resolver.refused:
            raise Refusal(Outcome(Code.NOT_PUBLIC))


class PrivateAddressMiddleware(AddressGuard):
    """The address guard of the topic spider; other spiders of the project may connect to any address."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl_of(crawler)  # raises NotConfigured for other spiders
        return super().from_crawler(crawler)
