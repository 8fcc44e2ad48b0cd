"""Patience with a database that is away: what fails is tried again for a while, if it may go right later."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError

from crawler.state.database import StateError, passes

LAST_PATIENCE = 15.0  # seconds that a crawl which is to stop waits for a database that is away
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)  # between tries while the database is away
T = TypeVar("T")


def patiently(work: Callable[[], T], undo: Callable[[Exception], str], patience: Callable[[], float]) -> T:
    """What the work brings, tried again while the database is locked, full or away.

    After each failure `undo` says what is wrong; a StateError says it when patience, which may change, is at an end.
    """
    began, tries = time.monotonic(), 0
    while True:
        try:
            return work()
        except (DBAPIError, OSError) as error:
            trouble = undo(error)
            if not passes(error) or time.monotonic() - began > patience():
                raise StateError(trouble) from error
        time.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
        tries += 1


def break_off(connection: Any) -> None:
    """Break off a driver's connection to a server that does not answer, from another thread: a statement fails then."""
    if hasattr(connection, "fileno"):
        with suppress(Exception):  # it may be closed by now, which is as well
            connected = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
            with connected:
                connected.shutdown(socket.SHUT_RDWR)
