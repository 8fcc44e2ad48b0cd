"""`winnow schedule`: runs crawls on a schedule."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `schedule` of COMMANDS."""
