"""`scrapy dashboard`: serves web pages about all crawls, until Ctrl-C."""

import argparse
import logging
import os
import re
import sys
from getpass import getpass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from crawler.command_line import command
from crawler.command_line.command import whole
from crawler.command_line.terminal import WrongUseError, say
from crawler.translation.message import N_, Message

if TYPE_CHECKING:
    from crawler.contrib.dashboard.access import AccessControl
    from crawler.contrib.dashboard.users import Users

PORT = 6080
MOST_PORT = 65_535
NICE = 10  # how far the dashboard lowers its own priority in favour of crawls


class Command(command.Command):
    summary = N_("Show all crawls on a web page.")

    function = "crawler.contrib.dashboard.command:serve"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        port = N_("the port; 0 chooses a free one")
        parser.add_argument("--port", metavar="N", type=whole(0, MOST_PORT), default=PORT, help=port)
        parser.add_argument(
            "--host",
            metavar="ADDRESS",
            default="127.0.0.1",
            help=N_("the address to listen on; other addresses than those of this machine need a user"),
        )
        parser.add_argument(
            "--add-user",
            metavar="NAME",
            help=N_(
                "add a user, or give one another password and role, and end; the password is read from standard input"
            ),
        )
        role = N_("an editor may change labels, crawls and jobs, a reader may only read; a new user is a reader")
        parser.add_argument("--role", choices=("reader", "editor"), help=role)
        parser.add_argument("--remove-user", metavar="NAME", help=N_("remove a user, and end"))


def serve(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Open the dashboard, on this machine alone if nothing else is said."""
    from crawler.contrib.dashboard.users import FILE, Users

    users = Users(Path(settings["OUTPUT_DIR"]) / FILE)
    if opts.add_user is not None:
        return add_user(users, opts.add_user, opts.role)
    if opts.remove_user is not None:
        return remove_user(users, opts.remove_user)
    from crawler.contrib.dashboard.app import dashboard
    from crawler.contrib.dashboard.context import DashboardContext
    from crawler.contrib.dashboard.logins import Logins
    from crawler.contrib.dashboard.server import ListenAddress
    from crawler.contrib.dashboard.server import serve as serve_application
    from crawler.contrib.schedule.job_process import starting_thread
    from crawler.store.database import display_url, state_url

    access = access_of(opts.host, settings, bool(users.all()))
    address = ListenAddress(opts.host, opts.port, root_of(settings), proxies_of(settings))
    url = state_url(settings)
    logging.basicConfig(format="%(asctime)s %(levelname)s: %(message)s")
    logging.getLogger("crawler.contrib.dashboard.logins").setLevel(logging.INFO)
    if hasattr(os, "nice"):
        starting_thread()
        os.nice(NICE)
    context = DashboardContext(url, Path(settings["OUTPUT_DIR"]), settings, access, Logins(users), address.root)
    return serve_application(dashboard(context), address, display_url(url))


def add_user(users: "Users", name: str, role: str | None) -> int:
    """Add a user, or give one another password, and another role if one is given."""
    from crawler.contrib.dashboard.users import LEAST_PASSWORD, MOST_PASSWORD, NAME, READER, User, hashed

    if not NAME.fullmatch(name):
        raise WrongUseError(
            "--add-user {name} is wrong; allowed are up to 64 letters, digits and . _ - @", name=repr(name[:100])
        )
    password = getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise WrongUseError(
            "the password must have {least} to {most} characters", least=LEAST_PASSWORD, most=MOST_PASSWORD
        )
    known = users.all().get(name)
    user = User(name, role or (known.role if known else READER), hashed(password))
    users.put(user)
    sentence = N_("{name} was changed, as {role}, in {path}") if known else N_("{name} was added, as {role}, in {path}")
    say("scrapy dashboard", Message(sentence, {"name": name, "role": user.role, "path": str(users.path)}))
    return 0


def remove_user(users: "Users", name: str) -> int:
    if not users.remove(name):
        raise WrongUseError("there is no user {name}", name=repr(name[:100]))
    say("scrapy dashboard", Message(N_("{name} was removed"), {"name": name}))
    return 0


def names_in(settings: BaseSettings, setting: str) -> list[str]:
    """The names in a setting, which are separated by commas."""
    return [name.strip() for name in settings.getlist(setting) if name.strip()]


def root_of(settings: BaseSettings) -> str:
    """The path of the dashboard without the slash at its end."""
    root = str(settings["DASHBOARD_PATH"]).strip("/")
    parts = root.split("/") if root else []
    if not all(re.fullmatch(r"[\w.~-]+", part, re.ASCII) and part.strip(".") for part in parts):
        raise WrongUseError(
            "setting DASHBOARD_PATH is wrong; allowed is a path of letters, digits and . _ ~ -, such as /crawls"
        )
    return f"/{root}" if root else ""


def proxies_of(settings: BaseSettings) -> tuple[str, ...]:
    """The addresses and networks of reverse proxies."""
    found = []
    for name in names_in(settings, "DASHBOARD_PROXIES"):
        try:
            found.append(str(ip_network(name, strict=False)))
        except ValueError:
            raise WrongUseError(
                "setting DASHBOARD_PROXIES is wrong: {name} is no address or network", name=repr(name[:100])
            ) from None
    return tuple(found)


def access_of(host: str, settings: BaseSettings, has_users: bool) -> "AccessControl":
    """The access control of a dashboard that listens there; refused where everybody had access."""
    from crawler.contrib.dashboard.access import LOCAL, AccessControl, host_name

    names = names_in(settings, "DASHBOARD_HOSTS")
    try:
        address = ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise WrongUseError(
            "--host {host} is wrong; allowed are localhost and addresses in numbers", host=repr(host[:100])
        ) from None
    if not address.is_loopback and not has_users:
        raise WrongUseError("--host {host} gives other machines access; add a user first with --add-user", host=host)
    if wrong := [name for name in names if not host_name(name)]:
        raise WrongUseError("setting DASHBOARD_HOSTS is wrong: {name} is not a host name", name=repr(wrong[0][:100]))
    if names and not has_users:
        raise WrongUseError("setting DASHBOARD_HOSTS gives others access; add a user first with --add-user")
    served = frozenset(map(host_name, names)) | LOCAL | {str(address)}
    return AccessControl(served, any_address=address.is_unspecified)
