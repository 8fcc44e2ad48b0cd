"""Logins of visitors: by a form for people, by the Authorization header for programs.

A login is kept in memory, so it ends with the dashboard. It also ends after SESSION_SECONDS, when the user logs out,
and when the user's password, role or name changes. Wrong passwords slow down further logins from the same network, and
further logins of the same user from networks where this user has not logged in before. From a network where the user
has logged in before, the user can still log in, so that nobody can lock a user out.
"""

import base64
import binascii
import hashlib
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from math import inf
from threading import Lock
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Request

from crawler.command_line.terminal import printable
from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.server import BUSY
from crawler.contrib.dashboard.users import EDITOR, NAME, User, Users, hash_of_nobody, is_password
from crawler.urls.lru_dict import LruDict

logger = logging.getLogger(__name__)

COOKIE = "winnow-login"
SESSION_SECONDS = 12 * 3_600
MOST_SESSIONS = 20
"""Logins of a user at a time; a further one ends the oldest."""
NETWORK_TRIES = 20
"""Wrong passwords from one network within a MINUTE after which all passwords from it are refused."""
MINUTE = 60.0
"""Seconds."""
USER_TRIES = 20
"""Wrong passwords of one user after which the next login must wait: a second, doubled by each further wrong password,
up to a MINUTE.
"""
USER_SECONDS = 3_600
"""Seconds after the last wrong password of a user until all wrong passwords of this user are forgotten."""
MOST_REMEMBERED = 10_000
"""The most networks that are remembered, the most users, and the most pairs of a user and a network."""
ONE_PASSWORD = CapacityLimiter(1)
"""The thread that checks passwords."""
MOST_WAITING = 10
"""The most passwords that wait to be checked; further logins are refused as BUSY."""
T = TypeVar("T")


@dataclass(frozen=True)
class Visitor:
    """The sender of a request."""

    name: str = ""
    """Empty if the dashboard has no users."""
    is_editor: bool = True
    token: str = field(default="", repr=False)
    """The token that forms send with each change; only pages of this login contain it."""


