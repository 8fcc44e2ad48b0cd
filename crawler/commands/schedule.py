"""`scrapy schedule`: crawls that come again and again."""

from crawler.cli import Subcommand
from crawler.cli.options import Several
from crawler.cli.schedule_jobs import ADD, HISTORY, LIST, PAUSE, REMOVE, RESUME
from crawler.cli.schedule_run import RUN, RUN_NOW

SUBCOMMANDS: dict[str, Subcommand] = {
    "add": ADD,
    "list": LIST,
    "history": HISTORY,
    "pause": PAUSE,
    "resume": RESUME,
    "remove": REMOVE,
    "run": RUN,
    "run-now": RUN_NOW,
}


class Command(Several):
    """Keeps jobs, and runs them when they are due."""

    called = "scrapy schedule"
    subcommands = SUBCOMMANDS

    def short_desc(self) -> str:
        return "Crawl again and again: when, with which results, and the scheduler that does it"
