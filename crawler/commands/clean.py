"""`winnow clean`: cleans saved pages, without a crawl; or the stored pages of a crawl, again."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `clean` of COMMANDS."""
