"""The options of `winnow state`: show what the database holds of the crawls, and delete from it."""

import argparse

from crawler.command_line.options import CommandOptions
from crawler.errors import WrongUseError
from crawler.translation.message import N_


class StateOptions(CommandOptions):
    function = "crawler.reports.show_or_delete_crawls:state"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("name", metavar="NAME", nargs="?", help=N_("the crawl to show in full; all crawls if not given"))
        add("--reset", metavar="NAME", help=N_("delete this crawl from the database; its files stay"))
        add("--yes", action="store_true", help=N_("delete without asking first"))
        add("--prune", action="store_true", help=N_("delete pages older than the setting STATE_KEEP_DAYS"))

    def check(self, opts: argparse.Namespace) -> None:
        if (opts.reset is not None) + opts.prune + (opts.name is not None) > 1:
            raise WrongUseError("NAME, --reset NAME and --prune exclude each other")
        if opts.yes and opts.reset is None:
            raise WrongUseError("--yes goes with --reset NAME")
