"""Where items go: one JSON object a line, whole lines whatever happens to the process."""

import asyncio
import json
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.items import ImageItem, PageItem
from crawler.spiders.topic import spider_of

# Ends of lines to some readers, which JSON leaves as they are.
OTHER_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
PAGE_FIELDS = tuple(field.name for field in fields(PageItem))


class JsonLines:
    """A file of JSON objects, one a line, each written in one piece.

    What an earlier run left there is kept as NAME.previous.jsonl.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1

    def open(self) -> None:
        """Start an empty file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and self.path.stat().st_size:
            self.path.replace(self.path.with_suffix(f".previous{self.path.suffix}"))
        self._file = os.open(
            self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644
        )

    def write(self, record: dict[str, object]) -> None:
        """Append one record."""
        text = json.dumps(record, ensure_ascii=False)
        data = OTHER_LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text).encode("utf-8", "replace") + b"\n"
        start = os.lseek(self._file, 0, os.SEEK_END)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            os.ftruncate(self._file, start)
            raise

    def close(self) -> None:
        """Write nothing more."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class StorePipeline:
    """Appends page items to OUTPUT_DIR/NAME.jsonl."""

    def __init__(self, crawler: Crawler, path: Path) -> None:
        self.crawler = crawler
        self.file = JsonLines(path)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, Path(crawler.settings["OUTPUT_DIR"]) / f"{spider_of(crawler).arguments.name}.jsonl")

    def open_spider(self) -> None:
        self.file.open()

    def close_spider(self) -> None:
        self.file.close()

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if isinstance(item, PageItem):
            try:
                self.file.write({name: getattr(item, name) for name in PAGE_FIELDS})
            except OSError as error:
                self.give_up(error)
                raise DropItem(f"cannot be written: {error.strerror}") from error
        return item

    def give_up(self, error: OSError) -> None:
        """End the crawl: what it would fetch now could not be kept."""
        spider = spider_of(self.crawler)
        if not spider.broken:
            spider.broken = f"{self.file.path} cannot be written to: {error.strerror}"
            self.closing = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason="output"))
