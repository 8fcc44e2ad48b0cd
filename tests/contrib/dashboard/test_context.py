"""What takes longer than an answer may."""

import threading
import time
from collections.abc import Callable

import pytest

from crawler.contrib.dashboard import context
from crawler.contrib.dashboard.context import Background
from crawler.errors import StateError
from crawler.translation.message import Message

SOON = 5.0


def after(result: context.Result) -> context.Result:
    """The result, once it is computed."""
    until = time.monotonic() + SOON
    while result.busy and time.monotonic() < until:
        time.sleep(0.01)
    return result


def test_a_result_is_kept_until_it_is_too_old() -> None:
    found, asked = Background(least_kept_ratio=0.0), []  # however fast this machine is
    assert found.get("bees", lambda: asked.append(1) or len(asked), age=60.0, patience=SOON).value == 1
    assert found.get("bees", lambda: asked.append(1) or len(asked), age=60.0, patience=SOON).value == 1
    assert after(found.get("bees", lambda: asked.append(1) or len(asked), age=0.0)).value == 2


def test_what_is_not_ready_is_not_waited_for_longer_than_is_said() -> None:
    found, go = Background(), threading.Event()
    begun = time.monotonic()
    result = found.get("bees", lambda: go.wait(SOON), age=1.0, patience=0.05)
    assert (result.value, result.at, result.busy) == (None, None, True)
    assert time.monotonic() - begun < SOON / 2
    threading.Timer(0.1, go.set).start()
    # Whoever asks meanwhile has it as soon as it is there, and does not have it computed once more.
    assert found.get("bees", lambda: pytest.fail("computed twice"), age=60.0, patience=SOON).value is True


def test_who_has_patience_is_told_nothing_old() -> None:
    found, asked, go = Background(least_kept_ratio=0.0), [], threading.Event()
    assert found.get("bees", lambda: asked.append(1) or len(asked), age=60.0, patience=SOON).value == 1
    assert found.get("bees", lambda: asked.append(1) or len(asked), age=0.0, patience=SOON).value == 2
    # What takes longer is as it was before.
    assert found.get("bees", lambda: go.wait(SOON), age=0.0, patience=0.05).value == 2
    go.set()


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (StateError("the database is away"), "the database is away"),
        (ZeroDivisionError("oops"), "It cannot be computed; see the log."),
    ],
)
def test_what_cannot_be_computed_says_why_and_ends_nothing(raised: Exception, words: str) -> None:
    def fails() -> None:
        raise raised

    found = Background()
    assert found.get("bees", fails, age=60.0, patience=SOON).error == Message(words)
    assert found.get("wasps", lambda: 7, age=60.0, patience=SOON).value == 7


def test_no_more_than_so_many_results_are_kept() -> None:
    found, asked = Background(most=2), []

    def told(name: str) -> Callable[[], None]:
        return lambda: asked.append(name)

    for name in ("a", "b", "a", "c", "a", "b"):  # b has gone when it is asked for again
        found.get(name, told(name), age=60.0, patience=SOON)
    assert asked == ["a", "b", "c", "b"]
