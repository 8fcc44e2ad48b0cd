"""`winnow focus`: how well crawls kept to their topics."""

import argparse

from crawler.command_line.options import GroupOptions, Subcommand, share
from crawler.topic.stop_rule import ON_TOPIC
from crawler.translation.message import N_


def report_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--name", metavar="NAME", help=N_("the crawl; all crawls if not given"))
    add("-o", dest="output", metavar="FILE.html", help=N_("also write the report to this file"))
    relevant = N_("pages with at least this relevance count as on topic")
    add("--min-relevance", metavar="X", type=share, default=ON_TOPIC, help=relevant)
    add(
        "--truth",
        metavar="FILE",
        help=N_("the addresses of all pages on the topic, one a line, to count how many were found"),
    )


class FocusCommandOptions(GroupOptions):
    subcommands = {"report": Subcommand("crawler.contrib.lab.report_focus:report", report_options)}  # noqa: RUF012
