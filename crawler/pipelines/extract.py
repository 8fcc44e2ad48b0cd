"""Cleaning: a fetched page becomes clean text, and what is known of it."""

from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from crawler.author import author
from crawler.extraction.markdown import markdown
from crawler.items import ImageItem, PageItem
from crawler.language import language
from crawler.noise.verdict import noise_of
from crawler.published import published
from crawler.spiders.topic import spider_of
from crawler.text import fingerprint
from crawler.walk import ImageLink


class ExtractPipeline:
    """Fills in a page item from its page, and drops pages in languages that are not wanted."""

    def __init__(self, crawler: Crawler) -> None:
        self.spider = spider_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        page = item.page if isinstance(item, PageItem) else None
        if not isinstance(item, PageItem) or page is None:
            return item
        extraction = page.once(self.spider.extract)
        item.language = language(extraction.text or extraction.title, page.language)
        wanted = self.spider.arguments.lang
        if wanted and item.language not in wanted:
            self.spider.reasons.count(f"skipped/language/{item.language or 'unknown'}")
            raise DropItem(f"in {item.language or 'an unknown language'}")
        item.title, item.text, item.comments = extraction.title, extraction.text, extraction.comments
        if (wish := self.spider.arguments.markdown) != "no":
            refused = noise_of(page, extraction) if self.spider.pictures.judged else frozenset()
            item.markdown = markdown(page, extraction.blocks, wish == "links", refused)
        item.author, item.published, item.page_type = author(page), published(page), extraction.page_type
        item.extractor = self.spider.method
        item.text_fingerprint = fingerprint(extraction.text)
        item.images = [{"url": url, "alt": alt} for url, alt in _distinct(page.images).items()]
        return item


def _distinct(images: tuple[ImageLink, ...]) -> dict[str, str]:
    """The pictures' addresses in page order, each with the first description it has."""
    found: dict[str, str] = {}
    for image in images:
        found[image.url] = found.get(image.url) or image.alt
    return found
