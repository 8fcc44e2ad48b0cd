"""The memory and open files of the processes below a scheduler, and the size of its database, day by day."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from process_tree import descendants

CRAWLS = b"crawler.contrib.schedule.job_process", b"crawler.workers.worker_process"
MOST_GROWTH = 1.2
"""The peak of the last day by that of the first whole one."""


class Use(NamedTuple):
    """What a process uses."""

    day: int
    megabytes: float
    files: int

    def peak(self, other: "Use") -> "Use":
        return Use(self.day, max(self.megabytes, other.megabytes), max(self.files, other.files))


def use_of(pid: int, day: int) -> Use:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Use(day, pages * 4_096 / 1e6, len(list(Path(f"/proc/{pid}/fd").iterdir())))


class ResourceUse:
    """The peaks of each process, and of the scheduler each day."""

    def __init__(self) -> None:
        self.workers: dict[int, Use] = {}
        self.scheduler: dict[int, Use] = {}
        self.database: dict[int, tuple[int, int]] = {}
        """Bytes and pages at the end of each day."""

    def note(self, scheduler: int, day: int) -> None:
        """Look at the processes as they are now."""
        found = use_of(scheduler, day)
        self.scheduler[day] = self.scheduler.get(day, found).peak(found)
        for pid in descendants(scheduler):
            with suppress(OSError):  # it has ended
                if any(name in Path(f"/proc/{pid}/cmdline").read_bytes() for name in CRAWLS):
                    found = use_of(pid, day)
                    self.workers[pid] = self.workers.get(pid, found).peak(found)

    def of_workers(self) -> dict[int, list[Use]]:
        """The peaks of all workers that began on a day."""
        days: defaultdict[int, list[Use]] = defaultdict(list)
        for use in self.workers.values():
            days[use.day].append(use)
        return days

    def lines(self) -> Iterator[str]:
        yield "day  workers  median MB  most MB  median files  most files  scheduler MB  files  pages  kB a page"
        for day, uses in sorted(self.of_workers().items()):
            memory, files = [use.megabytes for use in uses], [use.files for use in uses]
            size, pages = self.database.get(day, (0, 0))
            scheduler = self.scheduler[day]
            yield (
                f"{day:3}  {len(uses):7}  {median(memory):9.0f}  {max(memory):7.0f}  {median(files):12.0f}  "
                f"{max(files):10}  {scheduler.megabytes:12.0f}  {scheduler.files:5}  {pages:5}  "
                f"{size / max(pages, 1) / 1000:9.1f}"
            )

    def wrong(self) -> Iterator[str]:
        """What has grown from the second day to the last whole one."""
        days = self.of_workers()
        if max(days, default=0) < 2:
            return
        for what, first, last in (
            ("workers", _most(days[1]), _most(days[max(days) - 1])),
            ("the scheduler", self.scheduler[min(1, max(days))], self.scheduler[max(days)]),
        ):
            if last.megabytes > MOST_GROWTH * first.megabytes or last.files > MOST_GROWTH * first.files:
                yield f"the use of {what} grew: {first} then {last}"


def _most(uses: Iterable[Use]) -> Use:
    found = list(uses) or [Use(0, 0.0, 0)]
    return Use(found[0].day, max(use.megabytes for use in found), max(use.files for use in found))
