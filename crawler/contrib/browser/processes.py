"""The processes of a browser and the memory that they use, as Linux tells in /proc; elsewhere nothing is known."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

OWN_MEMORY = ("RssAnon:", "RssShmem:")
"""Lines of /proc/PID/status, in kilobytes. What is left out are pages of files, such as those of the program itself,
which all processes share: see proc_pid_status(5)."""
RENDERER = "--type=renderer"
"""An argument of the processes in which Chromium runs pages."""


def parent_of(process: int) -> int | None:
    """The process that has started a process, or None."""
    try:
        # The name of the program, in parentheses, may hold anything.
        fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return int(fields[1])
    except (OSError, ValueError, IndexError):
        return None


def own_child_above(process: int) -> int:
    """The child of this process from which another process descends; that process itself if there is none."""
    above: int | None = process
    while above is not None and above > 1:
        parent = parent_of(above)
        if parent == os.getpid():
            return above
        above = parent
    return process


def process_tree(root: int) -> list[int]:
    """A process and all below it, each after the one that has started it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        process = int(path.name)
        parent = parent_of(process)
        if parent is not None:
            children.setdefault(parent, []).append(process)
    tree = [root]
    for process in tree:
        tree += children.get(process, [])
    return tree


def memory_of(process: int) -> int:
    """The bytes of memory that a process uses beside the pages of files; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(OWN_MEMORY))


def is_renderer(process: int) -> bool:
    """Whether a process is one in which Chromium runs pages."""
    try:
        arguments = Path(f"/proc/{process}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return False
    return RENDERER in arguments.replace("\0", " ").split()


def kill(processes: Iterable[int]) -> None:
    """End processes by force; those that have ended are no error."""
    for process in processes:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
