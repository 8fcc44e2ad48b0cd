"""`scrapy evaluate`: measures extractors and other programs on pages whose main text is known."""

from crawler.command_line.command import command_of_part


class Command(command_of_part("evaluate")):  # type: ignore[misc]
    """The command of contrib/lab/evaluation, or why there is none."""
