"""Who a visitor is: logins by a form for people, by the Authorization header for programs.

A login is kept in memory, so that it ends with the dashboard. It also ends after SESSION_SECONDS, when the user logs
out, and when the user's password, role or name changes. Wrong passwords slow down the network they came from.
"""

import base64
import binascii
import hashlib
import logging
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from threading import Lock
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Request

from crawler.command_line.terminal import printable
from crawler.dashboard.access import RefusedError
from crawler.dashboard.server import BUSY
from crawler.dashboard.users import EDITOR, User, Users, hash_of_nobody, is_password

logger = logging.getLogger(__name__)

COOKIE = "winnow-login"
SESSION_SECONDS = 12 * 3_600
MOST_SESSIONS = 20
"""Of more logins of a user, the oldest end."""
TRIES, MINUTE = 20, 60.0
"""Wrong passwords from one network within these seconds, after which all passwords from it are refused."""
MOST_NETWORKS = 10_000
ONE_PASSWORD, MOST_WAITING = CapacityLimiter(1), 10
T = TypeVar("T")


@dataclass(frozen=True)
class Visitor:
    """Who sends a request."""

    name: str = ""
    """Empty where the dashboard has no users."""
    is_editor: bool = True
    token: str = field(default="", repr=False)
    """What forms send with each change; known to the pages of this login only."""


@dataclass(frozen=True)
class Session:
    user: User
    until: float
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)


async def in_turn(check: Callable[..., T], *given: Any) -> T:
    """The result of checking a password, which takes 0.1 s: one after another, so that guesses leave the processor and
    the threads to others.
    """
    if ONE_PASSWORD.statistics().tasks_waiting >= MOST_WAITING:
        raise BUSY
    return await to_thread.run_sync(partial(check, *given), limiter=ONE_PASSWORD)


class Logins:
    """The logins of a dashboard."""

    def __init__(self, users: Users | None = None) -> None:
        self.users = users
        self._had_users = users is not None and bool(users.all())
        self._sessions: dict[str, Session] = {}
        """By key, oldest first."""
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()
        """The times of wrong passwords, by network."""
        self._salt = secrets.token_bytes(16)
        self._lock = Lock()

    @property
    def is_required(self) -> bool:
        """Whether visitors must log in; once there was a user, they must until the dashboard ends."""
        self._had_users = self._had_users or (self.users is not None and bool(self.users.all()))
        return self._had_users

    def visitor(self, request: Request) -> Visitor | None:
        """The user whose login came with this request."""
        session = self._sessions.get(self._key(request))
        if session is None or self.users is None or session.until <= time.monotonic():
            return None
        if self.users.all().get(session.user.name) != session.user:
            return None
        return Visitor(session.user.name, session.user.role == EDITOR, session.token)

    def log_in(self, request: Request, name: str, password: str, key: str = "") -> str:
        """The key of a new login; takes 0.1 s. Raises a RefusedError if the name or the password is wrong."""
        network = network_of(request.client.host if request.client else "")
        self._check_tries(network)
        user = self.users.all().get(name) if self.users is not None else None
        if not is_password(password, user.password if user else hash_of_nobody()) or user is None:
            self._count_wrong(network)
            logger.warning("Wrong password for %s from %s", printable(repr(name[:64])), network or "an unknown network")
            raise RefusedError(HTTPStatus.UNAUTHORIZED, "The name or the password is wrong.")
        logger.info("%s logged in from %s", name, network)
        key, now = key or secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            for other in [one for one, session in self._sessions.items() if session.until <= now]:
                del self._sessions[other]
            own = [one for one, session in self._sessions.items() if session.user.name == name]
            for other in own[: 1 - MOST_SESSIONS]:
                del self._sessions[other]
            self._sessions[key] = Session(user, now + SESSION_SECONDS)
        return key

    def log_in_program(self, request: Request) -> None:
        """Log in a program by the name and the password in its Authorization header."""
        name, _, password = _basic(request.headers["authorization"]).partition(":")
        self.log_in(request, name, password, self._key(request))

    def log_out(self, request: Request) -> None:
        with self._lock:
            self._sessions.pop(self._key(request), None)

    def _key(self, request: Request) -> str:
        """The key of a request's login: its cookie, or a digest of its Authorization header.

        Of two cookies the first is that of this path; the other may be of another program on this host.
        """
        pairs = (one.strip().partition("=") for one in request.headers.get("cookie", "").split(";"))
        cookie = next((value for name, _, value in pairs if name == COOKIE), "")
        if cookie in self._sessions:  # a proxy may send its own Authorization header
            return cookie
        if said := request.headers.get("authorization"):
            return hashlib.sha256(self._salt + said.encode("utf-8", "replace")).hexdigest()
        return cookie

    def _check_tries(self, network: str) -> None:
        with self._lock:
            wrong = self._wrong.get(network, deque())
            if len(wrong) == TRIES and time.monotonic() - wrong[0] < MINUTE:
                raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "There were too many wrong passwords; wait a minute.")

    def _count_wrong(self, network: str) -> None:
        with self._lock:
            self._wrong.setdefault(network, deque(maxlen=TRIES)).append(time.monotonic())
            self._wrong.move_to_end(network)
            if len(self._wrong) > MOST_NETWORKS:
                self._wrong.popitem(last=False)


def network_of(client: str) -> str:
    """The network of an IP address, empty for others; in IPv6, where one subscriber has many addresses, their common
    prefix.

    >>> network_of("::ffff:192.0.2.7"), network_of("2001:db8::1") == network_of("2001:db8::2")
    ('192.0.2.7', True)
    """
    try:
        address = ip_address(client)
    except ValueError:
        return ""
    if address.version == 6 and address.ipv4_mapped:
        address = address.ipv4_mapped
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


def _basic(said: str) -> str:
    """The name and the password, with a colon between them, of an Authorization header of the kind Basic."""
    kind, _, rest = said.partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(rest.strip(), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
