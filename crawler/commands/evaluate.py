"""`winnow evaluate`: measures extractors and other programs."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `evaluate` of COMMANDS."""
