"""Cleaning: a fetched page becomes clean text, and what is known of it."""

from dataclasses import replace
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.crawl import Crawl, crawl_of
from crawler.extraction.output.markdown import markdown
from crawler.items import ImageItem, PageItem
from crawler.metadata.page_record import READERS
from crawler.noise.verdict import noise_of
from crawler.outcomes import Code, Outcome


class ExtractPipeline:
    """Fills in a page item from its page, and drops pages in languages that are not wanted."""

    def __init__(self, crawl: Crawl) -> None:
        self.extract, self.method, self.leases = crawl.reader.extract, crawl.method, crawl.leases
        self.languages, self.markdown = crawl.arguments.lang, crawl.arguments.markdown
        self.judges_pictures = crawl.pictures.judged

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawl_of(crawler))

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
            refused = noise_of(page, extraction) if self.judges_pictures else frozenset()
            item.markdown = markdown(page, extraction.blocks, self.markdown == "links", refused)
        item.extractor = self.method
        return item
