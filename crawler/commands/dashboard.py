"""`scrapy dashboard`: serves web pages about all crawls, until Ctrl-C."""

from crawler.command_line.command import command_of_part


class Command(command_of_part("dashboard")):  # type: ignore[misc]
    """The command of contrib/dashboard, or why there is none."""
