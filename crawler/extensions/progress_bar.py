"""The live bar of a crawl's progress, and the log above it. Imported only on a terminal, as rich is slow to import."""

from __future__ import annotations

import logging
import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text
from scrapy.utils.log import get_scrapy_root_handler


class ProgressBar:
    """A bar at the bottom of the terminal; the log is sent through it so that they do not mix."""

    def __init__(self) -> None:
        columns = (SpinnerColumn(), BarColumn(bar_width=10), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
        self._task = self._bar.add_task("")

    def start(self) -> None:
        """Show the bar."""
        self._bar.start()
        _log_to(_AboveTheBar(self._bar.console))

    def draw(self, description: str, completed: int, total: int) -> None:
        """Draw the bar with these numbers."""
        self._bar.update(self._task, description=description, completed=completed, total=total)
        self._bar.refresh()

    def stop(self) -> None:
        """Remove the bar."""
        self._bar.stop()
        _log_to(sys.stderr)


class _AboveTheBar:
    """A stream whose lines appear above the bar, unchanged."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def write(self, text: str) -> None:
        self.console.print(Text.from_ansi(text.rstrip("\n")), soft_wrap=True)

    def flush(self) -> None:
        """The console has already written the line."""


def _log_to(stream: object) -> None:
    """Send the log to a stream, unless it goes to a file."""
    handler = get_scrapy_root_handler()
    if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
        handler.setStream(stream)
