"""The progress of cleaning: a live bar on a terminal, elsewhere a line in the log now and then."""

import logging
import sys
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from crawler.command_line.terminal import REFRESH_SECONDS, byte_size, printable
from crawler.contrib.bulk.cleaning import CleaningCounts
from crawler.outcomes import ranked
from crawler.translation.message import Message, localized, plural

logger = logging.getLogger(__name__)


class CleaningProgress:
    """Shows the counts of records now and then, and errors of single records between them."""

    def __init__(self, total: int, amount_read: Callable[[], int], tally: CleaningCounts, interval: float) -> None:
        """`total` is the size of all input, 0 if unknown; `amount_read` returns how much of it was read. `interval` is
        the time between two lines in the log, in seconds.
        """
        self.amount_read = amount_read
        self.tally = tally
        self.interval = interval
        self.started = monotonic()
        self.last_shown = self.started
        self.bar: Progress | None = None
        if sys.stderr.isatty():
            columns = (SpinnerColumn(), BarColumn(bar_width=10), TextColumn("{task.description}"))
            self.bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
            self.task = self.bar.add_task("", total=total or None)
            self.interval = REFRESH_SECONDS

    def __enter__(self) -> Self:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self) -> None:
        """Draw the bar or log a line, unless `interval` seconds have not passed yet."""
        now = monotonic()
        if now - self.last_shown < self.interval:
            return
        self.last_shown = now
        if self.bar is None:
            logger.info("%s", self.summary())
        else:
            self.bar.update(self.task, description=localized(self.summary()), completed=self.amount_read())
            self.bar.refresh()

    def summary(self) -> Message:
        """A line with the counts so far: pages, pages a second, bytes before and after, skipped and broken records."""
        tally = self.tally
        seconds = max(0.001, monotonic() - self.started)
        return plural(
            "{n} page done, {rate} pages/s, {before} to {after}, {skipped} left out, {broken} broken",
            "{n} pages done, {rate} pages/s, {before} to {after}, {skipped} left out, {broken} broken",
            tally.pages,
            rate=f"{tally.pages / seconds:.1f}",
            before=byte_size(tally.before),
            after=byte_size(tally.after),
            skipped=f"{sum(tally.skipped.values()):,}",
            broken=f"{tally.broken:,}",
        )

    def say(self, line: str) -> None:
        """Print a line on standard error, above the bar if there is one."""
        if self.bar is None:
            print(printable(line), file=sys.stderr)
        else:
            self.bar.console.print(Text(printable(line)), soft_wrap=True)


def outcome_lines(tally: CleaningCounts) -> Iterator[Message]:
    """The closing lines about skipped records and pages that were cut off."""
    if tally.skipped:
        yield Message("Left out: {reasons}.", {"reasons": ranked(tally.skipped)})
    if tally.cut:
        yield Message("Cut: {reasons}.", {"reasons": ranked(tally.cut)})
