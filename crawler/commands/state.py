"""`scrapy state`: what the crawls have done and where they stand; and the deletion of what is not wanted any more."""

import argparse

from crawler.command_line import command
from crawler.command_line.terminal import WrongUseError


class Command(command.Command):
    """Show what the crawls have done and where they stand, or delete what is not wanted any more."""

    function = "crawler.reports.report_state:state"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("name", metavar="NAME", nargs="?", help="show this crawl with more")
        add("--reset", metavar="NAME", help="delete what is known of this crawl; its files stay")
        add("--yes", action="store_true", help="do not ask first")
        add("--prune", action="store_true", help="drop pages older than STATE_KEEP_DAYS")

    def check(self, opts: argparse.Namespace) -> None:
        if (opts.reset is not None) + opts.prune + (opts.name is not None) > 1:
            raise WrongUseError("NAME, --reset NAME and --prune are three different things; give one of them")
        if opts.yes and opts.reset is None:
            raise WrongUseError("--yes goes with --reset NAME")
