"""`scrapy focus`: how well crawls kept to their topics."""

from crawler.cli import Subcommand
from crawler.cli.focus_report import REPORT
from crawler.cli.options import Several

SUBCOMMANDS: dict[str, Subcommand] = {"report": REPORT}


class Command(Several):
    """Says how well crawls kept to their topics."""

    called = "scrapy focus"
    subcommands = SUBCOMMANDS

    def short_desc(self) -> str:
        return "Say how well a crawl kept to its topic"
