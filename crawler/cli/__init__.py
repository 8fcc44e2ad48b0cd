"""What commands that do several things can do, a module for each thing."""

import argparse
from collections.abc import Callable
from typing import NamedTuple

from scrapy.settings import BaseSettings

from crawler.translation.message import MessageError


class WrongUseError(MessageError):
    """What was asked for cannot be; the message is one sentence for the user."""


def no_options(parser: argparse.ArgumentParser) -> None:
    """The options of a subcommand that has none."""


class Subcommand(NamedTuple):
    """A thing to do, by its first word."""

    syntax: str
    run: Callable[[list[str], argparse.Namespace, BaseSettings], int]
    """What it was given becomes its exit status."""
    add_options: Callable[[argparse.ArgumentParser], None] = no_options
