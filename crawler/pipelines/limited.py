"""Pipelines that may not hang: what a pipeline does to an item has a time limit."""

import asyncio
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.pipelines import ItemPipelineManager


class LimitedPipelines(ItemPipelineManager):
    """Runs the item pipelines; an item that is not through them in time is given up with a TimeoutError."""

    limit: float | None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        pipelines = super().from_crawler(crawler)
        pipelines.limit = crawler.settings.getfloat("STALL_LIMIT") or None
        return pipelines

    async def process_item_async(self, item: Any) -> Any:
        async with asyncio.timeout(self.limit):
            return await super().process_item_async(item)
