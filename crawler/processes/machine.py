"""The processors and the available memory of the machine, and a setting of Python's garbage collector."""

import os
from math import inf
from pathlib import Path

# New objects after which Python collects cyclic garbage: a page makes thousands, few of them in cycles, and Python's
# own 700 costs a crawl a tenth of its time.
GARBAGE_THRESHOLD = 50_000
MEMORY_OF_THE_MACHINE = Path("/proc/meminfo")
"""https://docs.kernel.org/filesystems/proc.html#meminfo"""
MEMORY_OF_THE_CONTAINER = Path("/sys/fs/cgroup")
"""https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files"""


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory_bytes() -> float:
    """The memory that further processes can take on this machine and in this container; inf if it is unknown."""
    return min(_machine_memory_bytes(), _container_memory_bytes())


def _machine_memory_bytes() -> float:
    try:
        lines = MEMORY_OF_THE_MACHINE.read_text(encoding="ascii").splitlines()
        kilobytes = next(line for line in lines if line.startswith("MemAvailable:")).split()[1]
    except (OSError, StopIteration):
        return inf
    return 1024.0 * int(kilobytes)


def _container_memory_bytes() -> float:
    try:
        limit = (MEMORY_OF_THE_CONTAINER / "memory.max").read_text(encoding="ascii").strip()
        used = (MEMORY_OF_THE_CONTAINER / "memory.current").read_text(encoding="ascii")
    except OSError:
        return inf
    if limit == "max":
        return inf
    return float(limit) - float(used)
