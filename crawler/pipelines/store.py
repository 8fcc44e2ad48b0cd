"""Where items go: with all that their pages caused, into the state and the files of JSON lines, in one transaction."""

from dataclasses import fields, replace
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.crawl import crawl_of
from crawler.items import ImageItem, PageItem
from crawler.spiders.leases import Leases
from crawler.state.entries import Found


class StorePipeline:
    """Ends the leases of items with their results: the frontier hands them on to be stored."""

    def __init__(self, leases: Leases) -> None:
        self.leases = leases

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawl_of(crawler).leases)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if item.lent is not None:
            record = {field.name: getattr(item, field.name) for field in fields(item)}
            self.leases.finish(item.lent, replace(item.result, record=record))
        if item.result.check is not None and item.result.check.found is Found.RENEWED:
            raise DropItem("another version of the extraction made a text of it before: it counts as unchanged")
        return item
