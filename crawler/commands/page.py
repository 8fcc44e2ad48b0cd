"""`winnow page`: prints the main text of one page."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `page` of COMMANDS."""
