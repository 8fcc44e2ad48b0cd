"""The users of the dashboard: a file of the output folder with their names, roles and hashed passwords.

`winnow dashboard --add-user` writes the file. A running dashboard reads it again whenever it has changed.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from crawler.errors import StateError

READER = "reader"
EDITOR = "editor"
ROLES = (READER, EDITOR)
FILE = "dashboard-users.json"
NAME = re.compile(r"[\w.@-]{1,64}")
HASH = re.compile(r"scrypt:[0-9]{1,6}:([0-9a-f]{2}){1,64}:[0-9a-f]{128}", re.ASCII)
"""The method, its cost, the salt, and the digest of a password."""
LEAST_PASSWORD = 8
MOST_PASSWORD = 200
"""The fewest and the most characters of a password."""
# Parameters of scrypt (https://www.rfc-editor.org/rfc/rfc7914#section-2); with these, a check takes 0.1 s and 32 MB.
COST = 1 << 15
BLOCK = 8
MEMORY = 1 << 26
"""The most memory that scrypt may use, in bytes."""


@dataclass(frozen=True)
class User:
    """A person or a program with access to the dashboard."""

    name: str
    role: str
    password: str = field(repr=False)
    """The hash of the password, as hashed() returns it."""


class Users:
    """The users in a file; none if the file does not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._users_in_state: tuple[object, Mapping[str, User]] = (None, {})
        """The state of the file when it was read, and the users in it: one tuple, so that several threads can replace
        both at once.
        """

    def all(self) -> Mapping[str, User]:
        """All users by name; raises a StateError if the file cannot be read."""
        last_state, users = self._users_in_state
        try:
            status = self.path.stat()
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
            if state == last_state:
                return users
            users = _users(json.loads(self.path.read_text("utf-8")))
            self._users_in_state = (state, users)
        except FileNotFoundError:
            users = {}
            self._users_in_state = (None, users)
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise StateError("the users in {path} cannot be read: {why}", path=str(self.path), why=str(error)) from None
        return users

    def put(self, user: User) -> None:
        """Add a user, or replace the one of this name."""
        self._write({**self.all(), user.name: user})

    def remove(self, name: str) -> bool:
        """Remove a user; returns whether there was one of this name."""
        users = self.all()
        if name not in users:
            return False
        self._write({other_name: user for other_name, user in users.items() if other_name != name})
        return True

    def _write(self, users: Mapping[str, User]) -> None:
        """Replace the file."""
        path = self.path.resolve()
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
        path.parent.mkdir(parents=True, exist_ok=True)
        part.touch(0o600, exist_ok=False)  # nobody but the owner may read the hashes
        part.write_text(json.dumps([asdict(user) for user in users.values()], indent=1), "utf-8")
        part.replace(path)


def _users(records: list[dict[str, str]]) -> dict[str, User]:
    """The users in the records of a file; raises a ValueError if one is damaged."""
    users = {record["name"]: User(**record) for record in records}
    for user in users.values():
        if not NAME.fullmatch(user.name) or user.role not in ROLES or not HASH.fullmatch(user.password):
            raise ValueError(f"the user {user.name!r} is damaged")
    return users


def hashed(password: str) -> str:
    """The hash of a password, with its cost and its salt."""
    salt = secrets.token_hex(16)
    return f"scrypt:{COST}:{salt}:{_scrypt(password, salt, COST)}"


def is_password(password: str, stored_hash: str) -> bool:
    """Whether a stored hash is that of this password.

    >>> is_password("honey and bees", hashed("honey and bees")), is_password("", hashed("honey and bees"))
    (True, False)
    """
    _, cost, salt, digest = stored_hash.split(":")
    return hmac.compare_digest(_scrypt(password, salt, int(cost)), digest)


@cache
def hash_of_nobody() -> str:
    """A hash against which the password for an unknown name is checked, so that it takes as long as for a user."""
    return hashed(secrets.token_hex(16))


def _scrypt(password: str, salt: str, cost: int) -> str:
    data = password.encode("utf-8", "replace")
    return hashlib.scrypt(data, salt=bytes.fromhex(salt), n=cost, r=BLOCK, p=1, maxmem=MEMORY).hex()
