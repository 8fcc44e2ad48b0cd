"""`scrapy train`: trains weights on pages whose main text, or whose author and date, is known."""

from crawler.command_line.command import command_of_part


class Command(command_of_part("train")):  # type: ignore[misc]
    """The command of contrib/lab/training, or why there is none."""
