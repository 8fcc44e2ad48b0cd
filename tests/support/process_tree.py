"""The processes below another, and whether they have ended."""

import time
from collections.abc import Collection
from pathlib import Path


def descendants(process: int) -> set[int]:
    """The ids of all processes that a process has started, and of those that they have started."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = path.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(rest[1]), []).append(int(path.parent.name))
    found, waiting = set[int](), [process]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


def running(processes: Collection[int]) -> set[int]:
    """Those of the processes that have not ended."""
    found = set()
    for one in processes:
        try:
            state = Path(f"/proc/{one}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in "ZX":
            found.add(one)
    return found


def left_after(processes: Collection[int], seconds: float = 15.0) -> set[int]:
    """Those of the processes that still run after some seconds; returns at once when none does."""
    end = time.monotonic() + seconds
    while (left := running(processes)) and time.monotonic() < end:
        time.sleep(0.1)
    return left
