"""Who may come in: by the name the dashboard is asked by, the password, and for changes the page they come from.

Another site's page that a visitor has open can send requests here, too. It cannot read what it is answered, so it does
not know the token that every change needs; and where its own name was made to lead to this machine (DNS rebinding), the
browser says that name, which is none of those served here.
"""

import base64
import binascii
import hmac
import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlsplit

from crawler.dashboard.request import RefusedError, Request

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
"""What every answer has."""
SAFE = ("GET", "HEAD")
TRIES, MINUTE = 20, 60.0
"""Wrong passwords in so many seconds, until the next is not even looked at."""


@dataclass(frozen=True)
class Door:
    """What is asked of those who come."""

    names: frozenset[str] = LOCAL
    """By which the dashboard may be asked."""
    any_address: bool = False
    """Whether it may be asked by any address in numbers, as one that listens at all of them."""
    password: str = field(default="", repr=False)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    _wrong: deque[float] = field(default_factory=lambda: deque(maxlen=TRIES), repr=False)

    def check(self, request: Request) -> None:
        """Nothing comes back; a RefusedError says why somebody may not come in."""
        name = host_name(request.headers.get("host", ""))
        if name not in self.names and not (self.any_address and _is_address(name)):
            raise RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "The dashboard is not served under this name; DASHBOARD_HOSTS names those that it has.",
            )
        if self.password:
            self._check_password(request.headers.get("authorization", ""))
        if request.method not in SAFE:
            self._check_origin(request, name)

    def _check_password(self, said: str) -> None:
        now = time.monotonic()
        if len(self._wrong) == TRIES and now - self._wrong[0] < MINUTE:
            raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "There were too many wrong passwords; wait a minute.")
        if not hmac.compare_digest(_password(said).encode(), self.password.encode()):
            if said:
                self._wrong.append(now)
            raise RefusedError(HTTPStatus.UNAUTHORIZED, "The dashboard wants its password.")

    def _check_origin(self, request: Request, name: str) -> None:
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
        foreign = origin is not None and host_name(urlsplit(origin).netloc if "//" in origin else origin) != name
        given = request.form.get(TOKEN) or request.headers.get("x-token", "")
        if (
            foreign
            or site not in ("same-origin", "none")
            or not hmac.compare_digest(given.encode(), self.token.encode())
        ):
            raise RefusedError(
                HTTPStatus.FORBIDDEN,
                "This change did not come from a page of this dashboard as it runs now; load the page again.",
            )


def host_name(said: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("LocalHost:6080"), host_name("[::1]:6080"), host_name("a@b"), host_name("::1")
    ('localhost', '::1', '', '::1')
    """
    said = said.strip().lower()
    if said.startswith("["):
        return said[1:].partition("]")[0]
    if any(character in said for character in "@/\\ ?#"):
        return ""
    return said if said.count(":") > 1 else said.partition(":")[0].rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _password(said: str) -> str:
    """The password of an Authorization header: that of any user, or a token by itself."""
    kind, _, rest = said.partition(" ")
    if kind.lower() == "bearer":
        return rest.strip()
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
