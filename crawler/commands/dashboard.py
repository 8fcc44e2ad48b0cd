"""`scrapy dashboard`: serves web pages about all crawls, until Ctrl-C."""

import argparse
import os
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from crawler.command_line import command
from crawler.command_line.command import whole
from crawler.command_line.terminal import WrongUseError
from crawler.translation.message import N_

if TYPE_CHECKING:
    from crawler.dashboard.access import AccessControl

PORT = 6080
MOST_PORT = 65_535
NICE = 10  # how far the dashboard lowers its own priority in favour of crawls
LEAST_PASSWORD = 8


class Command(command.Command):
    summary = N_("Show all crawls on a web page.")

    function = "crawler.commands.dashboard:serve"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        port = N_("the port; 0 chooses a free one")
        parser.add_argument("--port", metavar="N", type=whole(0, MOST_PORT), default=PORT, help=port)
        parser.add_argument(
            "--host",
            metavar="ADDRESS",
            default="127.0.0.1",
            help=N_(
                "the address to listen on; other addresses than those of this machine need the setting "
                "DASHBOARD_PASSWORD"
            ),
        )


def serve(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Open the dashboard, on this machine alone if nothing else is said."""
    password, names = str(settings["DASHBOARD_PASSWORD"]), settings.getlist("DASHBOARD_HOSTS")
    access = access_of(opts.host, password, [name.strip() for name in names if name.strip()])
    from crawler.dashboard.app import dashboard
    from crawler.dashboard.context import DashboardContext
    from crawler.dashboard.server import serve as serve_application
    from crawler.schedule.job_process import starting_thread
    from crawler.store.database import display_url, state_url

    url = state_url(settings)
    if hasattr(os, "nice"):
        starting_thread()
        os.nice(NICE)
    context = DashboardContext(url, Path(settings["OUTPUT_DIR"]), settings, access)
    return serve_application(dashboard(context), opts.host, opts.port, display_url(url))


def access_of(host: str, password: str, names: list[str]) -> "AccessControl":
    """The access control of a dashboard that listens there; refused where everybody had access."""
    from crawler.dashboard.access import LOCAL, AccessControl, host_name

    try:
        address = ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise WrongUseError(
            "--host {host} is wrong; allowed are localhost and addresses in numbers", host=repr(host[:100])
        ) from None
    if not address.is_loopback and not password:
        raise WrongUseError(
            "--host {host} gives other machines access; that needs the setting DASHBOARD_PASSWORD", host=host
        )
    if password and len(password) < LEAST_PASSWORD:
        raise WrongUseError(
            "setting DASHBOARD_PASSWORD is too short; it needs at least {least} characters", least=LEAST_PASSWORD
        )
    if wrong := [name for name in names if not host_name(name)]:
        raise WrongUseError("setting DASHBOARD_HOSTS is wrong: {name} is not a host name", name=repr(wrong[0][:100]))
    served = frozenset(map(host_name, names)) | LOCAL | {str(address)}
    return AccessControl(served, any_address=address.is_unspecified, password=password)
