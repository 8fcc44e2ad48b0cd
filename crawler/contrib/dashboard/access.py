"""Checks where a request comes from: by the Host header, and for changes by the token and the Origin header.

A page of another site that a visitor has open can send requests to the dashboard. It cannot read the responses, so it
does not know the token that every change needs. If that site's name is made to resolve to this machine (DNS rebinding),
the browser sends that name in the Host header, where it is not allowed.
"""

import hmac
import re
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address

from fastapi import Request

from crawler.errors import MessageError
from crawler.translation.message import N_, Message

LOCAL_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
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
SAFE_METHODS = ("GET", "HEAD")
"""The methods of requests that change nothing."""
OWN_SITES = ("same-origin", "none")
"""Values of the header Sec-Fetch-Site for requests by pages of this dashboard, or by the user directly.

https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
"""
FOREIGN_CHANGE = N_("This change did not come from a current page of this dashboard; reload the page.")
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::[0-9]{1,5})?")
"""A host with an optional port; the groups are an IPv6 address and any other name."""
DEFAULT_PORTS = {":80": "http:", ":443": "https:"}
"""The ports that origins leave out, with the schemes that have them."""


class RefusedError(MessageError):
    """A request is refused; the response is an error page with this HTTP status."""

    def __init__(self, status: int, sentence: str | Message, /, **values: object) -> None:
        super().__init__(sentence, **values)
        self.status = status


@dataclass(frozen=True)
class AccessControl:
    """The host names of a dashboard, and the token that all visitors share if there are no user accounts."""

    names: frozenset[str] = LOCAL_NAMES
    """Names allowed in the Host header."""
    allows_any_address: bool = False
    """Whether any IP address is also allowed in the Host header, because the dashboard listens on all addresses."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def check_host(self, request: Request) -> None:
        """Raise a RefusedError if the dashboard is not served under the name in the Host header."""
        name = host_name(request.headers.get("host", ""))
        if not name or (name not in self.names and not (self.allows_any_address and _is_address(name))):
            raise RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "The dashboard is not served under this host name; the setting DASHBOARD_HOSTS allows others.",
            )


def check_page(request: Request) -> None:
    """Raise a RefusedError if another site's page embeds or reads the dashboard; it may link to the dashboard."""
    site = request.headers.get("sec-fetch-site", "")
    mode = request.headers.get("sec-fetch-mode", "")
    if site not in ("", *OWN_SITES) and mode != "navigate":
        raise RefusedError(HTTPStatus.FORBIDDEN, "Pages of other sites may not embed or read the dashboard.")


def check_origin(request: Request) -> None:
    """Raise a RefusedError if another site's page sent this form."""
    headers = request.headers
    own_origin = _name_and_port(f"//{headers.get('host', '')}")
    # Browsers send at least one of the two headers with every form; programs need not send any.
    has_foreign_origin = "origin" in headers and _name_and_port(headers["origin"]) != own_origin
    has_foreign_site = "sec-fetch-site" in headers and headers["sec-fetch-site"] not in OWN_SITES
    if has_foreign_origin or has_foreign_site:
        raise RefusedError(HTTPStatus.FORBIDDEN, FOREIGN_CHANGE)


def check_token(request: Request, form_token: str, token: str) -> None:
    """Raise a RefusedError if a change lacks the token, which is sent in a form or in the header X-Token."""
    if not _is_same(form_token or request.headers.get("x-token", ""), token):
        raise RefusedError(HTTPStatus.FORBIDDEN, FOREIGN_CHANGE)


def host_name(host_header: str) -> str:
    """The name in a Host header, without the port; empty if the header is malformed.

    >>> host_name("LocalHost:6080"), host_name("[::1]:6080"), host_name("a@b"), host_name("[::1].evil")
    ('localhost', '::1', '', '')
    """
    match = HOST.fullmatch(host_header.strip().lower())
    if match:
        return (match[1] or match[2]).removesuffix(".")
    return ""


def _name_and_port(origin: str) -> str:
    """The host name and the port of an origin, without the default port of its scheme; if it has no scheme, without
    either default port.

    >>> _name_and_port("https://Bees.example:443"), _name_and_port("//localhost:6080"), _name_and_port("null")
    ('bees.example', 'localhost:6080', 'null')
    """
    scheme, _, rest = origin.strip().lower().rpartition("//")
    for port, scheme_of_port in DEFAULT_PORTS.items():
        if scheme in ("", scheme_of_port):
            rest = rest.removesuffix(port)
    return rest


def _is_address(name: str) -> bool:
    """Whether a host name is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_same(secret: str, expected: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return hmac.compare_digest(secret.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))
