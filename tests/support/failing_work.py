"""Work for other processes that goes wrong."""

import os
import signal
import time
from pathlib import Path


def square(number: int) -> int:
    return number * number


def square_slowly(number: int) -> int:
    time.sleep(0.02 * (number % 7 == 0))
    return number * number


def wait_for_the_last(item: tuple[int, int, Path]) -> int:
    """The first one takes until the last one is done, or half a minute."""
    number, last, folder = item
    for _ in range(1_500 * (number == 0)):
        if (folder / "last").exists():
            break
        time.sleep(0.02)
    if number == last:
        (folder / "last").touch()
    return number


def die(number: int) -> int:
    """Die at some numbers, each time."""
    if number % 40 == 21:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def die_once(item: tuple[int, Path]) -> int:
    """Die at some numbers, but not again."""
    number, folder = item
    mark = folder / str(number)
    if number % 40 == 21 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def fail(number: int) -> int:
    raise ValueError(number)


class Unreadable:
    """What cannot be received by another process."""

    def __call__(self, number: int) -> int:
        return number

    def __reduce__(self) -> object:
        return os._exit, (1,)


def process(_: int) -> int:
    """The process that does the work."""
    time.sleep(0.005)
    return os.getpid()


def big(number: int) -> bytes:
    """A result that fills a pipe."""
    return bytes(300_000) + bytes([number % 256])
