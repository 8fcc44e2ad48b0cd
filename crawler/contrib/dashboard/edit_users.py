"""Adds, changes and removes users of the dashboard from the command line."""

import argparse
import sys
from getpass import getpass
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.command_line.terminal import say
from crawler.contrib.dashboard.users import FILE, LEAST_PASSWORD, MOST_PASSWORD, NAME, READER, User, Users, hashed
from crawler.errors import WrongUseError
from crawler.translation.message import N_, Message


def edit_users(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Add or remove the user that an option names; returns the exit status."""
    users = Users(Path(settings["OUTPUT_DIR"]) / FILE)
    if opts.add_user is not None:
        return add_user(users, opts.add_user, opts.role)
    return remove_user(users, opts.remove_user)


def add_user(users: Users, name: str, role: str | None) -> int:
    """Add a user, or change the password of a known one, and the role if it is given; returns the exit status."""
    if not NAME.fullmatch(name):
        raise WrongUseError(
            "--add-user {name} is wrong; allowed are up to 64 letters, digits and . _ - @", name=repr(name[:100])
        )
    password = getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise WrongUseError(
            "the password must have {least} to {most} characters", least=LEAST_PASSWORD, most=MOST_PASSWORD
        )
    known_user = users.all().get(name)
    if known_user is None:
        role = role or READER
        sentence = N_("{name} was added, as {role}, in {path}")
    else:
        role = role or known_user.role
        sentence = N_("{name} was changed, as {role}, in {path}")
    user = User(name, role, hashed(password))
    users.put(user)
    say("dashboard", Message(sentence, {"name": name, "role": user.role, "path": str(users.path)}))
    return 0


def remove_user(users: Users, name: str) -> int:
    """Remove a user; returns the exit status."""
    if not users.remove(name):
        raise WrongUseError("there is no user {name}", name=repr(name[:100]))
    say("dashboard", Message(N_("{name} was removed"), {"name": name}))
    return 0
