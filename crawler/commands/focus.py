"""`winnow focus`: reports how well crawls kept to their topics."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `focus` of COMMANDS."""
