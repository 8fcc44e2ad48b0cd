"""Signals that stop a process: a signal that follows another one within REPEAT_SECONDS is ignored.

One intention can reach a process as two signals: `timeout -s INT` sends its signal to the child and then to the whole
group, and Ctrl-C may come from the terminal and from the parent. A second signal would end a crawl at once, without its
closing lines.
"""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, ClassVar

REPEAT_SECONDS = 1.0
"""For this time after a signal that was passed on, further signals are ignored."""
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
            ignore_repeats()  # Scrapy's handler of the first signal installs another handler for the second


def ignore_repeats() -> None:
    """Wrap the current handlers of SIGNALS, so that they ignore a signal that follows another one."""
    if current_thread() is not main_thread():  # only the main thread may set handlers and receives signals
        return
    for number in SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler) and not isinstance(handler, OnceAMoment):
            signal.signal(number, OnceAMoment(handler))
