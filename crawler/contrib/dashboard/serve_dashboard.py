"""Runs the dashboard with the options and settings of the command."""

import argparse
import logging
import os
import re
from ipaddress import ip_address, ip_network
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler.contrib.dashboard.access import LOCAL_NAMES, AccessControl, host_name
from crawler.contrib.dashboard.app import dashboard
from crawler.contrib.dashboard.context import DashboardContext
from crawler.contrib.dashboard.logins import Logins
from crawler.contrib.dashboard.server import ListenAddress
from crawler.contrib.dashboard.server import serve as serve_application
from crawler.contrib.dashboard.users import FILE, Users
from crawler.contrib.schedule.job_process import starting_thread
from crawler.errors import WrongUseError
from crawler.store.database import display_url, state_url

NICE = 10
"""The steps by which the dashboard lowers its own priority in favour of crawls."""


def serve(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Serve the dashboard; it listens on localhost unless --host is given."""
    users = Users(Path(settings["OUTPUT_DIR"]) / FILE)
    access = access_of(opts.host, settings, bool(users.all()))
    address = ListenAddress(opts.host, opts.port, root_of(settings), proxies_of(settings))
    url = state_url(settings)
    logging.basicConfig(format="%(asctime)s %(levelname)s: %(message)s")
    logging.getLogger("crawler.contrib.dashboard.logins").setLevel(logging.INFO)
    if hasattr(os, "nice"):
        # This thread starts the runs of jobs. It begins before `nice`, so that they keep the normal priority.
        starting_thread()
        os.nice(NICE)
    context = DashboardContext(url, Path(settings["OUTPUT_DIR"]), settings, access, Logins(users), address.root)
    return serve_application(dashboard(context), address, display_url(url))


def names_in(settings: BaseSettings, setting: str) -> list[str]:
    """The names in a setting, which are separated by commas."""
    return [name.strip() for name in settings.getlist(setting) if name.strip()]


def root_of(settings: BaseSettings) -> str:
    """The path in DASHBOARD_PATH, e.g. `/crawls`, without a slash at its end; empty at the root of the host."""
    root = str(settings["DASHBOARD_PATH"]).strip("/")
    parts = root.split("/") if root else []
    # The parts . and .. are not allowed, because browsers would resolve them.
    if not all(re.fullmatch(r"[\w.~-]+", part, re.ASCII) and part.strip(".") for part in parts):
        raise WrongUseError(
            "setting DASHBOARD_PATH is wrong; allowed is a path of letters, digits and . _ ~ -, such as /crawls"
        )
    return f"/{root}" if root else ""


def proxies_of(settings: BaseSettings) -> tuple[str, ...]:
    """The addresses and networks of reverse proxies."""
    proxies = []
    for name in names_in(settings, "DASHBOARD_PROXIES"):
        try:
            proxies.append(str(ip_network(name, strict=False)))
        except ValueError:
            raise WrongUseError(
                "setting DASHBOARD_PROXIES is wrong: {name} is no address or network", name=repr(name[:100])
            ) from None
    return tuple(proxies)


def access_of(host: str, settings: BaseSettings, has_users: bool) -> AccessControl:
    """The access control of a dashboard on this host; raises a WrongUseError if everybody would have access."""
    names = names_in(settings, "DASHBOARD_HOSTS")
    try:
        address = ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise WrongUseError(
            "--host {host} is wrong; allowed are localhost and addresses in numbers", host=repr(host[:100])
        ) from None
    if not address.is_loopback and not has_users:
        raise WrongUseError("--host {host} gives other machines access; add a user first with --add-user", host=host)
    wrong = [name for name in names if not host_name(name)]
    if wrong:
        raise WrongUseError("setting DASHBOARD_HOSTS is wrong: {name} is not a host name", name=repr(wrong[0][:100]))
    if names and not has_users:
        raise WrongUseError("setting DASHBOARD_HOSTS gives others access; add a user first with --add-user")
    allowed_names = frozenset(map(host_name, names)) | LOCAL_NAMES | {str(address)}
    return AccessControl(allowed_names, allows_any_address=address.is_unspecified)
