"""The file of the dashboard's users."""

import os
import stat
from pathlib import Path

import pytest

from crawler.contrib.dashboard.users import EDITOR, READER, User, Users, hashed, is_password
from crawler.errors import StateError

HASH = hashed("honey and bees")
WRONG = (
    f'"king", "password": "{HASH}"',
    '"editor", "password": "x"',
    '"editor", "password": 7',
    '"editor", "password": "scrypt:1073741824:00:00"',
)


def test_without_a_file_there_are_no_users(tmp_path: Path) -> None:
    assert Users(tmp_path / "users.json").all() == {}


def test_users_are_added_replaced_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "output" / "users.json"
    ann, bob = User("ann", EDITOR, hashed("honey and bees")), User("bob@x", READER, hashed("bees and honey"))
    running = Users(path)
    Users(path).put(ann)
    Users(path).put(bob)
    assert running.all() == {"ann": ann, "bob@x": bob}
    Users(path).put(User("ann", READER, ann.password))
    assert running.all()["ann"].role == READER
    assert Users(path).remove("ann")
    assert not Users(path).remove("ann")
    assert [*running.all()] == ["bob@x"]
    assert [one.name for one in path.parent.iterdir()] == ["users.json"]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions.")
def test_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    Users(tmp_path / "users.json").put(User("ann", EDITOR, hashed("honey and bees")))
    assert stat.S_IMODE((tmp_path / "users.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["", "{", "{}x", "[{}]", "7", "[" * 100_000, *(f'[{{"name": "ann", "role": {role}}}]' for role in WRONG)]
)
def test_a_damaged_file_gives_nobody_access(tmp_path: Path, text: str) -> None:
    (tmp_path / "users.json").write_text(text)
    with pytest.raises(StateError, match=r"users\.json"):
        Users(tmp_path / "users.json").all()


def test_the_file_has_no_password(tmp_path: Path) -> None:
    stored = hashed("honey and bees")
    assert "honey" not in stored
    assert stored != hashed("honey and bees")
    assert is_password("honey and bees", stored)
    assert not is_password("honey and bee", stored)
    assert "scrypt" not in repr(User("ann", EDITOR, stored))
