"""`winnow export`: exports the stored pages of a crawl."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `export` of COMMANDS."""
