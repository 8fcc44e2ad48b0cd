"""Downloaded images, one file for each distinct content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured

from crawler.crawl import crawl_of
from crawler.items import ImageItem, PageItem


class ImagesPipeline:
    """Writes images to OUTPUT_DIR/images/, named by a hash of their content."""

    def __init__(self, folder: Path, count: Callable[..., None], abort: Callable[[str], None]) -> None:
        self.folder, self.count, self.abort = folder, count, abort

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        if not crawl.arguments.images:
            raise NotConfigured  # without a message: no images were asked for
        return cls(Path(crawler.settings["OUTPUT_DIR"]) / "images", crawler.stats.inc_value, crawl.status.abort)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if isinstance(item, ImageItem):
            name = hashlib.blake2b(item.body, digest_size=16).hexdigest()
            path = self.folder / name[:2] / (name + item.ending)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(item.body)
            except OSError as error:
                self.abort(f"{path} cannot be written to: {error.strerror}")
                raise DropItem(f"cannot be written: {error.strerror}") from error
            item.path, item.size = path.as_posix(), len(item.body)
            verdict = item.result.verdict
            # Noise that is downloaded for an audit is not counted as an image of the crawl.
            if verdict is not None and verdict["audited"]:
                self.count("image_noise/fetched")
            else:
                self.count("images")
                self.count("images/bytes", item.size)
        return item
