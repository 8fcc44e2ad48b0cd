"""Signals that stop a process: a signal that follows another one within a second is ignored.

`timeout -s INT` sends its signal to the child and then to the whole group, and Ctrl-C may reach a process from the
terminal and from its parent. A second signal would end a crawl at once, without its closing lines.
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, ClassVar

REPEAT_SECONDS = 1.0
"""Signals are ignored for this time after another one."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
"""The signals that stop a process, as far as this system has them."""


@dataclass(frozen=True)
class OnceAMoment:
    """A handler that passes a signal on to another handler, unless a signal was passed on a moment ago."""

    handler: Callable[[int, Any], Any]
    last: ClassVar[float] = -inf
    """When a signal was last passed on, to any handler."""

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
    """Wrap the current handlers of these signals, so that they ignore repeated ones."""
    if current_thread() is not main_thread():  # only the main thread may set handlers and receives signals
        return
    for number in SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler) and not isinstance(handler, OnceAMoment):
            signal.signal(number, OnceAMoment(handler))
