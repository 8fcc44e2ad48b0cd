"""What befalls the crawls of a week: workers come and go, PostgreSQL crashes, a disk is full, clocks jump."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import wall_clock
from internet import DAY, HOUR
from process_tree import descendants
from scheduled_week import Week, Worker


def crash_of_database(week: Week, part: int) -> None:
    week.server.stop()
    time.sleep(3)
    week.server.start()


def guest(week: Week, part: int) -> None:
    """A worker of another machine joins a run, and leaves before its end."""
    worker = Worker(week, part, week.folder / "guest")
    worker.until_started()
    time.sleep(3)
    worker.process.send_signal(signal.SIGTERM)
    _check(week, "a guest", worker)


def full_disk(week: Week, part: int) -> None:
    """There is no room for what the runs write, for a while."""
    if not (week.folder / "jobs").is_mount():
        week.tell("no disk could be made here, so none is full")
        return
    ballast = week.folder / "jobs" / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4_096))
    time.sleep(15)
    ballast.unlink()


def clocks(week: Week, part: int) -> None:
    """The clock of a guest is a day ahead, then an hour behind; that of the database and all others jumps as well."""
    own = wall_clock.WallClock(week.folder / "own-clock", Path(week.clock.environment["LD_PRELOAD"]))
    own.ahead = week.clock.ahead + DAY
    worker = Worker(week, part, week.folder / "guest", **own.environment)
    worker.until_started()
    time.sleep(2)
    own.ahead = week.clock.ahead - HOUR
    time.sleep(3)
    week.clock.ahead += 600
    _check(week, "a worker with a wrong clock", worker)


def suspended(week: Week, part: int) -> None:
    """A worker sleeps for longer than its lease, and wakes up."""
    with suppress(ProcessLookupError, ValueError):
        sleeper = min(descendants(week.scheduler.pid))
        os.kill(sleeper, signal.SIGSTOP)
        time.sleep(70)
        week.woken.append(time.monotonic())
        os.kill(sleeper, signal.SIGCONT)


def _check(week: Week, what: str, worker: Worker) -> None:
    """Note what is wrong with how a worker ended."""
    said = worker.end()
    code = worker.process.returncode
    last = said.strip().splitlines()[-1][:150] if said.strip() else ""
    week.tell(f"{what} ended with {code}: {last}")
    # The signal may come when a crawl that has finished no longer handles it.
    is_late = code == -signal.SIGTERM and "Spider closed (finished)" in said
    if "Traceback" in said or (code and not is_late):
        week.wrong.append(f"{what} ended with {code}: {said[-1500:]}")


MISFORTUNES: Sequence[tuple[float, Callable[[Week, int], None]]] = (
    (0.05, guest),
    (0.15, crash_of_database),
    (0.25, full_disk),
    (0.35, clocks),
    (0.50, guest),
    (0.60, suspended),
    (0.75, crash_of_database),
    (0.85, guest),
)
"""What happens to a run under way, of the crawl of a part, and after which share of the time."""
