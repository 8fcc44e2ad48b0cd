"""Where items go: with all that their pages caused, into the state and the files of JSON lines, in one transaction."""

from dataclasses import fields
from typing import Self

from scrapy.crawler import Crawler

from crawler.items import ImageItem, PageItem
from crawler.spiders.topic import spider_of


class StorePipeline:
    """Ends the leases of items: the frontier hands them on to be stored."""

    def __init__(self, crawler: Crawler) -> None:
        self.frontier = spider_of(crawler).frontier

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        record = {field.name: getattr(item, field.name) for field in fields(item)}
        self.frontier.end(item.lease, "", record, item.validators if isinstance(item, PageItem) else {})
        return item
