"""`winnow completion`: prints a script that completes commands and options in bash and zsh."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `completion` of COMMANDS."""
