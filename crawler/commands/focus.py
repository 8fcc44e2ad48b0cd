"""`scrapy focus`: how well crawls kept to their topics."""

from crawler.command_line.command import command_of_part


class Command(command_of_part("focus")):  # type: ignore[misc]
    """The command of contrib/lab, or why there is none."""
