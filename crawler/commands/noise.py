"""`winnow noise`: judges the images of saved pages; reports, evaluates and trains the judgement."""

from crawler.command_line import command


class Command(command.Command):
    """The command in the row `noise` of COMMANDS."""
