"""A pipeline that never comes to an end for one page, as a broken one of a user would."""

import asyncio

from crawler.items import PageItem


class HangingPipeline:
    async def process_item(self, item: PageItem) -> PageItem:
        if item.url.endswith("/hang"):
            await asyncio.sleep(3600)
        return item
