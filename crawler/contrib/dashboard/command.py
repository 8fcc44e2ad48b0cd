"""The options of `winnow dashboard`, which serves web pages about all crawls until Ctrl-C."""

import argparse

from crawler.command_line.options import CommandOptions, whole
from crawler.translation.message import N_

PORT = 6080
MOST_PORT = 65_535


class DashboardOptions(CommandOptions):
    """The options of `winnow dashboard`."""

    function = "crawler.contrib.dashboard.serve_dashboard:serve"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        port = N_("the port; 0 chooses a free one")
        parser.add_argument("--port", metavar="N", type=whole(0, MOST_PORT), default=PORT, help=port)
        parser.add_argument(
            "--host",
            metavar="ADDRESS",
            default="127.0.0.1",
            help=N_("the address to listen on; all but loopback addresses such as 127.0.0.1 need a user"),
        )
        parser.add_argument(
            "--add-user",
            metavar="NAME",
            help=N_(
                "add a user, or change a user's password and role, then exit; the password is read from standard input"
            ),
        )
        role = N_("an editor may change labels, crawls and jobs, a reader may only read; a new user is a reader")
        parser.add_argument("--role", choices=("reader", "editor"), help=role)
        parser.add_argument("--remove-user", metavar="NAME", help=N_("remove a user, then exit"))

    def check(self, opts: argparse.Namespace) -> None:
        if opts.add_user is not None or opts.remove_user is not None:
            self.function = "crawler.contrib.dashboard.edit_users:edit_users"
