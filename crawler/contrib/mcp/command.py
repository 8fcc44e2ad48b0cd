"""The options of `winnow mcp`, which serves tools for agents over standard input and output."""

import argparse

from crawler.command_line.options import CommandOptions, whole
from crawler.translation.message import N_

DEFAULT_MAX_PAGES = 200
LARGEST_MAX_PAGES = 100_000
"""The default and the largest value of --max-pages."""


class McpOptions(CommandOptions):
    """The options of `winnow mcp`."""

    function = "crawler.contrib.mcp.server:serve"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        max_pages_help = N_("the most pages of a crawl that an agent starts; 0 lets agents start none")
        parser.add_argument(
            "--max-pages",
            metavar="N",
            type=whole(0, LARGEST_MAX_PAGES),
            default=DEFAULT_MAX_PAGES,
            help=max_pages_help,
        )
