"""The item pipelines, in the order in which an item passes them: extraction, image files, the end of leases.

`LimitedPipelines` runs them, with one time limit for an item in all of them. A lease is a worker's claim on an address,
from the request of the address to its result.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.pipelines import ItemPipelineManager

from crawler.arguments import Arguments, ItemMarkdown
from crawler.build_crawl import crawl_of
from crawler.checked_settings import judge_of
from crawler.doors import Door, load, names
from crawler.extraction import Extractor
from crawler.extraction.document_text import METHOD as DOCUMENT
from crawler.items import ImageItem, PageItem
from crawler.metadata.record_readers import READERS
from crawler.metadata.text_quality import text_quality
from crawler.noise.page_images import all_images, judged_images
from crawler.noise.page_markdown import page_markdown
from crawler.noise.verdict import Judge
from crawler.outcomes import Code, Outcome
from crawler.page.page import Extraction, Page
from crawler.recrawl.page_history import PageChange
from crawler.spiders.crawl_status import OutcomeCounts
from crawler.spiders.links_and_images import PageImages
from crawler.spiders.request_outcomes import Leases

logger = logging.getLogger(__name__)
ALREADY_READ = ("language", "rights")
"""Fields that are read before the others, because they decide whether the page is kept."""


@dataclass(frozen=True)
class ImageListing:
    """Lists the images of a page for its item."""

    images: PageImages
    judge: Judge | None
    """None if images are not judged."""

    def of(self, page: Page) -> list[dict[str, Any]]:
        """The images that are content. If none is downloaded, all images: judging only for the list would take as long
        as extraction.
        """
        if self.judge is None or not self.images.are_requested:
            return all_images(page)
        return judged_images(page, page.once(self.images.sightings), self.judge)


class ExtractPipeline:
    """Fills in the fields of a page, and drops pages in languages that `lang` does not name."""

    def __init__(
        self,
        *,
        extract: Extractor,
        method: str,
        arguments: Arguments,
        leases: Leases,
        images: ImageListing,
        counts: OutcomeCounts,
    ) -> None:
        self.extract = extract
        self.method = method
        self.leases = leases
        self.counts = counts
        self.own_fields = arguments.fields
        self.item_fields = {name: load(Door.ITEM_FIELDS, name) for name in names(Door.ITEM_FIELDS)}
        self.languages = arguments.lang
        self.markdown = arguments.markdown
        self.images = images
        readers = dict(READERS)
        if arguments.quality:
            readers["quality"] = text_quality
        self.readers = {name: read for name, read in readers.items() if name not in ALREADY_READ}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        judge = None
        if crawl.images.are_judged:
            judge = judge_of(crawler.settings)
        images = ImageListing(crawl.images, judge)
        return cls(
            extract=crawl.reader.extract,
            method=crawl.method,
            arguments=crawl.arguments,
            leases=crawl.leases,
            images=images,
            counts=crawl.counts,
        )

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if not isinstance(item, PageItem) or item.page is None:
            return item
        page = item.page
        extraction = page.once(self.extract)

        # Drop a page in another language.
        item.language = READERS["language"](page, extraction)
        if self.languages and item.language not in self.languages:
            if item.lease is not None:
                outcome = Outcome(Code.LANGUAGE, item.language or "")
                # Nothing of the page is stored, so its check for changes and its response are left out, too.
                self.leases.finish(item.lease, replace(item.result, outcome=outcome, check=None, response=None))
            raise DropItem(f"in {item.language or 'an unknown language'}")

        # Read the fields of the record.
        for name, read in self.readers.items():
            setattr(item, name, read(page, extraction))
        item.images = self.images.of(page)
        if self.markdown is not ItemMarkdown.NO:
            has_links = self.markdown is ItemMarkdown.LINKS
            item.markdown = page_markdown(page, extraction, has_links, self.images.judge is not None)

        # Read own fields: first those of other packages, then those of `-a fields=`.
        if self.item_fields:
            item.own_fields = self._values_of_packages(page, extraction)
        if self.own_fields is not None:
            own_values = self.own_fields.read(page.url, page.root)
            item.own_fields = {**(item.own_fields or {}), **own_values.values}
            self.counts.count(Outcome(Code.FIELDS_CUT), own_values.cut)
            for failure in own_values.failures:
                self.counts.count(Outcome(Code.FIELD_FAILED, failure))

        item.extractor = extraction.method or self.method
        if page.document is not None:
            item.extractor = DOCUMENT
        return item

    def _values_of_packages(self, page: Page, extraction: Extraction) -> dict[str, Any]:
        """The values of the fields that other packages add; a field that fails is None."""
        values: dict[str, Any] = {}
        for name, read in self.item_fields.items():
            try:
                values[name] = read(page, extraction)
            except Exception:  # of another package, on any page of the web
                values[name] = None
                logger.exception("The field %s of %s could not be read.", name, page.url)
                self.counts.count(Outcome(Code.FIELD_FAILED, name))
        return values


class ImagesPipeline:
    """Writes images to OUTPUT_DIR/images/, in files named by a hash of the content."""

    def __init__(self, folder: Path, count: Callable[..., None], abort: Callable[[str], None]) -> None:
        self.folder = folder
        self.count = count
        """Adds to the statistic of a name, by default 1."""
        self.abort = abort
        """Stops the crawl for a reason."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        if not crawl.arguments.images:
            raise NotConfigured  # without a message: no images were requested
        return cls(Path(crawler.settings["OUTPUT_DIR"]) / "images", crawler.stats.inc_value, crawl.status.abort)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if isinstance(item, ImageItem):
            name = hashlib.blake2b(item.body, digest_size=16).hexdigest()
            path = self.folder / name[:2] / (name + item.ending)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(item.body)
            except OSError as error:
                self.abort(f"{path} cannot be written to: {error.strerror}")
                raise DropItem(f"cannot be written: {error.strerror}") from error
            item.path = path.as_posix()
            item.size = len(item.body)
            verdict = item.result.verdict
            # Noise that is downloaded for an audit does not count as an image of the crawl.
            if verdict is not None and verdict["audited"]:
                self.count("image_noise/fetched")
            else:
                self.count("images")
                self.count("images/bytes", item.size)
        return item


class StorePipeline:
    """Ends the lease of each item with its result, which the frontier passes on to be stored."""

    def __init__(self, leases: Leases) -> None:
        self.leases = leases

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawl_of(crawler).leases)

    def process_item(self, item: PageItem | ImageItem) -> PageItem | ImageItem:
        if isinstance(item, PageItem) and item.own_fields:
            item.own_fields = json.loads(json.dumps(item.own_fields, default=str))  # dates and the like as texts
        if item.lease is not None:
            record = {field.name: getattr(item, field.name) for field in fields(item)}
            self.leases.finish(item.lease, replace(item.result, record=record))
        if item.result.check is not None and item.result.check.change is PageChange.RENEWED:
            raise DropItem("its text was extracted again in another way, so the page counts as unchanged")
        return item


class LimitedPipelines(ItemPipelineManager):
    """Runs the item pipelines; an item that takes longer than STALL_LIMIT fails with a TimeoutError."""

    limit: float | None
    """The time limit of an item, in seconds; None without a limit."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        pipelines = super().from_crawler(crawler)
        pipelines.limit = crawler.settings.getfloat("STALL_LIMIT") or None
        return pipelines

    async def process_item_async(self, item: Any) -> Any:
        async with asyncio.timeout(self.limit):
            return await super().process_item_async(item)
