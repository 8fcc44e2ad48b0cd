"""`scrapy noise`: what the judge of pictures says, and what there is to do with it."""

import argparse
import os
import sys
from io import TextIOWrapper
from typing import NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.state.database import StateError
from crawler.subcommands import Subcommand, WrongUseError
from crawler.subcommands.noise_evaluate import EVALUATE
from crawler.subcommands.noise_judge import JUDGE
from crawler.subcommands.noise_report import REPORT
from crawler.subcommands.noise_train import TRAIN
from crawler.wording import printable

SUBCOMMANDS: dict[str, Subcommand] = {
    "judge": JUDGE,
    "evaluate": EVALUATE,
    "report": REPORT,
    "train": TRAIN,
}
INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it


class Command(ScrapyCommand):
    """Hands its arguments to the subcommand that is named first."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return " | ".join(f"{name} {one.syntax}" for name, one in SUBCOMMANDS.items())

    def short_desc(self) -> str:
        return "Tell pictures that are noise from content, and say what was skipped and how well that is done"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            super().process_options(args, opts)
        except UsageError as error:
            _refuse("", str(error))
        if not args or args[0] not in SUBCOMMANDS:
            wanted = f"there is no scrapy noise {args[0]!r}" if args else "what is to be done is not said"
            _refuse("", f"{wanted}; there is scrapy noise {', '.join(SUBCOMMANDS)}")
        self.name, self.subcommand = args[0], SUBCOMMANDS[args[0]]
        parser = _Parser(add_help=False, allow_abbrev=False)
        self.subcommand.add_options(parser)
        try:
            self.given, self.rest = parser.parse_known_args(args[1:])
        except WrongUseError as error:
            _refuse(self.name, f"{error}; it is scrapy noise {self.name} {self.subcommand.syntax}")
        if unknown := [arg for arg in self.rest if arg.startswith("-") and arg != "-"]:
            _refuse(
                self.name, f"there is no option {unknown[0]!r}; it is scrapy noise {self.name} {self.subcommand.syntax}"
            )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # where letters cannot be written
        try:
            self.exitcode = self.subcommand.run(self.rest, self.given, self.settings)
            sys.stdout.flush()
        except WrongUseError as error:
            _refuse(self.name, str(error))
        except StateError as error:
            print(printable(f"scrapy noise: {error}"), file=sys.stderr)
            self.exitcode = 1
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except BrokenPipeError:  # who reads has read enough, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Reads the options of one subcommand."""

    def error(self, message: str) -> NoReturn:
        raise WrongUseError(message)


def _refuse(name: str, message: str) -> NoReturn:
    said = " ".join(f"scrapy noise {name}".split())
    print(printable(f"{said}: {' '.join(message.split())}"), file=sys.stderr)
    sys.exit(2)
