"""The local files of a project's feeds: exported items are in the file before their request counts as done.

Feeds in other places (S3, FTP) and compressed ones are complete only when a run ends by itself.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedExporter, FeedSlot, FileFeedStorage

LINE_FORMATS = ("jsonlines", "jsonl", "jl")
BLOCK_BYTES = 65_536  # read at a time, from the end of a file


class FeedFiles:
    """Flushes the files that Scrapy's exporter writes."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    def flush(self, to_disk: bool = False) -> None:
        """Pass exported items to the operating system, which writes them even if the process is killed; with `to_disk`,
        also sync them to the disk, so that they survive a loss of power.
        """
        for slot in self._slots():
            if slot.file is not None and not slot.file.closed:
                slot.file.flush()
                if to_disk:
                    with suppress(OSError):  # a pipe cannot be synced
                        os.fsync(slot.file.fileno())

    def cut_torn_lines(self) -> None:
        """Cut off incomplete last lines, which a loss of power leaves; their pages are requested again."""
        for slot in self._slots():
            path = Path(getattr(slot.storage, "path", ""))
            if slot.format in LINE_FORMATS and path.is_file():
                os.truncate(path, end_of_lines(path))

    def append_only(self) -> None:
        """Append to files that -O would overwrite: they have items of the crawl that continues, or of a running one."""
        exporter = self.crawler.get_extension(FeedExporter)
        if exporter is not None:
            for options in exporter.feeds.values():
                options["overwrite"] = False

    def _slots(self) -> Iterator[FeedSlot]:
        exporter = self.crawler.get_extension(FeedExporter)
        if exporter is not None:
            yield from (slot for slot in exporter.slots if isinstance(slot.storage, FileFeedStorage))


def end_of_lines(path: Path) -> int:
    """The offset after the last line end of a file."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - BLOCK_BYTES)
            file.seek(start)
            line_end = file.read(end - start).rfind(b"\n")
            if line_end >= 0:
                return start + line_end + 1
            end = start
    return 0
