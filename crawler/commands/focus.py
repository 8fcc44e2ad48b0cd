"""`scrapy focus`: how well crawls kept to their topics."""

from crawler.subcommands.family import Family
from crawler.subcommands.focus_report import REPORT


class Command(Family):
    """What there is to do with the focus of crawls."""

    family = "focus"
    subcommands = {"report": REPORT}  # noqa: RUF012 - never changed
    purpose = "Say how well a crawl kept to its topic"
