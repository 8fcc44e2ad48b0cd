"""Access control: the Host header, the password, and for changes the token and the Origin header.

A page of another site that a visitor has open can send requests here, too. It cannot read the answers, so it does not
know the token that every change needs. If that site's name is made to resolve to this machine (DNS rebinding), the
browser sends that name as the Host, which is not among those served here.
"""

import base64
import binascii
import hmac
import re
import secrets
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from threading import Lock

from fastapi import Request

from crawler.translation.message import Message, MessageError

LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))
TOKEN = "token"  # noqa: S105 - the name of a field
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response, unless it sets them itself."""
SAFE = ("GET", "HEAD")
OWN = ("same-origin", "none")
"""Values of Sec-Fetch-Site of requests by pages of this dashboard, or by the user directly."""
TRIES, MINUTE = 20, 60.0
"""Wrong passwords from one network within these seconds, after which all passwords from it are refused."""
MOST_NETWORKS = 10_000
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::[0-9]{1,5})?")
PORTS = {":80": "http:", ":443": "https:"}


class RefusedError(MessageError):
    """The request is answered by an error page with this HTTP status."""

    def __init__(self, status: int, sentence: str | Message, /, **values: object) -> None:
        super().__init__(sentence, **values)
        self.status = status


@dataclass(frozen=True)
class AccessControl:
    """The names, the password and the token of a dashboard."""

    names: frozenset[str] = LOCAL
    """Names allowed in the Host header."""
    any_address: bool = False
    """Whether any IP address is allowed there, too, as the dashboard listens on all addresses."""
    password: str = field(default="", repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    _wrong: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict, repr=False)
    """The times of wrong passwords, by network."""
    _turn: Lock = field(default_factory=Lock, repr=False)

    def check(self, request: Request, token: str = "") -> None:
        """Raise a RefusedError if the visitor has no access; the token may come from a form."""
        name = host_name(request.headers.get("host", ""))
        if not name or (name not in self.names and not (self.any_address and _network(name))):
            raise RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "The dashboard is not served under this host name; the setting DASHBOARD_HOSTS allows others.",
            )
        if self.password:
            self._check_password(request)
        if request.method not in SAFE:
            self._check_origin(request, token)
        elif _is_inside_another(request):
            raise RefusedError(HTTPStatus.FORBIDDEN, "Pages of other sites may not embed or read the dashboard.")

    def _check_password(self, request: Request) -> None:
        said, now = request.headers.get("authorization", ""), time.monotonic()
        came_from = _network(request.client.host if request.client else "")
        with self._turn:
            wrong = self._wrong.get(came_from, deque())
            if len(wrong) == TRIES and now - wrong[0] < MINUTE:
                raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "There were too many wrong passwords; wait a minute.")
            if _is_same(_password(said), self.password):
                return
            if said:
                self._wrong.setdefault(came_from, deque(maxlen=TRIES)).append(now)
                self._wrong.move_to_end(came_from)
            if len(self._wrong) > MOST_NETWORKS:
                self._wrong.popitem(last=False)
        raise RefusedError(HTTPStatus.UNAUTHORIZED, "Enter the password of the dashboard.")

    def _check_origin(self, request: Request, token: str) -> None:
        headers = request.headers
        foreign = "origin" in headers and _place(headers["origin"]) != _place(f"//{headers.get('host', '')}")
        given = token or headers.get("x-token", "")
        if foreign or headers.get("sec-fetch-site", OWN[0]) not in OWN or not _is_same(given, self.token):
            raise RefusedError(
                HTTPStatus.FORBIDDEN,
                "This change did not come from a current page of this dashboard; reload the page.",
            )


def host_name(said: str) -> str:
    """The name in a Host header, without the port; empty if the header is malformed.

    >>> host_name("LocalHost:6080"), host_name("[::1]:6080"), host_name("a@b"), host_name("[::1].evil")
    ('localhost', '::1', '', '')
    """
    found = HOST.fullmatch(said.strip().lower())
    return (found[1] or found[2]).removesuffix(".") if found else ""


def _place(origin: str) -> str:
    """The name and the port of an origin as browsers send them; a default port is left out.

    >>> _place("https://Bees.example:443"), _place("//localhost:6080"), _place("null")
    ('bees.example', 'localhost:6080', 'null')
    """
    scheme, _, rest = origin.strip().lower().rpartition("//")
    for usual in (":80", ":443"):
        rest = rest.removesuffix(usual) if scheme in ("", PORTS[usual]) else rest
    return rest


def _is_inside_another(request: Request) -> bool:
    """Whether the request embeds this page in another site's, rather than following a link."""
    site, mode = (request.headers.get(f"sec-fetch-{what}", "") for what in ("site", "mode"))
    return site not in ("", *OWN) and mode != "navigate"


def _network(client: str) -> str:
    """The network of an IP address, empty for others; in IPv6, where one subscriber has many addresses, their common
    prefix.

    >>> _network("192.0.2.7"), _network("2001:db8::1") == _network("2001:db8::2")
    ('192.0.2.7', True)
    """
    try:
        address = ip_address(client)
    except ValueError:
        return ""
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


def _is_same(given: str, wanted: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode("utf-8", "replace"))


def _password(said: str) -> str:
    """The password in an Authorization header: that of any user name, or a bearer token."""
    kind, _, rest = said.partition(" ")
    if kind.lower() == "bearer":
        return rest.strip().encode("latin-1").decode("utf-8", "replace")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
