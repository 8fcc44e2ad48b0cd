"""Downloaded pictures, one file for each distinct content."""

import hashlib
import mimetypes
from dataclasses import asdict
from pathlib import Path
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import StatsCollector

from crawler.items import ImageItem, PageItem
from crawler.pipelines.store import JsonLines
from crawler.spiders.topic import spider_of


class ImagesPipeline:
    """Writes pictures to OUTPUT_DIR/images/ under a name made from their content, and lists them beside the pages."""

    def __init__(self, folder: Path, index: Path, stats: StatsCollector) -> None:
        self.stats = stats
        self.folder = folder
        self.index = JsonLines(index)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        arguments, output = spider_of(crawler).arguments, Path(crawler.settings["OUTPUT_DIR"])
        if not arguments.images:
            raise NotConfigured  # without words: nobody asked for pictures
        return cls(output / "images", output / f"{arguments.name}.images.jsonl", crawler.stats)

    def open_spider(self) -> None:
        self.index.open()

    def close_spider(self) -> None:
        self.index.close()

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if isinstance(item, ImageItem):
            name = hashlib.blake2b(item.body, digest_size=16).hexdigest()
            path = self.folder / name[:2] / (name + (mimetypes.guess_extension(item.content_type) or ".image"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(item.body)
            item.path, item.size = path.as_posix(), len(item.body)
            self.index.write(asdict(item))
            self.stats.inc_value("images")
        return item
