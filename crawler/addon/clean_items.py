"""Adds the field `clean` to the items of a project: the text of their page, and more."""

import logging
from typing import Any

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from crawler.addon.near_duplicates import NearDuplicates
from crawler.addon.response_page import html_page
from crawler.api.document import Document
from crawler.extraction import EXTRACTORS

logger = logging.getLogger(__name__)

FIELD = "clean"


class CleanItems(BaseSpiderMiddleware):
    """Gives each item the mapping that `crawler.clean(...).fields()` returns for its page."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._classes_without_field: set[type] = set()
        """Classes of items about which a warning was logged."""
        self._near_duplicates = None
        if crawler.settings.getbool("WINNOW_FIND_NEAR_DUPLICATES"):
            self._near_duplicates = NearDuplicates()

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if response is None or not ItemAdapter.is_item(item):
            return item
        page = html_page(response)
        if page is None or not self._may_fill_field(item):
            return item
        fields = Document(page, EXTRACTORS["auto"]).fields()
        if self._near_duplicates is not None:
            fields["duplicate_of"] = self._near_duplicates.original_of(page.url, fields["text"])
            self.crawler.stats.inc_value("winnow/near_duplicates", int(fields["duplicate_of"] is not None))
        ItemAdapter(item)[FIELD] = fields
        return item

    def _may_fill_field(self, item: Any) -> bool:
        """Whether the item has the field and it is empty; logs a warning once for each class of items without it."""
        adapter = ItemAdapter(item)
        if not isinstance(item, dict) and FIELD not in adapter.field_names():
            if type(item) not in self._classes_without_field:
                self._classes_without_field.add(type(item))
                logger.warning("Items of %s have no field %r: they stay as they are", type(item).__qualname__, FIELD)
            return False
        return adapter.get(FIELD) is None
