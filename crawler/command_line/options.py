"""The options of commands, without Scrapy: their base classes, subcommands, and the types of their values.

The function of a command is named by `module:function` and imported when the command runs. Tables of allowed values are
named by `module:NAME` and imported when a value is checked. So wrong use is refused quickly.
"""

import argparse
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from typing import ClassVar, NoReturn

from crawler.command_line.help_texts import translate_help
from crawler.errors import MissingPartError, WrongUseError
from crawler.translation.message import N_, Message, localized
from crawler.translation.nearest import nearest_name

MOST_JOBS = 1_000


class CommandOptions:
    """The options of a command, and the function that it runs."""

    function: str
    """`module:name` of the function that takes the options and the settings, and returns the exit status."""

    def __init__(self, name: str, missing: MissingPartError | None = None) -> None:
        self.name = name
        """The name of the command. `read` adds the name of a subcommand, as in `noise train`."""
        self.missing = missing
        """Says which part is not installed, if options of this command are missing because of it."""

    def syntax(self) -> str:
        """The usage without the name of the command."""
        return Subcommand("", self.add_arguments).usage("")  # as argparse derives it from the options

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the options and arguments of this command."""

    def more_help(self) -> str:
        """The text below the options in the help of the command."""
        return ""

    def read(self, parser: argparse.ArgumentParser, args: list[str], opts: argparse.Namespace) -> argparse.Namespace:
        """Check the options `opts` and return them; `args` are the words that the parser did not recognize."""
        if args and self.missing is not None:
            raise WrongUseError(
                "{given} is not recognized; for more options, {why}",
                given=repr(args[0][:200]),
                why=self.missing.message,
            )
        refuse_unknown(parser, args, self.name)
        self.check(opts)
        return opts

    def check(self, opts: argparse.Namespace) -> None:
        """Raise a WrongUseError if options do not go together."""


class MissingOptions(CommandOptions):
    """The options of a command that cannot run because its part is not installed: there are none."""

    def more_help(self) -> str:
        return f"\n{localized(self._reason())}\n"

    def read(self, parser: argparse.ArgumentParser, args: list[str], opts: argparse.Namespace) -> argparse.Namespace:
        raise WrongUseError(self._reason())

    def _reason(self) -> Message:
        assert self.missing is not None  # noqa: S101 - otherwise this class is not used
        return self.missing.message


@dataclass(frozen=True)
class Subcommand:
    """One of several actions of a command. `called` is the full name of the action, such as `winnow noise train`."""

    function: str
    """`module:name`, as for a command."""
    add_arguments: Callable[[argparse.ArgumentParser], object] = lambda parser: None

    def parser(self, called: str) -> argparse.ArgumentParser:
        """The parser of the options. Its usage has one line, because errors quote the usage."""
        one_line_usage = partial(argparse.HelpFormatter, width=10_000)
        parser = _SubcommandParser(called, add_help=False, allow_abbrev=False, formatter_class=one_line_usage)
        self.add_arguments(parser)
        formatter = parser._get_formatter()
        formatter.add_usage(None, parser._actions, parser._mutually_exclusive_groups, prefix="")
        parser.usage = formatter.format_help().strip()
        return parser

    def usage(self, called: str) -> str:
        return str(self.parser(called).usage)

    def help(self, called: str) -> str:
        """The usage, and the meanings of the options."""
        parser = self.parser(called)
        parser.formatter_class = argparse.HelpFormatter
        translate_help(parser)
        _, _, options_help = parser.format_help().partition("\n\n")  # the first paragraph is the usage, in short lines
        return f"\n{parser.usage}\n\n{options_help}"


class GroupOptions(CommandOptions):
    """The options of a command with subcommands, each of which has its own options and function."""

    subcommands: ClassVar[Mapping[str, Subcommand]]

    def syntax(self) -> str:
        return "{" + ",".join(self.subcommands) + "} ..."

    def more_help(self) -> str:
        return "".join(subcommand.help(f"winnow {self.name} {name}") for name, subcommand in self.subcommands.items())

    def read(self, parser: argparse.ArgumentParser, args: list[str], opts: argparse.Namespace) -> argparse.Namespace:
        allowed = {"command": f"winnow {self.name}", "names": list(self.subcommands)}
        if not args:
            raise WrongUseError("no subcommand given; allowed are {command} {names}", **allowed)
        name = args[0]
        if name not in self.subcommands:
            raise WrongUseError(
                "there is no {command} {name}; allowed are {command} {names}", name=repr(name), **allowed
            )
        subcommand = self.subcommands[name]
        self.name = f"{self.name} {name}"
        self.function = subcommand.function
        return subcommand.parser(f"winnow {self.name}").parse_intermixed_args(args[1:])


class _SubcommandParser(argparse.ArgumentParser):
    """Reads the options of a subcommand."""

    def error(self, message: str) -> NoReturn:
        raise WrongUseError("{why}; usage: {usage}", why=message, usage=str(self.usage))


def refuse_unknown(parser: argparse.ArgumentParser, args: list[str], name: str) -> None:
    """Raise a WrongUseError about the first word that the command `name` did not recognize; `args` are these words."""
    if not args:
        return
    word = args[0][:200]
    if word.startswith("-"):
        options = {option.lstrip("-"): option for action in parser._actions for option in action.option_strings}
        near = nearest_name(word.partition("=")[0].lstrip("-"), options)
        if near is not None:
            raise WrongUseError(
                "there is no argument {name}; the nearest is {near}", name=repr(word), near=options[near]
            )
    raise WrongUseError("{given} is not recognized; see {command} --help", given=repr(word), command=f"winnow {name}")


# Types of options.


def _wrong(sentence: str, /, **values: object) -> ArgumentTypeError:
    return ArgumentTypeError(localized(Message(sentence, values)))


def whole(least: int, most: int) -> Callable[[str], int]:
    """The type of options that are integers.

    >>> whole(1, 64)("8")
    8
    """

    def read(text: str) -> int:
        # Python refuses to read very long numbers, and 20 digits are above any limit.
        if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= most):
            allowed = {"least": f"{least:,}", "most": f"{most:,}"}
            sentence = N_("{value} is wrong; allowed are whole numbers from {least} to {most}")
            raise _wrong(sentence, value=repr(text[:100]), **allowed)
        return int(text)

    return read


def share(text: str) -> float:
    """The type of options that are numbers from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise _wrong("{value} is wrong; allowed are numbers from 0 to 1", value=repr(text[:100]))
    return number


def parsed(function: str) -> Callable[[str], object]:
    """The type of options that a function parses, given as `module:name`; the function raises a WrongUseError.

    >>> parsed("crawler.reports.stored_pages:since_of")("3")
    3
    """

    def read(text: str) -> object:
        try:
            return resolve_name(function)(text)
        except WrongUseError as error:
            raise ArgumentTypeError(localized(error.message)) from None

    return read


def names(table: str, *others: str) -> Callable[[str], list[str]]:
    """The type of options that are names separated by commas; duplicates are removed.

    Allowed are the names in a table, given as `module:NAME`, and the `others`.

    >>> names("crawler.frontier.scope:SCOPES", "all")("site, all,site")
    ['site', 'all']
    """

    def read(text: str) -> list[str]:
        allowed = [*resolve_name(table), *others]
        chosen = list(dict.fromkeys(map(str.strip, text.split(","))))
        for name in chosen:
            if name not in allowed:
                raise _wrong(N_("there is no {value}; there are {names}"), value=repr(name[:100]), names=allowed)
        return chosen

    return read
