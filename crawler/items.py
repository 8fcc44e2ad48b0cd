"""The items of a crawl: pages and images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.frontier.page_result import Lease, PageResult
from crawler.metadata.page_record import PageRecord

if TYPE_CHECKING:
    from crawler.page.page import Page


@dataclass
class PageItem(PageRecord):
    """The record of a page on its way through the pipelines."""

    def __post_init__(self) -> None:
        # Not fields, so that feeds do not write them.
        self.page: Page | None = None
        self.lease: Lease | None = None
        self.result = PageResult()
        """All else that the request brought."""


@dataclass
class ImageItem:
    """A downloaded image, and the page it was found on."""

    url: str
    """The image's address."""
    page: str
    """The address of the page."""
    content_type: str
    """The type that the server gave."""
    path: str = ""
    """The path of its file in `output/images/`, which is named by its content."""
    size: int = 0
    """Bytes."""

    def __post_init__(self) -> None:
        self.body = b""
        self.ending = ""
        """The ending of its file, by its content."""
        self.lease: Lease | None = None
        self.result = PageResult()
