"""The output of commands, and their exit statuses."""

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import NoReturn

from crawler.translation.message import CONTROL, Message, localized, plural

FAILED, INTERRUPTED, TERMINATED = 1, 130, 143  # the last two are what shells report for Ctrl-C and SIGTERM
REFRESH_SECONDS = 0.25  # seconds between two updates of a progress bar
# Marks that change the direction of text affect the whole line in a terminal; HTML isolates them in <bdi>.
ON_A_TERMINAL = re.compile(CONTROL.pattern[:-1] + r"\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text with escaped control characters: a site must not control the operator's terminal.

    >>> printable("\\x1b[2Jgone\\n\\x9b2J\\u202egone")
    '\\\\x1b[2Jgone\\n\\\\x9b2J\\\\u202egone'
    """
    return ON_A_TERMINAL.sub(_spelled_out, text)


def readable_json(line: bytes) -> bytes:
    """A line of JSON for a terminal: the same value, with escaped control characters.

    >>> print(readable_json('{"text": "bees\N{RIGHT-TO-LEFT OVERRIDE}"}'.encode()).decode())
    {"text": "bees\\u202e"}
    """
    return ON_A_TERMINAL.sub(lambda match: f"\\u{ord(match[0]):04x}", line.decode("utf-8", "replace")).encode()


def _spelled_out(character: re.Match[str]) -> str:
    code = ord(character[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}"


def one_line(text: str) -> str:
    """The text in one line, with escaped control characters."""
    return printable(" ".join(text.split()))


def spelled(text: str) -> str:
    """The text in one line, with everything escaped that is not a letter, sign or space, so that no page moves the
    cursor.

    >>> spelled("\\x1b[2Jbees\\n\\u202e")
    '\\\\x1b[2Jbees\\\\n\\\\u202e'
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def refuse(message: Message, called: str = "", status: int = 2) -> NoReturn:
    """End with one line and this status, that of wrong use if no other is given."""
    print(one_line(f"{called}: {localized(message)}" if called else localized(message)), file=sys.stderr)
    sys.exit(status)


def say(called: str, message: str | Message) -> None:
    """Print a line of a command for people."""
    print(printable(f"{called}: {localized(message)}").replace("\n", " "), file=sys.stderr)


def byte_size(count: int) -> object:
    """Bytes in a decimal unit, as a value of a message.

    >>> [str(byte_size(count)) for count in (0, 1, 306_400)]
    ['0 bytes', '1 byte', '306.4 kB']
    """
    from rich.filesize import decimal  # which a refusal does not wait for

    if abs(count) < 1_000:
        return plural("{n} byte", "{n} bytes", count)
    return decimal(count)


@contextmanager
def standard_output() -> Iterator[None]:
    """Within the block, unsupported characters are escaped, and the reader may stop early, as `head` does."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spell_out_record(record: logging.LogRecord) -> bool:
    """Escape control characters in a record and its traceback."""
    record.msg = printable(record.getMessage())
    record.args = ()
    if record.exc_info:
        record.exc_text = printable(logging.Formatter().formatException(record.exc_info))
    return True


def spell_out_log() -> None:
    """From now on, escape control characters in all lines of the log."""
    from scrapy.utils.log import get_scrapy_root_handler

    handler = get_scrapy_root_handler()
    if handler:
        handler.addFilter(_spell_out_record)
