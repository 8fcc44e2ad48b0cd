"""The commands of `winnow` as commands of Scrapy. Wrong use ends a command with one sentence and status 2, before
anything heavy is imported.

For any command, Scrapy imports every module of crawler/commands, and registers each command class that it finds there.
So these modules are a few lines each; the options of a command are imported when the command is called.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import cached_property, partial
from typing import NoReturn

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError

from crawler.command_line.command_table import COMMANDS
from crawler.command_line.help_texts import translate_argparse, translate_help
from crawler.command_line.options import CommandOptions, MissingOptions
from crawler.command_line.stop_signals import ignore_repeats
from crawler.command_line.terminal import FAILED, INTERRUPTED, refuse, say, standard_output
from crawler.doors import Part, resolve
from crawler.errors import MessageError, MissingPartError, WrongUseError
from crawler.translation.message import Message, localized


class HelpFormatter(ScrapyHelpFormatter):
    """Underlines headings as Scrapy does. Scrapy takes each part that ends with a colon for a heading, also an option
    whose help does so.
    """

    def format_part_strings(self, part_strings: list[str]) -> list[str]:
        if part_strings and part_strings[0].startswith(" "):  # an option, which is indented
            return part_strings
        return super().format_part_strings(part_strings)


class Command(ScrapyCommand):
    """A command, with the options and the summary that COMMANDS has under its name.

    An error for the user ends the command with one line. The exit status is then 2 for wrong use, and 1 for anything
    else, such as a lost database.
    """

    requires_crawler_process = False

    def __init__(self) -> None:
        super().__init__()
        self.opts = argparse.Namespace()

    @property
    def name(self) -> str:
        """The name by which Scrapy finds the command, which is the name of its module."""
        return type(self).__module__.rpartition(".")[2]

    @cached_property
    def options(self) -> CommandOptions:
        """The options of the command; if their part is not installed, fewer options, or none (MissingOptions)."""
        entry = COMMANDS[self.name]
        options: CommandOptions
        try:
            options = resolve(entry.options)(self.name)
        except MissingPartError as error:
            if entry.fewer_options is None:
                return MissingOptions(self.name, error)
            options = resolve(entry.fewer_options)(self.name, error)
        return options

    def short_desc(self) -> str:
        return localized(Message(COMMANDS[self.name].summary)).rstrip(".。")

    def syntax(self) -> str:
        return self.options.syntax()

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        translate_argparse()
        super().add_options(parser)
        parser.formatter_class = HelpFormatter
        parser.usage = f"winnow {self.name} {self.syntax()}"
        self.options.add_arguments(parser)
        translate_help(parser)
        options_help = parser.format_help
        parser.format_help = lambda: options_help() + self.options.more_help()  # type: ignore[method-assign]
        parser.error = self.refuse  # type: ignore[method-assign]
        parser.allow_abbrev = False
        parser.parse_known_args = partial(_intermixed, parser)  # type: ignore[assignment, method-assign]
        self.parser = parser

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        ignore_repeats()  # the second of two signals, such as Ctrl-C, within a second
        try:
            super().process_options(args, opts)
            self.opts = self.options.read(self.parser, args, opts)
        except UsageError as error:
            self.refuse(Message(str(error)))
        except WrongUseError as error:
            self.refuse(error.message)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            with standard_output():
                self.exitcode = int(resolve(Part(self.options.function))(self.opts, self.settings))
        except WrongUseError as error:
            self.refuse(error.message)
        except MessageError as error:
            say(self.options.name, error.message)
            self.exitcode = FAILED
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def refuse(self, message: str | Message) -> NoReturn:
        """Exit with one line and status 2."""
        if isinstance(message, str):
            message = Message(message)
        refuse(message, self.options.name)


def _intermixed(parser: argparse.ArgumentParser, args: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Parse a command line in which options may stand between arguments. It replaces a parser's `parse_known_args`, the
    method that Scrapy calls.
    """
    del parser.parse_known_args  # undo the replacement, because the method below calls the original
    return parser.parse_known_intermixed_args(args)
