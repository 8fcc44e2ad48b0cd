"""Handlers of signals to stop, which get one a moment."""

import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.command_line import stop_signals
from crawler.command_line.stop_signals import REPEAT_SECONDS, SIGNALS, OnceAMoment, ignore_repeats


class Clock(SimpleNamespace):
    now = 1_000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """A clock that stands still; the handlers are afterwards as they were before."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    clock = Clock()
    monkeypatch.setattr(stop_signals, "monotonic", lambda: clock.now)
    monkeypatch.setattr(OnceAMoment, "last", float("-inf"))
    yield clock
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_that_comes_again_within_a_moment_is_ignored(clock: Clock) -> None:
    seen: list[tuple[str, int]] = []

    def first(number: int, frame: Any) -> None:
        seen.append(("first", number))
        signal.signal(signal.SIGINT, second)  # as Scrapy does
        signal.signal(signal.SIGTERM, second)

    def second(number: int, frame: Any) -> None:
        seen.append(("second", number))

    signal.signal(signal.SIGINT, first)
    signal.signal(signal.SIGTERM, first)
    ignore_repeats()
    ignore_repeats()
    for seconds, number in (
        *((0.0, signal.SIGINT), (0.02, signal.SIGINT), (0.02, signal.SIGTERM), (REPEAT_SECONDS - 0.05, signal.SIGINT)),
        *((0.02, signal.SIGTERM), (0.02, signal.SIGINT)),
    ):
        clock.now += seconds
        signal.raise_signal(number)
    assert seen == [("first", signal.SIGINT), ("second", signal.SIGTERM)]


def test_ctrl_c_in_python_is_still_an_interrupt(clock: Clock) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ignore_repeats()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    clock.now += REPEAT_SECONDS
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_is_ignored_stays_so(clock: Clock) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ignore_repeats()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