@dataclass(frozen=True)
class Session:
    """A login of a user."""

    user: User
    until: float
    """When it ends, as time.monotonic()."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)


@dataclass(frozen=True)
class UserGuesses:
    """Wrong passwords of one user, from networks where this user has not logged in."""

    count: int = 0
    last: float = -inf
    """When the last wrong password came."""

    def seconds_to_wait(self, now: float) -> float:
        """Seconds for which logins from networks where this user has not logged in are refused.

        >>> [UserGuesses(count, last=0.0).seconds_to_wait(0.0) for count in (19, 20, 21, 25, 26, 1_000_000)]
        [0.0, 1.0, 2.0, 32.0, 60.0, 60.0]
        """
        if self.count < USER_TRIES:
            return 0.0
        pause = min(MINUTE, 2.0 ** min(self.count - USER_TRIES, 10))  # the power of a large number would overflow
        return max(0.0, self.last + pause - now)


async def in_turn(check: Callable[..., T], *arguments: Any) -> T:
    """The result of checking a password. A check takes 0.1 s of CPU time; only one runs at a time, so that guesses do
    not slow down other requests.
    """
    if ONE_PASSWORD.statistics().tasks_waiting >= MOST_WAITING:
        raise BUSY
    return await to_thread.run_sync(partial(check, *arguments), limiter=ONE_PASSWORD)


class Logins:
    """The logins of a dashboard."""

    def __init__(self, users: Users | None = None) -> None:
        self.users = users
        self._must_log_in = users is not None and bool(users.all())
        self._sessions: dict[str, Session] = {}
        """Logins by their keys, oldest first."""
        self._wrong_times: LruDict[str, deque[float]] = LruDict(MOST_REMEMBERED)
        """The times of the last NETWORK_TRIES wrong passwords, oldest first, by network."""
        self._guesses: LruDict[str, UserGuesses] = LruDict(MOST_REMEMBERED)
        """Wrong passwords by the name of the user, whether such a user exists or not."""
        self._familiar: LruDict[tuple[str, str], None] = LruDict(MOST_REMEMBERED)
        """Pairs of a user's name and a network where this user has logged in."""
        self._salt = secrets.token_bytes(16)
        """The salt of the digests of Authorization headers."""
        self._lock = Lock()

    def look_for_users(self) -> bool:
        """Look for users; returns whether visitors must log in. As soon as there is a user, visitors must log in until
        the dashboard ends, even if all users are removed.
        """
        self._must_log_in = self._must_log_in or (self.users is not None and bool(self.users.all()))
        return self._must_log_in

    def visitor(self, request: Request) -> Visitor | None:
        """The user whose login is in this request; None if there is none, or if it has ended."""
        session = self._sessions.get(self._key(request))
        if session is None or self.users is None or session.until <= time.monotonic():
            return None
        if self.users.all().get(session.user.name) != session.user:  # removed, or with another password or role
            return None
        return Visitor(session.user.name, session.user.role == EDITOR, session.token)

    def log_in(self, request: Request, name: str, password: str, key: str = "") -> str:
        """Log in a user, which takes 0.1 s; returns the key of the login: the given one, or by default a random one.
        Raises a RefusedError if the name or the password is wrong.
        """
        network = network_of(request.client.host if request.client else "")
        self._check_tries(network, name)
        user: User | None = None
        if self.users is not None:
            user = self.users.all().get(name)
        # A password is also checked if there is no such user, so that the time does not tell which users exist.
        if not is_password(password, user.password if user else hash_of_nobody()) or user is None:
            self._count_wrong(network, name)
            logger.warning("Wrong password for %s from %s", printable(repr(name[:64])), network or "an unknown network")
            raise RefusedError(HTTPStatus.UNAUTHORIZED, "The name or the password is wrong.")

        logger.info("%s logged in from %s", name, network)
        key = key or secrets.token_urlsafe(32)
        now = time.monotonic()
        with self._lock:
            self._familiar.set((name, network), None)
            ended = [session_key for session_key, session in self._sessions.items() if session.until <= now]
            for session_key in ended:
                del self._sessions[session_key]
            own = [session_key for session_key, session in self._sessions.items() if session.user.name == name]
            for session_key in own[: 1 - MOST_SESSIONS]:  # all but the latest, with room for the new one
                del self._sessions[session_key]
            self._sessions[key] = Session(user, now + SESSION_SECONDS)
        return key

    def log_in_program(self, request: Request, name: str, password: str) -> None:
        """Log in a program by the name and the password in its Authorization header."""
        self.log_in(request, name, password, self._key(request))

    def log_out(self, request: Request) -> None:
        with self._lock:
            self._sessions.pop(self._key(request), None)

    def _key(self, request: Request) -> str:
        """The key of a request's login: its cookie, or a digest of its Authorization header."""
        # Browsers send the cookie of the longest path first; later ones of this name may be of other dashboards.
        pairs = (cookie_pair.strip().partition("=") for cookie_pair in request.headers.get("cookie", "").split(";"))
        cookie = next((value for name, _, value in pairs if name == COOKIE), "")
        if cookie in self._sessions:  # a proxy may send its own Authorization header
            return cookie
        authorization = request.headers.get("authorization")
        if authorization:
            return hashlib.sha256(self._salt + authorization.encode("utf-8", "replace")).hexdigest()
        return cookie

    def _check_tries(self, network: str, name: str) -> None:
        """Raise a RefusedError if a login of this user from this network must wait."""
        now = time.monotonic()
        with self._lock:
            times = self._wrong_times.get(network, deque())
            must_wait = len(times) == NETWORK_TRIES and now - times[0] < MINUTE
            if (name, network) not in self._familiar:
                must_wait = must_wait or self._guesses_of(name, now).seconds_to_wait(now) > 0
        if must_wait:
            raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, "There were too many wrong passwords; wait a minute.")

    def _count_wrong(self, network: str, name: str) -> None:
        """Count a wrong password."""
        now = time.monotonic()
        with self._lock:
            times = self._wrong_times.get(network, deque(maxlen=NETWORK_TRIES))
            times.append(now)
            self._wrong_times.set(network, times)
            if (name, network) not in self._familiar:
                guesses = UserGuesses(self._guesses_of(name, now).count + 1, now)
                self._guesses.set(_key_of_name(name), guesses)

    def _guesses_of(self, name: str, now: float) -> UserGuesses:
        """The wrong passwords of a user, unless they are forgotten by now."""
        guesses = self._guesses.get(_key_of_name(name), UserGuesses())
        if now - guesses.last < USER_SECONDS:
            return guesses
        return UserGuesses()


def _key_of_name(name: str) -> str:
    """The name under which guesses are counted: empty for all names that no user can have."""
    return name if NAME.fullmatch(name) else ""


def network_of(client: str) -> str:
    """The network of a client: its IPv4 address, or the first 64 bits of its IPv6 address, which all addresses of one
    subscriber share. Empty if the client has no IP address.

    >>> network_of("::ffff:192.0.2.7"), network_of("2001:db8::1") == network_of("2001:db8::2")
    ('192.0.2.7', True)
    """
    try:
        address = ip_address(client)
    except ValueError:
        return ""
    if address.version == 6 and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address.version == 4:
        return str(address)
    return str(ip_network((address, 64), strict=False))


def basic_credentials(header: str) -> tuple[str, str] | None:
    """The name and the password in an Authorization header of the scheme Basic; None for other headers.

    >>> basic_credentials("Basic YW5uOnNlY3JldA=="), basic_credentials("Bearer YW5uOnNlY3JldA==")
    (('ann', 'secret'), None)
    """
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        return None
    if not colon:
        return None
    return name, password
