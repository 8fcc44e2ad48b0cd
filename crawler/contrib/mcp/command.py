"""The options of `winnow mcp`, which serves tools for agents over standard input and output."""

import argparse

from crawler.command_line.options import CommandOptions, whole
from crawler.translation.message import N_

MOST_PAGES = 200
MOST_MOST_PAGES = 100_000


class McpOptions(CommandOptions):
    function = "crawler.contrib.mcp.server:serve"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        pages = N_("the most pages of a crawl that an agent starts; 0 lets agents start none")
        parser.add_argument("--max-pages", metavar="N", type=whole(0, MOST_MOST_PAGES), default=MOST_PAGES, help=pages)
