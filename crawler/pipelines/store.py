"""Where items go: with all that their pages caused, into the state and the files of JSON lines, in one transaction."""

from dataclasses import fields
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.items import ImageItem, PageItem
from crawler.spiders.topic import spider_of
from crawler.state.entries import Found


class StorePipeline:
    """Ends the leases of items: the frontier hands them on to be stored."""

    def __init__(self, crawler: Crawler) -> None:
        self.spider = spider_of(crawler)
        self.frontier = self.spider.frontier

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        record = {field.name: getattr(item, field.name) for field in fields(item)}
        if isinstance(item, PageItem):
            self.frontier.end(item.lease, "", record, item.validators, item.check)
            found = item.check.found if item.check is not None else Found.NEW
            self.spider.comes_again(found)
            if found is Found.RENEWED:
                raise DropItem("another version of the extraction made a text of it before: it counts as unchanged")
        else:
            self.frontier.end(item.lease, "", record)
        return item
