"""File locks that a process holds until it ends in any way: a process that gets one knows that its last holder is dead.

Heartbeats in the database show the death of processes on all machines, but only after `heartbeats.LEASE_SECONDS`. A
lock shows it at once: a crawl that was killed on this machine can continue on it immediately, and two processes never
write to one file.
"""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout


def take_lock(path: Path, patience: float = 0.0) -> FileLock | None:
    """Take the lock of a file, and wait up to `patience` seconds for its holder; None if another process keeps it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=patience)
    except Timeout:
        return None
    return lock


def is_held(path: Path) -> bool:
    """Whether a running process holds the lock."""
    if not path.exists():
        return False
    lock = take_lock(path)
    if lock is not None:
        lock.release()
    return lock is None
