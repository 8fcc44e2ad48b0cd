"""The items of a crawl: pages and images.

Each field of a page stands here once: its item, column, exports and view derive from `PageRecord`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args, get_origin, get_type_hints

from crawler.frontier.page_result import Lease, PageResult
from crawler.translation.message import N_

if TYPE_CHECKING:
    from crawler.page.page import Page


@dataclass
class PageRecord:
    """A cleaned page."""

    url: str
    """The page's address, after redirects."""
    requested_url: str
    """The address that was requested."""
    fetched_at: str
    """When the page was fetched: ISO 8601, in UTC."""
    status: int
    """The HTTP status."""
    depth: int
    """How many links the page is away from the seeds."""
    parent: str | None
    """The address of the page on which the link was found."""
    language: str | None = None
    """The two-letter code of the text's language."""
    title: str = ""
    """The headline."""
    text: str = ""
    """The main text, a paragraph a line; empty where the page has none."""
    markdown: str | None = None
    """The main text as Markdown, with its images, if `-a markdown=yes` or `links` asks for it."""
    comments: str = ""
    """Readers' comments below the text, a paragraph a line; only the method `auto` finds them."""
    author: str = ""
    """Who wrote it, as the page says; `; ` joins several names. Empty where the page does not say so clearly."""
    published: str | None = None
    """The date of publication as the page gives it, ISO 8601."""
    page_type: str = ""
    """The likeliest of `article`, `forum`, `product`, `collection`, `listing`, `documentation` and `service`; only the
    method `auto` tells it.
    """
    relevance: float = 0.0
    """How much the text is about the topic, from 0 to 1."""
    link_score: float | None = None
    """How promising the link was when the page was requested, from 0 to 1; null for seeds, what they list, and links
    without words.
    """
    via: str = "link"
    """How the address was found: `seed`, `sitemap`, `feed`, `link`, `image`, `refresh` (by a page that sends readers
    on) or `exploration` (a link chosen by chance).
    """
    extractor: str = ""
    """The method that extracted the text."""
    text_fingerprint: str | None = None
    """16 hex digits: the same for texts that differ in case, space and punctuation only."""
    duplicate_of: str | None = None
    """The address of the page that this is a near-duplicate of; always null in files of Scrapy's `-O` and `-o`."""
    images: list[dict[str, str]] = field(default_factory=list)
    """The images of the page, each `{"url": …, "alt": …}`."""


LABELS = {"author": N_("Author"), "published": N_("Published")}
"""What the dashboard calls the fields that it lists among a page's facts."""
_HINTS = get_type_hints(PageRecord)
IS_OPTIONAL = {name: type(None) in get_args(hint) for name, hint in _HINTS.items()}
"""Whether a field may be None."""
TYPES: dict[str, type] = {
    name: list if get_origin(hint) is list else next(iter(get_args(hint)), hint) for name, hint in _HINTS.items()
}
"""What each field holds where it is not None: str, int, float or list."""


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
