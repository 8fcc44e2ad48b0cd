"""What our commands have in common: wrong use is one sentence and status 2, and options are checked by argparse."""

import argparse
import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import ClassVar, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler.state.database import StateError, database_url
from crawler.subcommands import WrongUseError
from crawler.wording import printable


class OneSentence(ScrapyCommand):
    """A command that says in one sentence what is wrong with its options."""

    requires_crawler_process = False
    called: ClassVar[str]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.error = self.refuse  # type: ignore[method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            super().process_options(args, opts)
        except UsageError as error:
            self.refuse(str(error))
        if unknown := [arg for arg in args if arg.startswith("-") and arg != "-"]:
            self.refuse(f"there is no option {unknown[0][:100]!r}; {self.called} --help lists them")

    def refuse(self, message: str) -> NoReturn:
        """End with one line and status 2."""
        refuse(self.called, message)


def refuse(called: str, message: str) -> NoReturn:
    """End with one line and status 2."""
    print(printable(" ".join(f"{called}: {message}".split())), file=sys.stderr)
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
        raise WrongUseError(str(error)) from None


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
