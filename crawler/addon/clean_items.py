"""Adds the field `clean` to the items of a project: the text of their page, and more."""

import logging
from collections import Counter, OrderedDict, defaultdict
from typing import Any
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from crawler.api.document import Document
from crawler.extraction import EXTRACTORS
from crawler.page.page import Page, is_html
from crawler.recrawl.near_duplicates import NEAR, bands, signature, similarity
from crawler.spiders.page_reader import header, page_of

logger = logging.getLogger(__name__)

FIELD = "clean"
MOST_PAGES = 100_000  # pages that are remembered
MOST_LIKE = 40  # pages that one page is compared with
_pages: WeakKeyDictionary[Response, Page] = WeakKeyDictionary()


def html_page(response: Response) -> Page | None:
    """The page, or None if the response is not HTML."""
    if response not in _pages and is_html(header(response.headers, "Content-Type"), response.body):
        _pages[response] = page_of(response)
    return _pages.get(response)


class NearDuplicates:
    """The signatures of the last pages that were not near-duplicates, by address and by band."""

    def __init__(self, most: int = MOST_PAGES) -> None:
        self.most = most
        self._signatures: OrderedDict[str, bytes] = OrderedDict()
        self._of_band: defaultdict[int, list[str]] = defaultdict(list)

    def original_of(self, url: str, text: str) -> str | None:
        """The address of an earlier page with nearly the same text; if there is none, None, and the page is
        remembered.
        """
        mine = signature(text)
        if mine is None or url in self._signatures:  # too short to compare, or another item of the same page
            return None
        keys = bands(mine)
        likely = Counter(other for key in keys for other in self._of_band.get(key, ())).most_common(MOST_LIKE)
        best = max(((similarity(mine, self._signatures[other]), other) for other, _ in likely), default=(0.0, ""))
        if best[0] >= NEAR:
            return best[1]
        self._signatures[url] = mine
        for key in keys:
            self._of_band[key].append(url)
        if len(self._signatures) > self.most:
            self._forget(*self._signatures.popitem(last=False))
        return None

    def _forget(self, url: str, signature: bytes) -> None:
        for key in bands(signature):
            self._of_band[key].remove(url)
            if not self._of_band[key]:
                del self._of_band[key]


class CleanItems(BaseSpiderMiddleware):
    """Gives each item the mapping that `crawler.clean(...).fields()` returns for its page."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._lack_field: set[type] = set()
        wanted = crawler.settings.getbool("WINNOW_FIND_NEAR_DUPLICATES")
        self._near_duplicates = NearDuplicates() if wanted else None

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        page = html_page(response) if response is not None else None
        if page is None or not self._is_wanted(item):
            return item
        fields = Document(page, EXTRACTORS["auto"]).fields()
        if self._near_duplicates is not None:
            fields["duplicate_of"] = self._near_duplicates.original_of(page.url, fields["text"])
            self.crawler.stats.inc_value("winnow/near_duplicates", int(fields["duplicate_of"] is not None))
        ItemAdapter(item)[FIELD] = fields
        return item

    def _is_wanted(self, item: Any) -> bool:
        """Whether the item has the field and it is empty."""
        if not ItemAdapter.is_item(item):
            return False
        adapter = ItemAdapter(item)
        if not isinstance(item, dict) and FIELD not in adapter.field_names():
            if type(item) not in self._lack_field:
                self._lack_field.add(type(item))
                logger.warning("Items of %s have no field %r: they stay as they are", type(item).__qualname__, FIELD)
            return False
        return adapter.get(FIELD) is None
