"""How the cleaning of saved pages goes: a live bar on a terminal, a line in the log now and then elsewhere."""

import logging
import sys
from collections.abc import Sequence
from time import monotonic
from typing import Protocol, Self

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from crawler.bulk.cleaning import CleaningCounts
from crawler.extensions.progress import REFRESH_SECONDS
from crawler.translation.message import counted, printable

logger = logging.getLogger(__name__)


class Measured(Protocol):
    """What is read: how many bytes it has, 0 where nobody knows, and how many of them were read."""

    @property
    def size(self) -> int: ...
    @property
    def position(self) -> int: ...


class CleaningProgress:
    """Shows the counts of records from time to time, and between them what is wrong with single ones."""

    def __init__(self, inputs: Sequence[Measured], tally: CleaningCounts, interval: float) -> None:
        self.inputs, self.tally = inputs, tally
        self.total = sum(one.size for one in inputs) if all(one.size for one in inputs) else None
        self.started = self.last = monotonic()
        self.bar: Progress | None = None
        self.interval = interval
        if sys.stderr.isatty():
            columns = (SpinnerColumn(), BarColumn(bar_width=10), TextColumn("{task.description}"))
            self.bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
            self.task = self.bar.add_task("", total=self.total)
            self.interval = REFRESH_SECONDS

    def __enter__(self) -> Self:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self) -> None:
        """Draw the bar or log a line, if it is time to."""
        now = monotonic()
        if now - self.last < self.interval:
            return
        self.last = now
        if self.bar is None:
            logger.info(self.words())
        else:
            self.bar.update(self.task, description=self.words(), completed=self.read())
            self.bar.refresh()

    def read(self) -> int:
        """How many bytes of the inputs were read."""
        return sum(one.position for one in self.inputs)

    def words(self) -> str:
        """Pages done, pages a second, bytes before and after, left out and broken."""
        tally, seconds = self.tally, max(0.001, monotonic() - self.started)
        return (
            f"{counted(tally.pages, 'page')} done, {tally.pages / seconds:.1f} pages/s, {decimal(tally.before)} to "
            f"{decimal(tally.after)}, {sum(tally.skipped.values()):,} left out, {tally.broken:,} broken"
        )

    def say(self, line: str) -> None:
        """Print a line on standard error, above the bar if there is one."""
        if self.bar is None:
            print(printable(line), file=sys.stderr)
        else:
            self.bar.console.print(Text(printable(line)), soft_wrap=True)
