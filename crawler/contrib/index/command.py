"""The command `winnow state`, with the option --forget that erases pages and hosts."""

import argparse

from crawler.errors import WrongUseError
from crawler.reports.command import StateOptions
from crawler.translation.message import N_


class StateAndForgetOptions(StateOptions):
    """Shows what the database holds, deletes crawls and old pages, and erases single pages and hosts."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        forget_help = N_(
            "erase this page or host from the crawl NAME for good, in the database and in its files, and never request "
            "it again; may be repeated"
        )
        parser.add_argument("--forget", metavar="URL|HOST", action="append", default=[], help=forget_help)

    def check(self, opts: argparse.Namespace) -> None:
        super().check(opts)
        if opts.forget and opts.name is None:
            raise WrongUseError("--forget needs NAME")
        if opts.forget:
            self.function = "crawler.contrib.index.forget:forget"
