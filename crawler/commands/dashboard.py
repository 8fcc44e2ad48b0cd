"""`scrapy dashboard`: the web page over the state of all crawls, until Ctrl-C."""

import argparse
import os
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from crawler import command
from crawler.command import whole
from crawler.terminal import WrongUseError

if TYPE_CHECKING:
    from crawler.dashboard.access import AccessControl

PORT = 6080
MOST_PORT = 65_535
NICE = 10
"""How far the dashboard lowers its own priority, for crawls that want the processor."""
LEAST_PASSWORD = 8


class Command(command.Command):
    """Opens the dashboard, on this machine alone if nothing else is said."""

    called = "scrapy dashboard"

    def syntax(self) -> str:
        return "[--port N] [--host ADDRESS]"

    def short_desc(self) -> str:
        return "Show what the crawls do, on a web page"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        port = f"{PORT} if not given; 0 takes a free one"
        parser.add_argument("--port", metavar="N", type=whole(0, MOST_PORT), default=PORT, help=port)
        parser.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="an address of this machine")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise WrongUseError(f"{args[0][:200]!r} is too much; it is scrapy dashboard {self.syntax()}")

    def execute(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
        password, names = str(settings["DASHBOARD_PASSWORD"]), settings.getlist("DASHBOARD_HOSTS")
        access = access_of(opts.host, password, [name.strip() for name in names if name.strip()])
        from crawler.dashboard.app import serve
        from crawler.dashboard.context import DashboardContext
        from crawler.schedule.job_process import starting_thread
        from crawler.store.database import display_url, state_url

        url = state_url(settings)
        if hasattr(os, "nice"):
            starting_thread()
            os.nice(NICE)
        context = DashboardContext(url, Path(settings["OUTPUT_DIR"]), settings, access)
        return serve(context, opts.host, opts.port, display_url(url))


def access_of(host: str, password: str, names: list[str]) -> "AccessControl":
    """The access control of a dashboard that listens there; refused where everybody had access."""
    from crawler.dashboard.access import LOCAL, AccessControl, host_name

    try:
        address = ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise WrongUseError(f"--host {host[:100]!r} is wrong; allowed are localhost and addresses in numbers") from None
    if not address.is_loopback and not password:
        raise WrongUseError(f"--host {host} lets others in; give the setting DASHBOARD_PASSWORD, which they then need")
    if password and len(password) < LEAST_PASSWORD:
        raise WrongUseError(f"setting DASHBOARD_PASSWORD is too short; it wants {LEAST_PASSWORD} letters or more")
    if wrong := [name for name in names if not host_name(name)]:
        raise WrongUseError(f"setting DASHBOARD_HOSTS is wrong: {wrong[0][:100]!r} is no name of a host")
    served = frozenset(map(host_name, names)) | LOCAL | {str(address)}
    return AccessControl(served, any_address=address.is_unspecified, password=password)
