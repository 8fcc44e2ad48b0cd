"""Extraction: fills in the fields of a page's item."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.crawl import crawl_of
from crawler.extraction.output.markdown import markdown
from crawler.items import ImageItem, PageItem
from crawler.metadata.record_readers import READERS
from crawler.noise.verdict import noise_of
from crawler.outcomes import Code, Outcome

if TYPE_CHECKING:
    from crawler.arguments import Arguments
    from crawler.extraction import Extractor
    from crawler.spiders.request_outcomes import Leases


class ExtractPipeline:
    """Fills in a page item from its page, and drops pages in other languages than `lang` names."""

    def __init__(
        self, extract: Extractor, method: str, arguments: Arguments, leases: Leases, judges_images: bool
    ) -> None:
        self.extract, self.method, self.leases = extract, method, leases
        self.languages, self.markdown = arguments.lang, arguments.markdown
        self.judges_images = judges_images

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        return cls(crawl.reader.extract, crawl.method, crawl.arguments, crawl.leases, crawl.images.judged)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        page = item.page if isinstance(item, PageItem) else None
        if not isinstance(item, PageItem) or page is None:
            return item
        extraction = page.once(self.extract)
        item.language = READERS["language"](page, extraction)
        if self.languages and item.language not in self.languages:
            if item.lease is not None:
                outcome = Outcome(Code.LANGUAGE, item.language or "")
                self.leases.finish(item.lease, replace(item.result, outcome=outcome, check=None, response=None))
            raise DropItem(f"in {item.language or 'an unknown language'}")
        for name, read in READERS.items():
            if name != "language":
                setattr(item, name, read(page, extraction))
        if self.markdown != "no":
            refused = noise_of(page, extraction) if self.judges_images else frozenset()
            item.markdown = markdown(page, extraction.blocks, self.markdown == "links", refused)
        item.extractor = self.method
        return item
