"""`scrapy focus`: how well crawls kept to their topics."""

import argparse

from crawler.command_line.command import CommandGroup, Subcommand, share
from crawler.topic.stop_rule import ON_TOPIC


def report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `scrapy focus report`."""
    parser.add_argument("--name", metavar="NAME")
    parser.add_argument("-o", dest="output", metavar="FILE.html")
    parser.add_argument("--min-relevance", metavar="X", type=share, default=ON_TOPIC)
    parser.add_argument("--truth", metavar="FILE")


class Command(CommandGroup):
    """Say how well a crawl kept to its topic."""

    subcommands = {"report": Subcommand("crawler.reports.report_focus:report", report_options)}  # noqa: RUF012
