"""Functions for children: each tests a limit."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable


def misbehaving() -> Callable[[str], bytes]:
    return misbehave


def misbehave(act: str) -> bytes:
    """Do something, and answer."""
    return ACTS[act]()


def _print() -> bytes:
    print("noise")
    return b"done"


def _sleep() -> bytes:
    time.sleep(60)
    return b"done"


def _burn() -> bytes:
    while True:
        pass


def _fill_memory() -> bytes:
    """Use some more than the limit, which is half of what the system allows."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] // 2
    kept = b"." * (limit + 30_000_000)
    time.sleep(60)
    return kept[:1]


def _start_another_process() -> bytes:
    line = [sys.executable, "-c", "import time; time.sleep(60)"]
    return str(subprocess.Popen(line, stdin=subprocess.DEVNULL).pid).encode()


ACTS: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"done",
    "print": _print,
    "read standard input": lambda: sys.stdin.read().encode(),
    "sleep": _sleep,
    "burn": _burn,
    "fill memory": _fill_memory,
    "exit": lambda: os._exit(7),
    "fail": lambda: str(1 // 0).encode(),
    "large answer": lambda: bytes(2_001),
    "start another process": _start_another_process,
}
