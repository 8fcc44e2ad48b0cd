"""The last pipeline, which ends the leases of items so that they are stored; and a time limit for all pipelines."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.pipelines import ItemPipelineManager

from crawler.crawl import crawl_of
from crawler.recrawl.page_history import PageChange

if TYPE_CHECKING:
    from crawler.items import ImageItem, PageItem
    from crawler.spiders.request_outcomes import Leases


class StorePipeline:
    """Ends the leases of items with their results, which the frontier passes on to be stored."""

    def __init__(self, leases: Leases) -> None:
        self.leases = leases

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawl_of(crawler).leases)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if item.lease is not None:
            record = {field.name: getattr(item, field.name) for field in fields(item)}
            self.leases.finish(item.lease, replace(item.result, record=record))
        if item.result.check is not None and item.result.check.found is PageChange.RENEWED:
            raise DropItem("another version of the extraction made a text of it before: it counts as unchanged")
        return item


class LimitedPipelines(ItemPipelineManager):
    """Runs the item pipelines; an item that takes longer than STALL_LIMIT is given up with a TimeoutError."""

    limit: float | None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        pipelines = super().from_crawler(crawler)
        pipelines.limit = crawler.settings.getfloat("STALL_LIMIT") or None
        return pipelines

    async def process_item_async(self, item: Any) -> Any:
        async with asyncio.timeout(self.limit):
            return await super().process_item_async(item)
