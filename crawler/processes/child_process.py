"""Starts Python in a child process, and ends it with all that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any

LENGTH_BYTES = 8
"""Of the length before a part of a message."""


class ChildProcess:
    """A Python process with the import path of this one, and with a pipe as its standard input.

    It is the first of a session of its own: Ctrl-C in a terminal does not reach it, and what it starts can be killed
    with it. The end of its standard input tells it that this process has ended in any way.
    """

    def __init__(
        self, words: Sequence[str], *, stdout: int | IO[bytes] | None = None, stderr: int | IO[bytes] | None = None
    ) -> None:
        session: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            session = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        # A checkout need not be installed; -P keeps files of the working directory from hiding modules.
        import_path = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        self.popen = subprocess.Popen(  # noqa: S603 - Python itself
            [sys.executable, "-P", *words],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            env=os.environ | {"PYTHONPATH": import_path},
            **session,
        )
        self._lock = Lock()

    def send(self, content: bytes) -> None:
        """Write to its standard input, unless the process has ended."""
        assert self.popen.stdin is not None  # noqa: S101 - a pipe
        with self._lock, suppress(OSError, ValueError):
            self.popen.stdin.write(content)
            self.popen.stdin.flush()

    def close_input(self) -> None:
        """End its standard input."""
        assert self.popen.stdin is not None  # noqa: S101 - a pipe
        with self._lock, suppress(OSError):
            self.popen.stdin.close()

    def poll(self) -> int | None:
        """Its exit status, if it has ended; below 0, the signal that ended it."""
        return self.popen.poll()

    def kill(self) -> None:
        """Kill the process, and the processes it has started."""
        with suppress(OSError):
            if sys.platform == "win32":
                self.popen.kill()
            elif self.popen.poll() is None:  # a process that was waited for has lost its process id
                os.killpg(self.popen.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the process, wait until it has ended, and close its pipes."""
        self.kill()
        self.popen.wait()
        self.close_input()
        for pipe in (self.popen.stdout, self.popen.stderr):
            if pipe is not None:
                pipe.close()


def message(content: bytes) -> bytes:
    """A content with its length before it, as it is sent through a pipe."""
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def read_bytes(descriptor: int, size: int) -> bytes:
    """So many bytes of a pipe; fewer at its end.

    A child does not read by sys.stdin: a lock that a thread holds on that aborts Python at its end.
    """
    content = bytearray()
    while len(content) < size:
        part = os.read(descriptor, size - len(content))
        if not part:
            break
        content += part
    return bytes(content)


def read_message(descriptor: int) -> bytes | None:
    """The next message of a pipe; None at its end."""
    head = read_bytes(descriptor, LENGTH_BYTES)
    size = int.from_bytes(head, "big")
    content = read_bytes(descriptor, size)
    return content if len(head) == LENGTH_BYTES and len(content) == size else None
