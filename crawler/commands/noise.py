"""`scrapy noise`: what the judge of pictures said, and what there is to do with it."""

import argparse
import os
import sys
from io import TextIOWrapper
from typing import NoReturn

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.state.database import StateError
from crawler.subcommands import Subcommand, WrongUseError
from crawler.subcommands.noise_report import report
from crawler.wording import printable

SUBCOMMANDS = {
    "report": Subcommand("[NAME]", report),
}
INTERRUPTED = 130  # the exit status after Ctrl-C, as shells have it


class Command(ScrapyCommand):
    """Hands its arguments to the subcommand that is named first."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return " | ".join(f"{name} {one.syntax}" for name, one in SUBCOMMANDS.items())

    def short_desc(self) -> str:
        return "Show which pictures were skipped as noise, and what that saved"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        for one in SUBCOMMANDS.values():
            one.add_options(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            super().process_options(args, opts)
        except UsageError as error:
            _refuse(str(error))
        if unknown := [arg for arg in args if arg.startswith("-") and arg != "-"]:
            _refuse(f"there is no option {unknown[0]!r}; scrapy noise --help lists them")
        if not args or args[0] not in SUBCOMMANDS:
            wanted = f"there is no scrapy noise {args[0]!r}" if args else "what is to be done is not said"
            _refuse(f"{wanted}; there is scrapy noise {', '.join(SUBCOMMANDS)}")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # where letters cannot be written
        try:
            self.exitcode = SUBCOMMANDS[args[0]].run(args[1:], opts, self.settings)
            sys.stdout.flush()
        except WrongUseError as error:
            _refuse(str(error))
        except StateError as error:
            print(printable(f"scrapy noise: {error}"), file=sys.stderr)
            self.exitcode = 1
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except BrokenPipeError:  # who reads has read enough, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(message: str) -> NoReturn:
    print(printable(f"scrapy noise: {' '.join(message.split())}"), file=sys.stderr)
    sys.exit(2)
