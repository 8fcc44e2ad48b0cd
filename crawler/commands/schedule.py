"""`scrapy schedule`: crawls that come again and again."""

import argparse

from crawler.command_line.command import CommandGroup, Subcommand


def job_name(parser: argparse.ArgumentParser) -> None:
    """Add the name of a job."""
    parser.add_argument("name", metavar="NAME")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `scrapy schedule add`."""
    job_name(parser)
    parser.add_argument("cron", metavar='"CRON"', help="when it comes; in quotes, as whatever holds a space")
    parser.add_argument("spider", metavar="topic")
    parser.add_argument("-a", dest="arguments", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--timezone", metavar="ZONE", default="UTC")


class Command(CommandGroup):
    """Crawl again and again: when, with which results, and the scheduler that does it."""

    subcommands = {  # noqa: RUF012
        "add": Subcommand("crawler.schedule.manage_jobs:add", add_options),
        "list": Subcommand("crawler.schedule.manage_jobs:list_jobs"),
        "history": Subcommand("crawler.schedule.manage_jobs:history", job_name),
        "pause": Subcommand("crawler.schedule.manage_jobs:pause", job_name),
        "resume": Subcommand("crawler.schedule.manage_jobs:resume", job_name),
        "remove": Subcommand("crawler.schedule.manage_jobs:remove", job_name),
        "run": Subcommand("crawler.schedule.run_jobs:run"),
        "run-now": Subcommand("crawler.schedule.run_jobs:run_now", job_name),
    }
