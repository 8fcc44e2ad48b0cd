"""What commands print, and with which status they end."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper

from crawler.translation.catalogue import localized
from crawler.translation.message import Message, MessageError, printable

FAILED, INTERRUPTED, TERMINATED = 1, 130, 143  # the last two are what shells make of Ctrl-C and SIGTERM
REFRESH_SECONDS = 0.25
"""Between two drawings of a bar."""


class WrongUseError(MessageError, ValueError):
    """What was asked for is impossible; the message is one sentence for the user."""


def one_line(text: str) -> str:
    """The text in one line, with control characters spelled out."""
    return printable(" ".join(text.split()))


def spelled(text: str) -> str:
    """The text in one line, with whatever is no letter, sign or space spelled out: no page moves the cursor.

    >>> spelled("\\x1b[2Jbees\\n\\u202e")
    '\\\\x1b[2Jbees\\\\n\\\\u202e'
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def say(called: str, message: str | Message) -> None:
    """Print a line of a command for people."""
    print(printable(f"{called}: {localized(message)}").replace("\n", " "), file=sys.stderr)


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


def _spell_out_record(record: logging.LogRecord) -> bool:
    """Pass every record, with its control characters spelled out, and those of its traceback."""
    record.msg, record.args = printable(record.getMessage()), ()
    if record.exc_info:
        record.exc_text = printable(logging.Formatter().formatException(record.exc_info))
    return True


def spell_out_log() -> None:
    """From now on, no line of the log writes to the terminal but what can be read."""
    from scrapy.utils.log import get_scrapy_root_handler

    if handler := get_scrapy_root_handler():
        handler.addFilter(_spell_out_record)
