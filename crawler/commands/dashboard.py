"""`winnow dashboard`: serves web pages about all crawls."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `dashboard` of COMMANDS."""
