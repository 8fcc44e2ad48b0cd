"""A command that hands its arguments to the subcommand that is named first."""

import argparse
import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from typing import ClassVar, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.state.database import StateError
from crawler.subcommands import Subcommand, WrongUseError
from crawler.wording import printable

INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it


class Family(ScrapyCommand):
    """Of a family its name, what it can do by the first word, and what that is good for are to be given."""

    family: ClassVar[str]
    subcommands: ClassVar[Mapping[str, Subcommand]]
    purpose: ClassVar[str]

    requires_crawler_process = False

    def syntax(self) -> str:
        return " | ".join(f"{name} {one.syntax}" for name, one in self.subcommands.items())

    def short_desc(self) -> str:
        return self.purpose

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            super().process_options(args, opts)
        except UsageError as error:
            self._refuse("", str(error))
        if not args or args[0] not in self.subcommands:
            said = f"scrapy {self.family}"
            wanted = f"there is no {said} {args[0]!r}" if args else "what is to be done is not said"
            self._refuse("", f"{wanted}; there is {said} {', '.join(self.subcommands)}")
        self.name, self.subcommand = args[0], self.subcommands[args[0]]
        syntax = f"it is scrapy {self.family} {self.name} {self.subcommand.syntax}"
        parser = _Parser(add_help=False, allow_abbrev=False)
        self.subcommand.add_options(parser)
        try:
            self.given, self.rest = parser.parse_known_args(args[1:])
        except WrongUseError as error:
            self._refuse(self.name, f"{error}; {syntax}")
        if unknown := [arg for arg in self.rest if arg.startswith("-") and arg != "-"]:
            self._refuse(self.name, f"there is no option {unknown[0]!r}; {syntax}")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # where letters cannot be written
        try:
            self.exitcode = self.subcommand.run(self.rest, self.given, self.settings)
            sys.stdout.flush()
        except WrongUseError as error:
            self._refuse(self.name, str(error))
        except StateError as error:
            print(printable(f"scrapy {self.family}: {error}"), file=sys.stderr)
            self.exitcode = 1
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except BrokenPipeError:  # who reads has read enough, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _refuse(self, name: str, message: str) -> NoReturn:
        said = " ".join(f"scrapy {self.family} {name}".split())
        print(printable(f"{said}: {' '.join(message.split())}"), file=sys.stderr)
        sys.exit(2)


class _Parser(argparse.ArgumentParser):
    """Reads the options of one subcommand."""

    def error(self, message: str) -> NoReturn:
        raise WrongUseError(message)
