"""The base classes of our commands. Wrong use is one sentence and status 2, before anything heavy is imported.

Scrapy imports every module of crawler/commands for each of its commands, and registers every command class that one of
them defines. So the base classes are here, and those modules and this one import nothing slow: the function of a
command is named by `module:function` and imported when it runs, and tables of allowed values are named by `module:NAME`
and imported when a value is checked.
"""

import argparse
import gettext
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pkgutil import resolve_name
from typing import ClassVar, NamedTuple, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.command_line.stop_signals import ignore_repeats
from crawler.command_line.terminal import FAILED, INTERRUPTED, WrongUseError, refuse, say, standard_output
from crawler.doors import Door, MissingPartError, Part, load, resolve
from crawler.translation.message import LOCALE, N_, SOURCE, Message, MessageError, here, localized
from crawler.translation.program import is_winnow

MOST_JOBS = 1_000
OF_LIBRARIES = (
    N_("argument %(argument_name)s: %(message)s"),
    N_("expected one argument"),
    N_("expected at least one argument"),
    N_("the following arguments are required: %s"),
    N_("unrecognized arguments: %s"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("not allowed with argument %s"),
    N_("Invalid -s value, use -s NAME=VALUE"),
    N_("Invalid -a value, use -a NAME=VALUE"),
    N_("usage: "),
    N_("options"),
    N_("positional arguments"),
    N_("Global Options"),
    N_("show this help message and exit"),
    N_("log file. if omitted stderr will be used"),
    N_("log level (default: INFO)"),
    N_("disable logging completely"),
    N_("write python cProfile stats to FILE"),
    N_("write process ID to FILE"),
    N_("set/override setting (may be repeated)"),
    N_("enable pdb on failure (uses ipdb if installed)"),
    N_("set spider argument (may be repeated)"),
    N_("Run a spider of the current project, by name"),
    N_(
        "append scraped items to the end of FILE (use - for stdout), to define format set a colon at the end of the "
        "output URI (i.e. -o FILE:FORMAT)"
    ),
    N_(
        "dump scraped items into FILE, overwriting any existing file, to define format set a colon at the end of the "
        "output URI (i.e. -O FILE:FORMAT)"
    ),
)
"""Messages and help texts of argparse and Scrapy, for the catalogues."""


def translate_argparse() -> None:
    """Have argparse find its messages in our catalogue."""
    if here().language != SOURCE:
        gettext.bindtextdomain("winnow", LOCALE)
        gettext.textdomain("winnow")


def translate_help(parser: argparse.ArgumentParser) -> None:
    """Translate the help of each option, and add its default."""
    for group in parser._action_groups:
        group.title = group.title and localized(Message(group.title))
    for action in parser._actions:
        if action.help and action.help != argparse.SUPPRESS:
            action.help = localized(Message(action.help))
            if action.option_strings and action.default not in (None, "", False, argparse.SUPPRESS, [], {}):
                action.help += localized(Message(" (default: {value})", {"value": str(action.default)}))


class Command(ScrapyCommand):
    """A command. An error for the user ends it with one line.

    The status is 2 for wrong use, and 1 for anything else, such as a lost database.
    """

    requires_crawler_process = False
    summary: str
    """Its description in the list of commands."""
    function: str
    """`module:name` of the function that takes the options and the settings, and returns the exit status."""
    missing: MissingPartError | None = None
    """Why the command lacks the options of a part."""

    def __init__(self) -> None:
        super().__init__()
        name = type(self).__module__.rpartition(".")[2]
        self.called = f"winnow {sys.argv[1]}" if is_winnow() else f"scrapy {name}"
        self.given = argparse.Namespace()

    def short_desc(self) -> str:
        return localized(Message(self.summary)).rstrip(".。")

    def syntax(self) -> str:
        return Subcommand("", self.add_arguments).usage("")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options and arguments of this command."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        translate_argparse()
        super().add_options(parser)
        parser.usage = f"{self.called} {self.syntax()}"
        self.add_arguments(parser)
        translate_help(parser)
        parser.error = self.refuse  # type: ignore[method-assign]
        parser.parse_known_args = partial(_intermixed, parser)  # type: ignore[assignment, method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        ignore_repeats()
        try:
            super().process_options(args, opts)
            self.given = self.read(args, opts)
        except UsageError as error:
            self.refuse(Message(str(error)))
        except (WrongUseError, MissingPartError) as error:
            self.refuse(error.message)

    def read(self, args: list[str], opts: argparse.Namespace) -> argparse.Namespace:
        """The checked options of the command; `args` are those that Scrapy's parser did not recognize."""
        if args and self.missing is not None:
            raise WrongUseError(
                "{given} is not recognized; for more options, {why}",
                given=repr(args[0][:200]),
                why=self.missing.message,
            )
        if args:
            raise WrongUseError(
                "{given} is not recognized; see {command} --help",
                given=repr(args[0][:200]),
                command=self.called,
            )
        self.check(opts)
        return opts

    def check(self, opts: argparse.Namespace) -> None:
        """Raise a WrongUseError if options do not go together."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            with standard_output():
                self.exitcode = int(resolve(Part(self.function))(self.given, self.settings))
        except MessageError as error:
            if isinstance(error, ValueError):
                self.refuse(error.message)
            say(self.called, error.message)
            self.exitcode = FAILED
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def refuse(self, message: str | Message) -> NoReturn:
        """Exit with one line and status 2."""
        refuse(Message(message) if isinstance(message, str) else message, self.called)


def command_of_part(name: str, fallback: type[Command] | None = None) -> type[Command]:
    """The class of a command that a part has; if the part is missing, that of a command with fewer options, or that of
    one that only says so.
    """
    try:
        command: type[Command] = load(Door.COMMANDS, name)
    except MissingPartError as error:
        return type("MissingCommand", (fallback or _MissingCommand,), {"missing": error})
    return command


class _MissingCommand(Command):
    """A command whose part is not installed."""

    summary = N_("Not installed.")
    missing: MissingPartError

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        self.refuse(self.missing.message)


class Subcommand(NamedTuple):
    """One of several actions of a command."""

    function: str
    """`module:name`, as for a command."""
    add_arguments: Callable[[argparse.ArgumentParser], object] = lambda parser: None

    def parser(self, called: str) -> argparse.ArgumentParser:
        wide = partial(argparse.HelpFormatter, width=10_000)
        parser = _SubcommandParser(called, add_help=False, allow_abbrev=False, formatter_class=wide)
        self.add_arguments(parser)
        formatter = parser._get_formatter()
        formatter.add_usage(None, parser._actions, parser._mutually_exclusive_groups, prefix="")
        parser.usage = formatter.format_help().strip()
        return parser

    def usage(self, called: str) -> str:
        return str(self.parser(called).usage)

    def help(self, called: str) -> str:
        """Its usage and the meanings of its options."""
        parser = self.parser(called)
        parser.formatter_class = argparse.HelpFormatter
        translate_help(parser)
        return f"\n{parser.usage}\n\n" + parser.format_help().partition("\n\n")[2]


class CommandGroup(Command):
    """A command with several actions, each chosen by a word."""

    subcommands: ClassVar[Mapping[str, Subcommand]]

    def syntax(self) -> str:
        return "{" + ",".join(self.subcommands) + "} ..."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        of_command = parser.format_help

        def format_help() -> str:
            return of_command() + "".join(one.help(f"{self.called} {name}") for name, one in self.subcommands.items())

        parser.format_help = format_help  # type: ignore[method-assign]

    def read(self, args: list[str], opts: argparse.Namespace) -> argparse.Namespace:
        name = args[0] if args else ""
        if name not in self.subcommands:
            there = {"command": self.called, "name": repr(name), "names": list(self.subcommands)}
            if not args:
                raise WrongUseError("no subcommand given; allowed are {command} {names}", **there)
            raise WrongUseError("there is no {command} {name}; allowed are {command} {names}", **there)
        self.called = f"{self.called} {name}"
        self.function, add_arguments = self.subcommands[name]
        return Subcommand(self.function, add_arguments).parser(self.called).parse_intermixed_args(args[1:])


class _SubcommandParser(argparse.ArgumentParser):
    """Reads the options of a subcommand."""

    def error(self, message: str) -> NoReturn:
        raise WrongUseError("{why}; usage: {usage}", why=message, usage=str(self.usage))


def _intermixed(parser: argparse.ArgumentParser, args: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Read the arguments for Scrapy's parser; options may be between arguments."""
    del parser.parse_known_args  # that method calls this one
    return parser.parse_known_intermixed_args(args)


# Types of options.


def _wrong(sentence: str, /, **values: object) -> ArgumentTypeError:
    return ArgumentTypeError(localized(Message(sentence, values)))


def whole(least: int, most: int) -> Callable[[str], int]:
    """The type of options that are integers.

    >>> whole(1, 64)("8")
    8
    """

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= most):
            allowed = {"least": f"{least:,}", "most": f"{most:,}"}
            sentence = N_("{value} is wrong; allowed are whole numbers from {least} to {most}")
            raise _wrong(sentence, value=repr(text[:100]), **allowed)
        return int(text)

    return read


def share(text: str) -> float:
    """The type of options that are numbers from 0 to 1."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise _wrong("{value} is wrong; allowed are numbers from 0 to 1", value=repr(text[:100]))
    return found


def parsed(function: str) -> Callable[[str], object]:
    """The type of options that a function parses, given as `module:name`; the function raises a WrongUseError.

    >>> parsed("crawler.reports.stored_pages:since_of")("3")
    3
    """

    def read(text: str) -> object:
        try:
            return resolve_name(function)(text)
        except (WrongUseError, MissingPartError) as error:
            raise ArgumentTypeError(localized(error.message)) from None

    return read


def names(table: str, *others: str) -> Callable[[str], list[str]]:
    """The type of options that are names in a table, or others, separated by commas; duplicates are removed.

    >>> names("crawler.frontier.scope:SCOPES", "all")("site, all,site")
    ['site', 'all']
    """

    def read(text: str) -> list[str]:
        found, allowed = [*dict.fromkeys(map(str.strip, text.split(",")))], [*resolve_name(table), *others]
        if wrong := [name for name in found if name not in allowed]:
            raise _wrong(N_("there is no {value}; there are {names}"), value=repr(wrong[0][:100]), names=allowed)
        return found

    return read
