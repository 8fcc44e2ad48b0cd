"""`winnow state`: shows what the database holds of the crawls, and deletes from it."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `state` of COMMANDS."""
