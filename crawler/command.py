"""The base of our commands. Wrong use is one sentence and status 2, before anything heavy is imported.

Scrapy imports every module of crawler/commands for each of its commands. So those modules and this one import nothing
of the crawler that takes time: what a command does is imported when it runs, and tables of allowed values are named by
`module:NAME` and imported when a value is checked.
"""

import argparse
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from functools import partial
from pkgutil import resolve_name
from typing import ClassVar, NamedTuple, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawler.terminal import FAILED, INTERRUPTED, WrongUseError, one_line, say, standard_output
from crawler.translation.catalogue import localized
from crawler.translation.message import Message, MessageError

MOST_JOBS = 1_000


class Command(ScrapyCommand):
    """A command whose `execute` returns the exit status.

    An error for the user ends it with one line: status 2 for a wrong value, 1 for anything else, as a lost database.
    """

    requires_crawler_process = False
    called: str
    """What it is called on the command line."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.error = self.refuse  # type: ignore[method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            super().process_options(args, opts)
            if unknown := [arg for arg in args if arg.startswith("-") and arg != "-"]:
                raise WrongUseError(
                    "there is no option {option}; {command} --help lists them",
                    option=repr(unknown[0][:100]),
                    command=self.called,
                )
            self.check(args, opts)
        except UsageError as error:
            self.refuse(str(error))
        except WrongUseError as error:
            self.refuse(error.message)

    def check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Raise a WrongUseError where arguments and options do not go together."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        try:
            with standard_output():
                self.exitcode = self.execute(args, opts, self.settings)
        except MessageError as error:
            if isinstance(error, ValueError):
                self.refuse(error.message)
            say(self.called, error.message)
            self.exitcode = FAILED
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def execute(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> int:
        """Do what the command is for; the exit status."""
        raise NotImplementedError

    def refuse(self, message: str | Message) -> NoReturn:
        """End with one line and status 2."""
        print(one_line(f"{self.called}: {localized(message)}"), file=sys.stderr)
        sys.exit(2)


class Subcommand(NamedTuple):
    """One of several things that a command does."""

    function: str
    """`module:name` of what takes its options and the settings, and returns the exit status."""
    add_options: Callable[[argparse.ArgumentParser], object] = lambda parser: None

    def parser(self, called: str) -> argparse.ArgumentParser:
        """The parser of its options."""
        wide = partial(argparse.HelpFormatter, width=10_000)
        parser = _Parser(called, add_help=False, allow_abbrev=False, formatter_class=wide)
        self.add_options(parser)
        return parser


class CommandGroup(Command):
    """A command that does several things, each by a word of its own."""

    subcommands: ClassVar[Mapping[str, Subcommand]]

    def syntax(self) -> str:
        usages = (one.parser(name).format_usage() for name, one in self.subcommands.items())
        return " | ".join(usage.removeprefix("usage: ").strip() for usage in usages)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        name = args[0] if args else ""
        try:
            ScrapyCommand.process_options(self, args, opts)
            if name not in self.subcommands:
                there = {"command": self.called, "name": repr(name), "names": list(self.subcommands)}
                if not args:
                    raise WrongUseError("what is to be done is not said; there is {command} {names}", **there)
                raise WrongUseError("there is no {command} {name}; there is {command} {names}", **there)
            self.called = f"{self.called} {name}"
            self.given = self.subcommands[name].parser(self.called).parse_intermixed_args(args[1:])
        except UsageError as error:
            self.refuse(str(error))
        except WrongUseError as error:
            self.refuse(error.message)
        self.function = self.subcommands[name].function

    def execute(self, args: list[str], opts: argparse.Namespace, settings: Settings) -> int:
        return int(resolve_name(self.function)(self.given, settings))


class _Parser(argparse.ArgumentParser):
    """Reads the options of a subcommand."""

    def error(self, message: str) -> NoReturn:
        usage = self.format_usage().removeprefix("usage: ").strip()
        raise WrongUseError("{why}; it is {usage}", why=message, usage=usage)


# Types of options.


def whole(least: int, most: int) -> Callable[[str], int]:
    """The type of options that are whole numbers.

    >>> whole(1, 64)("8")
    8
    """

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= most):
            raise ArgumentTypeError(f"{text[:100]!r} is wrong; allowed are whole numbers from {least:,} to {most:,}")
        return int(text)

    return read


def share(text: str) -> float:
    """The type of options that are numbers from 0 to 1."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise ArgumentTypeError(f"{text[:100]!r} is wrong; allowed are numbers from 0 to 1")
    return found


def parsed(function: str) -> Callable[[str], object]:
    """The type of options that a function reads, given as `module:name`, which raises a ValueError.

    >>> parsed("crawler.reports.stored_pages:since_of")("3")
    3
    """

    def read(text: str) -> object:
        try:
            return resolve_name(function)(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    return read


def one_of(table: str) -> Callable[[str], str]:
    """The type of options that are a name of a table, given as `module:NAME`.

    >>> one_of("crawler.frontier.scope:SCOPES")("site")
    'site'
    """

    def read(text: str) -> str:
        if text not in (allowed := resolve_name(table)):
            raise ArgumentTypeError(f"there is no {text[:100]!r}; there are {', '.join(allowed)}")
        return text

    return read


def names(table: str, *others: str) -> Callable[[str], list[str]]:
    """The type of options that are names of a table, or others, with commas between them; each comes back once.

    >>> names("crawler.frontier.scope:SCOPES", "all")("site, all,site")
    ['site', 'all']
    """

    def read(text: str) -> list[str]:
        found, allowed = [*dict.fromkeys(map(str.strip, text.split(",")))], [*resolve_name(table), *others]
        if wrong := [name for name in found if name not in allowed]:
            raise ArgumentTypeError(f"there is no {wrong[0][:100]!r}; there are {', '.join(allowed)}")
        return found

    return read
