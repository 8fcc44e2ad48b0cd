"""The child of a FunctionProcess: `python -m crawler.processes.function_child`.

It reads messages from standard input: first its limits and a function that makes the function to be called, then values
for this function. It writes an empty answer when it is ready, and then an answer to each value. It ends when it takes
too much time or memory, and at once when the process that started it has ended.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Thread

from crawler.processes.child_process import LENGTH_BYTES, ParentPipe

WATCH_SECONDS = 0.5
"""Seconds between two looks at the memory of this process."""
OVER_LIMIT = 3
"""Exit status of a process that took too much memory."""


def main() -> None:
    """Answer values until this process is ended."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what a function prints must not mix with answers
    messages: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read_messages, args=(ParentPipe(), messages), daemon=True).start()
    limits, make_function = pickle.loads(messages.get())  # noqa: S301 - the parent has written it
    if limits.memory_bytes and sys.platform != "win32":
        _limit_memory(limits.memory_bytes)
    function = make_function()
    _write(answers, b"")
    while True:
        value = pickle.loads(messages.get())  # noqa: S301 - the parent has written it
        with _cpu_limit(limits.cpu_seconds):
            answer = function(value)
        _write(answers, answer)


def _read_messages(parent: ParentPipe, messages: SimpleQueue[bytes]) -> None:
    """Read messages while the function works, so that neither process waits for the other to empty a pipe."""
    while (content := parent.read_message()) is not None:
        messages.put(content)
    os._exit(0)  # the parent has ended this process, or is dead


def _write(descriptor: int, content: bytes) -> None:
    rest = memoryview(len(content).to_bytes(LENGTH_BYTES, "big") + content)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BrokenPipeError:  # the parent is dead
        os._exit(0)


@contextmanager
def _cpu_limit(seconds: float) -> Iterator[None]:
    """The system ends this process if the block takes more CPU time than this; 0 means no limit."""
    if not seconds or sys.platform == "win32":
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_memory(most_bytes: int) -> None:
    """End this process soon after it takes more memory than this; with more than twice as much, an allocation fails."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core dump
    with suppress(ValueError, OSError):  # macOS refuses it
        resource.setrlimit(resource.RLIMIT_AS, (2 * most_bytes, 2 * most_bytes))
    # On Linux, the peak of a process begins with the peak of the process that started it.
    limit = max(most_bytes, _peak_memory())
    Thread(target=_watch_memory, args=(limit,), daemon=True).start()


def _peak_memory() -> int:
    """The most memory that this process has had, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if sys.platform == "darwin":
        return peak
    return 1024 * peak


def _watch_memory(limit: int) -> None:
    while _peak_memory() <= limit:
        time.sleep(WATCH_SECONDS)
    os._exit(OVER_LIMIT)


if __name__ == "__main__":
    main()
