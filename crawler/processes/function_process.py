"""Calls a function in a child process, with limits of time and memory.

Values are pickled, as the child trusts this process. Answers are bytes and are not unpickled, as a child that reads
hostile files is not trusted.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from subprocess import PIPE, TimeoutExpired
from threading import Timer
from time import monotonic
from typing import Generic, TypeVar
from weakref import finalize

from crawler.processes.child_process import LENGTH_BYTES, ChildProcess

T = TypeVar("T")

START_SECONDS = 120.0
"""The time limit of the start of a child: imports are slow on a busy machine."""
ENDING_SECONDS = 5.0
"""How long a child whose output has ended may take to end by itself."""


@dataclass(frozen=True)
class ChildLimits:
    """The limits of a child; 0 means no limit."""

    cpu_seconds: float = 0
    """CPU time of one call; ignored on Windows."""
    memory_bytes: int = 0
    """Memory of the child; ignored on Windows."""
    answer_bytes: int = 0
    """Bytes of an answer."""


class ChildDiedError(Exception):
    """The child died during a call, or was killed at its time limit."""

    def __init__(self, reason: str, *, seconds: float, is_ready: bool) -> None:
        super().__init__(reason)
        self.seconds = seconds
        """The seconds from the call to the death."""
        self.is_ready = is_ready
        """Whether the child had made its function before it died: then the value may be the cause."""


class TimeLimit:
    """A context that kills a child when its time limit is reached, if it has one."""

    def __init__(self, child: ChildProcess, seconds: float | None) -> None:
        self.child = child
        self.seconds = seconds
        self.is_over = False
        """Whether the time limit was reached."""
        self._began = monotonic()
        self._timer = None
        if seconds is not None:
            self._timer = Timer(seconds, self._end)

    def __enter__(self) -> TimeLimit:
        if self._timer is not None:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def elapsed(self) -> float:
        """Seconds since the context was created."""
        return monotonic() - self._began

    def _end(self) -> None:
        self.is_over = True
        self.child.kill()


class FunctionProcess(Generic[T]):
    """A child that calls a function. The first call starts it, and the first call after its death starts a new one.

    `make_function` is called in the child, and returns the function from a value to the bytes of an answer. Only one
    thread at a time may call the function.
    """

    def __init__(
        self,
        make_function: Callable[[], Callable[[T], bytes]],
        limits: ChildLimits | None = None,
        *,
        stderr: int | None = None,
    ) -> None:
        self.limits = limits or ChildLimits()
        self._task = pickle.dumps((self.limits, make_function))
        self._stderr = stderr
        self._child: ChildProcess | None = None
        self._end_child: Callable[[], object] | None = None
        self._is_ready = False

    @property
    def child(self) -> ChildProcess | None:
        """The process, if it was started and has not been ended."""
        return self._child

    def start(self) -> None:
        """Start the child unless it runs."""
        if self._child is not None and self._child.poll() is None:
            return
        self.close()
        words = ["-m", "crawler.processes.function_child"]
        self._child = ChildProcess(words, own_session=False, stdout=PIPE, stderr=self._stderr)
        self._end_child = finalize(self, self._child.end)
        self._is_ready = False
        self._child.send(self._task)

    def call(self, value: T, seconds: float | None = None) -> bytes:
        """The answer to a value; raises a ChildDiedError if the child dies, or does not answer in this many seconds."""
        self.start()
        child = self._ready_child()
        with TimeLimit(child, seconds) as limit:
            child.send(pickle.dumps(value))
            return self._receive(child, limit)

    def send(self, value: T) -> None:
        """Send a value, unless the child is dead; several may be sent before their answers are received."""
        if self._child is not None:
            self._child.send(pickle.dumps(value))

    def receive(self) -> bytes:
        """The next answer; raises a ChildDiedError if the child dies."""
        child = self._ready_child()
        return self._receive(child, TimeLimit(child, None))

    def kill(self) -> None:
        """Kill the child; the thread that waits for an answer gets a ChildDiedError."""
        child = self._child
        if child is not None:
            child.kill()

    def close(self) -> None:
        """End the child, if it runs."""
        if self._end_child is not None:
            self._end_child()
        self._child = None

    def _ready_child(self) -> ChildProcess:
        """The child, once it has made its function."""
        child = self._child
        assert child is not None  # noqa: S101 - it was started
        if not self._is_ready:
            with TimeLimit(child, START_SECONDS) as limit:
                self._receive(child, limit)  # the empty answer that it writes when it is ready
            self._is_ready = True
        return child

    def _receive(self, child: ChildProcess, limit: TimeLimit) -> bytes:
        """The next answer; if there is none, ends the child and raises a ChildDiedError."""
        answer = self._read(child)
        if answer is not None and not limit.is_over:
            return answer
        seconds = limit.elapsed()
        if not limit.is_over:
            with suppress(TimeoutExpired):  # the status with which it ends by itself says more than "killed"
                child.wait(ENDING_SECONDS)
        self.close()
        reason = f"died with status {child.popen.returncode}"
        if limit.is_over:
            reason = f"no answer in {limit.seconds:g} s"
        raise ChildDiedError(reason, seconds=seconds, is_ready=self._is_ready)

    def _read(self, child: ChildProcess) -> bytes | None:
        """The next answer; None if there is none, or if it is larger than its limit."""
        stdout = child.popen.stdout
        assert stdout is not None  # noqa: S101 - a pipe
        with suppress(OSError, ValueError):  # another thread has closed it
            head = stdout.read(LENGTH_BYTES)
            size = int.from_bytes(head, "big")
            if self.limits.answer_bytes and size > self.limits.answer_bytes:
                child.kill()
                return None
            answer: bytes = stdout.read(size)
            if len(head) == LENGTH_BYTES and len(answer) == size:
                return answer
        return None
