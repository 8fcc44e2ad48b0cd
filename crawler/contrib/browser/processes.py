"""The processes of a browser and their memory, read from /proc on Linux; on other systems nothing is known."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

OWN_MEMORY = ("RssAnon:", "RssShmem:")
"""Lines of /proc/PID/status, in kilobytes. Memory-mapped files, such as the program itself, are not counted, because
processes share them: https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
"""
RENDERER = "--type=renderer"
"""An argument of the processes in which Chromium runs pages."""


def parent_of(process: int) -> int | None:
    """The parent of a process; None if it is unknown."""
    try:
        # E.g. "42 (chrome) S 7 ...": the name in parentheses may have any characters, after it come state and parent.
        _, _, fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")
        return int(fields.split()[1])
    except (OSError, ValueError, IndexError):
        return None


def own_child_above(process: int) -> int:
    """The child process of the crawler from which `process` descends; `process` itself if there is none."""
    above: int | None = process
    while above is not None and above > 1:
        parent = parent_of(above)
        if parent == os.getpid():
            return above
        above = parent
    return process


def process_tree(root: int) -> list[int]:
    """A process and all its descendants, each after its parent."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        process = int(path.name)
        parent = parent_of(process)
        if parent is not None:
            children.setdefault(parent, []).append(process)
    tree = [root]
    for process in tree:  # the loop also visits the processes that it adds
        tree += children.get(process, [])
    return tree


def memory_of(process: int) -> int:
    """The bytes of memory of a process without mapped files; 0 if they cannot be read."""
    try:
        lines = Path(f"/proc/{process}/status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(OWN_MEMORY))


def is_renderer(process: int) -> bool:
    """Whether a process is one of those in which Chromium runs pages."""
    try:
        arguments = Path(f"/proc/{process}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return False
    return RENDERER in arguments.replace("\0", " ").split()


def kill(processes: Iterable[int]) -> None:
    """Kill processes; processes that have already ended are ignored."""
    for process in processes:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
