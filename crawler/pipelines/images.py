"""Downloaded pictures, one file for each distinct content."""

import hashlib
from pathlib import Path
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured

from crawler.items import ImageItem, PageItem
from crawler.spiders.topic import spider_of


class ImagesPipeline:
    """Writes pictures to OUTPUT_DIR/images/ under a name made from their content alone."""

    def __init__(self, folder: Path, crawler: Crawler) -> None:
        self.spider = spider_of(crawler)
        self.stats = crawler.stats
        self.folder = folder

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not spider_of(crawler).arguments.images:
            raise NotConfigured  # without words: nobody asked for pictures
        return cls(Path(crawler.settings["OUTPUT_DIR"]) / "images", crawler)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if isinstance(item, ImageItem):
            name = hashlib.blake2b(item.body, digest_size=16).hexdigest()
            path = self.folder / name[:2] / (name + item.ending)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(item.body)
            except OSError as error:
                self.spider.give_up(f"{path} cannot be written to: {error.strerror}")
                raise DropItem(f"cannot be written: {error.strerror}") from error
            item.path, item.size = path.as_posix(), len(item.body)
            verdict = self.spider.frontier.verdict(item.lease)
            # Noise that was fetched to see whether it is says nothing of the pictures that one keeps.
            if verdict is not None and verdict["audited"]:
                self.stats.inc_value("image_noise/fetched")
            else:
                self.stats.inc_value("images")
                self.stats.inc_value("images/bytes", item.size)
        return item
