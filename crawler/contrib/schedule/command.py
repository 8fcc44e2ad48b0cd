"""`winnow schedule`: crawls that run on a schedule."""

import argparse

from crawler.command_line.options import GroupOptions, Subcommand
from crawler.translation.message import N_


def job_name(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a job."""
    parser.add_argument("name", metavar="NAME", help=N_("the name of the job, and of its crawl"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that define a job."""
    job_name(parser)
    parser.add_argument(
        "cron", metavar='"CRON"', help=N_('when it runs, as a cron line: "0 6 * * *" is every day at six')
    )
    parser.add_argument("spider", metavar="topic", help=N_("the spider"))
    arguments = N_("an argument of the crawl, as in winnow crawl; may be repeated")
    parser.add_argument("-a", dest="arguments", metavar="NAME=VALUE", action="append", default=[], help=arguments)
    zone = N_("the time zone of CRON, such as Europe/Berlin")
    parser.add_argument("--timezone", metavar="ZONE", default="UTC", help=zone)
    notify = N_("a webhook: the address that is sent a JSON object when a run ends, fails, or its harvest falls")
    parser.add_argument("--notify", metavar="ADDRESS", default="", help=notify)


class ScheduleOptions(GroupOptions):
    """The subcommands of `winnow schedule`."""

    subcommands = {  # noqa: RUF012
        "add": Subcommand("crawler.contrib.schedule.manage_jobs:add", add_options),
        "list": Subcommand("crawler.contrib.schedule.manage_jobs:list_jobs"),
        "history": Subcommand("crawler.contrib.schedule.manage_jobs:history", job_name),
        "pause": Subcommand("crawler.contrib.schedule.manage_jobs:pause", job_name),
        "resume": Subcommand("crawler.contrib.schedule.manage_jobs:resume", job_name),
        "remove": Subcommand("crawler.contrib.schedule.manage_jobs:remove", job_name),
        "run": Subcommand("crawler.contrib.schedule.manage_jobs:run"),
        "run-now": Subcommand("crawler.contrib.schedule.manage_jobs:run_now", job_name),
    }
