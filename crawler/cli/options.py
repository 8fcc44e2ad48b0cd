"""What our commands have in common: wrong use is one sentence and status 2, and options are checked by argparse.

A command that does several things, each by a word of its own.
"""

import argparse
import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import ClassVar, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler.cli import Subcommand, WrongUseError
from crawler.store.database import StateError, database_url
from crawler.translation.catalogue import localized
from crawler.translation.message import Message, printable


class OneSentence(ScrapyCommand):
    """A command that says in one sentence what is wrong with its options."""

    requires_crawler_process = False
    called: ClassVar[str]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.error = self.refuse  # type: ignore[assignment, method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            super().process_options(args, opts)
        except UsageError as error:
            self.refuse(str(error))
        if unknown := [arg for arg in args if arg.startswith("-") and arg != "-"]:
            self.refuse(
                "there is no option {option}; {command} --help lists them",
                option=repr(unknown[0][:100]),
                command=self.called,
            )

    def refuse(self, sentence: str | Message, /, **values: object) -> NoReturn:
        """End with one line and status 2."""
        refuse(self.called, sentence, **values)


def refuse(called: str, sentence: str | Message, /, **values: object) -> NoReturn:
    """End with one line and status 2."""
    message = sentence if isinstance(sentence, Message) else Message(sentence, values)
    print(printable(" ".join(f"{called}: {localized(message)}".split())), file=sys.stderr)
    sys.exit(2)


@contextmanager
def standard_output() -> Iterator[None]:
    """A block that may print letters that standard output lacks, and whose reader may stop early, as `head` does."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def state_url(settings: BaseSettings) -> URL:
    """The address of the database; a WrongUseError where the setting is wrong."""
    try:
        return database_url(settings["STATE_URL"], Path(settings["OUTPUT_DIR"]))
    except StateError as error:
        raise WrongUseError(error.message) from None


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


def names(allowed: Collection[str]) -> Callable[[str], list[str]]:
    """The type of options that are names with commas between them, each of which comes back once.

    >>> names(["bees", "wasps"])("wasps, bees,wasps")
    ['wasps', 'bees']
    """

    def read(text: str) -> list[str]:
        found = [*dict.fromkeys(map(str.strip, text.split(",")))]
        if wrong := [name for name in found if name not in allowed]:
            raise ArgumentTypeError(f"there is no {wrong[0][:100]!r}; there are {', '.join(allowed)}")
        return found

    return read


INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it


class Several(ScrapyCommand):
    """Hands its arguments to the subcommand that is named first."""

    requires_crawler_process = False
    called: ClassVar[str]
    subcommands: ClassVar[Mapping[str, Subcommand]]

    def syntax(self) -> str:
        return " | ".join(f"{name} {one.syntax}" for name, one in self.subcommands.items())

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        self.name = ""
        try:
            super().process_options(args, opts)
        except UsageError as error:
            self.refuse(str(error))
        if not args or args[0] not in self.subcommands:
            wanted = {"command": self.called, "name": repr(args[0]) if args else "", "names": list(self.subcommands)}
            if not args:
                self.refuse("what is to be done is not said; there is {command} {names}", **wanted)
            self.refuse("there is no {command} {name}; there is {command} {names}", **wanted)
        self.name, self.subcommand = args[0], self.subcommands[args[0]]
        usage = f"{self.called} {self.name} {self.subcommand.syntax}".rstrip()
        parser = _Parser(add_help=False, allow_abbrev=False)
        self.subcommand.add_options(parser)
        try:
            self.given, self.rest = parser.parse_known_args(args[1:])
        except WrongUseError as error:
            self.refuse("{why}; it is {usage}", why=error.message, usage=usage)
        if unknown := [arg for arg in self.rest if arg.startswith("-") and arg != "-"]:
            self.refuse("there is no option {option}; it is {usage}", option=repr(unknown[0]), usage=usage)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        try:
            with standard_output():
                self.exitcode = self.subcommand.run(self.rest, self.given, self.settings)
        except WrongUseError as error:
            self.refuse(error.message)
        except StateError as error:
            print(printable(f"{self.called}: {localized(error.message)}"), file=sys.stderr)
            self.exitcode = 1
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def refuse(self, sentence: str | Message, /, **values: object) -> NoReturn:
        """End with one line and status 2."""
        refuse(f"{self.called} {self.name}".rstrip(), sentence, **values)


class _Parser(argparse.ArgumentParser):
    """Reads the options of one subcommand."""

    def error(self, message: str) -> NoReturn:
        raise WrongUseError(message)
