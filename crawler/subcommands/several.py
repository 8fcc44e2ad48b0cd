"""A command that does several things, each by a word of its own."""

import argparse
import sys
from collections.abc import Mapping
from typing import ClassVar, NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.state.database import StateError
from crawler.subcommands import Subcommand, WrongUseError
from crawler.subcommands.options import refuse, standard_output
from crawler.wording import printable

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
            wanted = f"there is no {self.called} {args[0]!r}" if args else "what is to be done is not said"
            self.refuse(f"{wanted}; there is {self.called} {', '.join(self.subcommands)}")
        self.name, self.subcommand = args[0], self.subcommands[args[0]]
        usage = f"it is {self.called} {self.name} {self.subcommand.syntax}".rstrip()
        parser = _Parser(add_help=False, allow_abbrev=False)
        self.subcommand.add_options(parser)
        try:
            self.given, self.rest = parser.parse_known_args(args[1:])
        except WrongUseError as error:
            self.refuse(f"{error}; {usage}")
        if unknown := [arg for arg in self.rest if arg.startswith("-") and arg != "-"]:
            self.refuse(f"there is no option {unknown[0]!r}; {usage}")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        try:
            with standard_output():
                self.exitcode = self.subcommand.run(self.rest, self.given, self.settings)
        except WrongUseError as error:
            self.refuse(str(error))
        except StateError as error:
            print(printable(f"{self.called}: {error}"), file=sys.stderr)
            self.exitcode = 1
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def refuse(self, message: str) -> NoReturn:
        """End with one line and status 2."""
        refuse(f"{self.called} {self.name}".rstrip(), message)


class _Parser(argparse.ArgumentParser):
    """Reads the options of one subcommand."""

    def error(self, message: str) -> NoReturn:
        raise WrongUseError(message)
