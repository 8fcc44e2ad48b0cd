"""Starts Python in a child process, and can kill it together with the processes that it has started."""

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
"""Bytes of the length before a message."""
STOP = b"."
"""What the parent writes, after the messages, to tell its child to stop."""


class ChildProcess:
    """A Python process with the import path of this one, and with a pipe as its standard input.

    It leads a process group: Ctrl-C in a terminal does not reach it, and it can be killed together with the processes
    that it starts. It reads its task from standard input, as other users can see its command line and environment. The
    end of the input tells it that this process has ended.

    With `own_session` it has no terminal. Linux divides CPU time between sessions
    (https://man7.org/linux/man-pages/man7/sched.7.html, autogroup): a crawl in its own session gets as much as a
    command, while the processes of a pool divide what their command gets.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        own_session: bool,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
    ) -> None:
        group: dict[str, Any] = {"process_group": 0}
        if sys.platform == "win32":
            group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        elif own_session:
            group = {"start_new_session": True}
        # The child gets the import path, as a checkout need not be installed; -P keeps files of the working directory
        # from hiding modules.
        import_path = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
        self.popen = subprocess.Popen(  # noqa: S603 - Python itself
            [sys.executable, "-P", *words],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            env=os.environ | {"PYTHONPATH": import_path, "PYTHONIOENCODING": "utf-8:replace"},
            **group,
        )
        self._lock = Lock()

    def send(self, content: bytes) -> None:
        """Write a message to its standard input, unless the process has ended."""
        self._write(len(content).to_bytes(LENGTH_BYTES, "big") + content)

    def tell_to_stop(self) -> None:
        """Tell a child that it should stop, if it waits for this with `wait_for_stop`."""
        self._write(STOP)

    def poll(self) -> int | None:
        """Its exit status, if it has ended; below 0, the signal that ended it."""
        status = self.popen.poll()
        if status is not None:
            self.close_input()
        return status

    def wait(self, seconds: float | None = None) -> int:
        """Wait until it has ended; returns its exit status. Raises a TimeoutExpired after this many seconds."""
        status = self.popen.wait(seconds)
        self.close_input()
        return status

    def close_input(self) -> None:
        """End its standard input."""
        assert self.popen.stdin is not None  # noqa: S101 - a pipe
        with self._lock, suppress(OSError):  # raised if the process ended before it read everything
            self.popen.stdin.close()

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
        self.wait()
        for pipe in (self.popen.stdout, self.popen.stderr):
            if pipe is not None:
                pipe.close()

    def _write(self, content: bytes) -> None:
        assert self.popen.stdin is not None  # noqa: S101 - a pipe
        with self._lock, suppress(OSError, ValueError):  # raised if the process or its input has ended
            self.popen.stdin.write(content)
            self.popen.stdin.flush()


class ParentPipe:
    """The pipe from its parent, in a child. It takes over standard input, which is then empty for everything else."""

    def __init__(self) -> None:
        # Not sys.stdin: Python aborts at its end if a thread still holds the lock of that file.
        self._descriptor = os.dup(0)
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), 0)

    def read_message(self) -> bytes | None:
        """The next message; None if the parent has ended."""
        head = self._read(LENGTH_BYTES)
        size = int.from_bytes(head, "big")
        content = self._read(size)
        if len(head) == LENGTH_BYTES and len(content) == size:
            return content
        return None

    def wait_for_stop(self) -> bool:
        """Wait until the parent tells this process to stop, or has ended; returns False if it has ended."""
        return self._read(len(STOP)) == STOP

    def _read(self, size: int) -> bytes:
        """Read this many bytes; fewer at the end of the input."""
        content = bytearray()
        while len(content) < size:
            part = os.read(self._descriptor, size - len(content))
            if not part:
                break
            content += part
        return bytes(content)
