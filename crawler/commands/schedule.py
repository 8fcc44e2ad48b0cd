"""`scrapy schedule`: crawls that run on a schedule."""

from crawler.command_line.command import command_of_part


class Command(command_of_part("schedule")):  # type: ignore[misc]
    """The command of contrib/schedule, or why there is none."""
