"""Signals to stop: one that comes again within a moment is the same wish.

`timeout -s INT` sends its signal to the child and then to the whole group, and Ctrl-C may reach a process from the
terminal and from its parent. A second signal ends a crawl at once, without its closing lines.
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, ClassVar

REPEAT_SECONDS = 1.0
"""Within this time after a signal others are ignored."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
"""The signals to stop, as far as this system has them."""


@dataclass(frozen=True)
class OnceAMoment:
    """Passes a signal on to a handler, unless one came a moment ago."""

    handler: Callable[[int, Any], Any]
    last: ClassVar[float] = -inf
    """When a signal was passed on, to whichever handler."""

    def __call__(self, number: int, frame: Any) -> None:
        now = monotonic()
        if now - OnceAMoment.last < REPEAT_SECONDS:
            return
        OnceAMoment.last = now
        try:
            self.handler(number, frame)
        finally:
            ignore_repeats()  # Scrapy's handler of the first signal installs another for the second


def ignore_repeats() -> None:
    """Have the present handlers of signals to stop get only one a moment."""
    if current_thread() is not main_thread():  # which alone may set handlers, and gets signals
        return
    for number in SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler) and not isinstance(handler, OnceAMoment):
            signal.signal(number, OnceAMoment(handler))
