"""The options of `winnow crawl`: each argument of a crawl has one, e.g. `--max-pages 5` for `-a max_pages=5`."""

import argparse
from functools import partial

from crawler.arguments import ARGUMENTS
from crawler.command_line.options import CommandOptions
from crawler.translation.message import N_, Message, localized


class CrawlOptions(CommandOptions):
    """The arguments of a crawl as options. If an option and `-a` set the same argument, the last one counts."""

    def syntax(self) -> str:
        return "[topic] [SEED ...] [-a NAME=VALUE ...] [-s NAME=VALUE ...]"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        seeds = N_("an address, a file of addresses, a sitemap, a feed, or demo; the same as -a seeds=")
        parser.add_argument("words", metavar="SEED", nargs="*", help=seeds)
        also = localized(Message("-a NAME=VALUE takes the same: -a max_pages=5 is --max-pages 5."))
        group = parser.add_argument_group(N_("arguments of the spider topic"), also)
        for name, argument in ARGUMENTS.items():
            if name != "seeds":
                group.add_argument(
                    f"--{name.replace('_', '-')}",
                    dest="spargs",
                    metavar="VALUE",
                    action="append",
                    default=[],
                    type=partial(_assignment, name),
                    help=argument.help(),
                )


def _assignment(name: str, value: str) -> str:
    """An argument in the notation of Scrapy's option `-a`."""
    return f"{name}={value}"
