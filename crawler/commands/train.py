"""`winnow train`: trains weights on pages whose main text, or whose author and date, is known."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `train` of COMMANDS."""
