"""The output of commands for people, and their exit statuses.

Texts of the web may have control characters that would control the operator's terminal. The functions here escape them:
`printable` in text of several lines, `one_line` and `spelled` in one line, `readable_json` in JSON, and
`spell_out_log` in the log. `one_line` replaces line ends by spaces; `spelled` escapes them, too.
"""

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import NoReturn

from crawler.translation.message import CONTROL, Message, localized, plural

FAILED = 1
INTERRUPTED = 130  # what shells report for Ctrl-C
TERMINATED = 143  # what shells report for SIGTERM
REFRESH_SECONDS = 0.25
"""The interval between two updates of a progress bar."""
# CONTROL lacks the marks that change the direction of text, because HTML isolates them in <bdi>. In a terminal, they
# affect the whole line.
CONTROLS_TERMINAL = re.compile(rf"{CONTROL.pattern}|[\u202a-\u202e\u2066-\u2069]")
"""A character that changes how a terminal shows the text around it; line ends and tabs are allowed."""


def printable(text: str) -> str:
    """The text with escaped control characters.

    >>> printable("\\x1b[2Jgone\\n\\x9b2J\\u202egone")
    '\\\\x1b[2Jgone\\n\\\\x9b2J\\\\u202egone'
    """
    return CONTROLS_TERMINAL.sub(_spelled_out, text)


def readable_json(line: bytes) -> bytes:
    """A line of JSON with escaped control characters, which has the same value.

    >>> print(readable_json('{"text": "bees\N{RIGHT-TO-LEFT OVERRIDE}"}'.encode()).decode())
    {"text": "bees\\u202e"}
    """
    return CONTROLS_TERMINAL.sub(lambda match: f"\\u{ord(match[0]):04x}", line.decode("utf-8", "replace")).encode()


def _spelled_out(character: re.Match[str]) -> str:
    code = ord(character[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}"


def one_line(text: str) -> str:
    """The text in one line: all white space becomes single spaces, and control characters are escaped."""
    return printable(" ".join(text.split()))


def spelled(text: str) -> str:
    """The text in one line, with all unprintable characters escaped, line ends included.

    >>> spelled("\\x1b[2Jbees\\n\\u202e")
    '\\\\x1b[2Jbees\\\\n\\\\u202e'
    """
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def refuse(message: Message, called: str = "", status: int = 2) -> NoReturn:
    """Print a message, after the name of the command if it is given, and exit with a status."""
    line = localized(message)
    if called:
        line = f"{called}: {line}"
    print(one_line(line), file=sys.stderr)
    sys.exit(status)


def say(called: str, message: str | Message) -> None:
    """Print a message on standard error, after the name of the command."""
    print(one_line(f"{called}: {localized(message)}"), file=sys.stderr)


def byte_size(count: int) -> object:
    """Bytes in a decimal unit, as a value of a message.

    >>> [str(byte_size(count)) for count in (0, 1, 306_400)]
    ['0 bytes', '1 byte', '306.4 kB']
    """
    from rich.filesize import decimal  # imported here, because a command that refuses wrong use does not need it

    if abs(count) < 1_000:
        return plural("{n} byte", "{n} bytes", count)
    return decimal(count)


@contextmanager
def standard_output() -> Iterator[None]:
    """Within the block, characters that standard output cannot encode are escaped, and its reader may stop early, as
    `head` does.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # keep Python from flushing again at exit, which would print an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spell_out_record(record: logging.LogRecord) -> bool:
    """Escape control characters in a record and its traceback; returns True, as a filter of the log must."""
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
