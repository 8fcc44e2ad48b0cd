"""Locks of files that a process holds until it ends in any way: whoever gets one knows that its holder is dead.

Heartbeats in the database answer the same question for processes on all machines, but only after
`heartbeats.LEASE_SECONDS`; a lock answers at once, so that what was killed here goes on here without a pause, and two
processes never write one file.
"""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout


def take_lock(path: Path, patience: float = 0.0) -> FileLock | None:
    """The lock of a file, after up to so many seconds of waiting for its holder; None if another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=patience)
    except Timeout:
        return None
    return lock


def is_held(path: Path) -> bool:
    """Whether a process that holds the lock lives."""
    if not path.exists():
        return False
    lock = take_lock(path)
    if lock is not None:
        lock.release()
    return lock is None
