"""`winnow mcp`: serves tools for agents."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `mcp` of COMMANDS."""
