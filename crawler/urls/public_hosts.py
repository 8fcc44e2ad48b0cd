"""Which network addresses a crawl may connect to: public ones, and those that its operator allows."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address

# IPv6 ranges whose last 32 bits are an IPv4 address. For the first range, a gateway connects to the IPv4 address
# (https://www.rfc-editor.org/rfc/rfc6052#section-2.1). The second range is deprecated
# (https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5.1).
EMBEDDING = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))
# Special ranges that not every version of Python knows: https://www.iana.org/assignments/iana-ipv4-special-registry/,
# https://www.iana.org/assignments/iana-ipv6-special-registry/
SPECIAL = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments, with one provider's metadata
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv6Network("64:ff9b:1::/48"),  # local gateways to IPv4
    IPv6Network("3fff::/20"),  # documentation
    IPv6Network("5f00::/16"),  # segment routing
)
# Cloud machines find metadata at link-local addresses. Azure also has this public address:
# https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
METADATA = frozenset((ip_address("168.63.129.16"),))
# The form of an entry of an AllowList that is neither an address nor a network: a name, or a name or an address with a
# port. The last label of a name may not be a number, so that the wrong address `10.0.0` is no name:
# https://url.spec.whatwg.org/#ends-in-a-number-checker
NAMED = re.compile(r"(?:[\w-]+\.)*(?!\d+(?:$|:))[\w-]+\.?(?::\d{1,5})?|(?:\d+\.){3}\d+:\d{1,5}|\[[0-9a-f:.]+\]:\d{1,5}")


def is_public(address: Address) -> bool:
    """Whether an address is public, and every address embedded in it, too.

    >>> [is_public(ip_address(a)) for a in ("93.184.216.34", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    if isinstance(address, IPv6Address):
        if address.is_site_local or not all(map(is_public, _embedded(address))):
            return False
        if address.ipv4_mapped is not None:  # the embedded IPv4 address decides alone, and it is public
            return True
    if address in METADATA or any(address in network for network in SPECIAL):
        return False
    return address.is_global and not address.is_multicast


def _embedded(address: IPv6Address) -> list[Address]:
    """The IPv4 addresses to which a connection to an IPv6 address may lead."""
    embedded: list[Address | None] = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in EMBEDDING):
        embedded.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [inner for inner in embedded if inner is not None]


class AllowList:
    """Names, addresses and networks that are allowed although they are not public, e.g. `intranet`, `10.0.0.0/8`,
    `localhost:8000` or `[::1]:8000`.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self.networks = []
        self.names = set()
        for entry in filter(None, (entry.strip().lower() for entry in entries)):
            try:
                self.networks.append(ip_network(entry.strip("[]"), strict=False))
            except ValueError:
                if not NAMED.fullmatch(entry):
                    raise ValueError(
                        f"{entry!r} is not a host name, an address or a network such as 10.0.0.0/8"
                    ) from None
                self.names.add(entry.rstrip("."))

    def opens(self, host: str, port: int, address: Address) -> bool:
        """Whether the list has `host`, with or without `port`, or has `address`, to which the host resolves."""
        name = host.lower().rstrip(".")
        if ":" in name:  # an IPv6 address, spelled as in entries with a port
            name = f"[{name}]"
        if name in self.names or f"{name}:{port}" in self.names:
            return True
        addresses = [address]
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            addresses.append(address.ipv4_mapped)
        return any(each in network for network in self.networks for each in addresses)

    def may_connect(self, host: str, port: int, address: Address) -> bool:
        """Whether an address to which a host resolves is public or allowed."""
        return is_public(address) or self.opens(host, port, address)
