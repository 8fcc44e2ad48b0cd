"""`scrapy state`: what the crawls have done and where they stand; and the deletion of what is not wanted any more."""

import argparse

from scrapy.settings import BaseSettings

from crawler import command
from crawler.terminal import WrongUseError


class Command(command.Command):
    """Shows all crawls, or one with more; deletes one with --reset, and old pages with --prune."""

    called = "scrapy state"

    def syntax(self) -> str:
        return "[NAME] | --reset NAME [--yes] | --prune"

    def short_desc(self) -> str:
        return "Show what the crawls have done and where they stand, or delete what is not wanted any more"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--reset", metavar="NAME", help="delete what is known of this crawl; its files stay")
        parser.add_argument("--yes", action="store_true", help="do not ask first")
        parser.add_argument("--prune", action="store_true", help="drop pages older than STATE_KEEP_DAYS")

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) > 1:
            raise WrongUseError(
                "{given} is too much; one crawl is shown at a time, or all: scrapy state [NAME]", given=repr(args[1])
            )
        if (opts.reset is not None) + opts.prune + len(args) > 1:
            raise WrongUseError("NAME, --reset NAME and --prune are three different things; give one of them")
        if opts.yes and opts.reset is None:
            raise WrongUseError("--yes goes with --reset NAME")

    def execute(self, args: list[str], opts: argparse.Namespace, settings: BaseSettings) -> int:
        from crawler.reports.report_state import StateCommand

        state = StateCommand(settings)
        if opts.prune:
            state.prune()
        elif opts.reset is not None:
            state.reset(opts.reset, opts.yes)
        else:
            state.show(*args)
        return 0
