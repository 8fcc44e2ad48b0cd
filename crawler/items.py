"""What a crawl yields."""

from dataclasses import dataclass, field

from crawler.page import Page
from crawler.state.entries import Check


@dataclass
class PageItem:
    """A cleaned page; the README's table says what each field holds."""

    url: str
    requested_url: str
    fetched_at: str
    status: int
    depth: int
    parent: str | None
    language: str | None = None
    title: str = ""
    text: str = ""
    markdown: str | None = None
    comments: str = ""
    author: str = ""
    published: str | None = None
    page_type: str = ""
    relevance: float = 0.0
    link_score: float | None = None
    via: str = "link"
    extractor: str = ""
    text_fingerprint: str | None = None
    duplicate_of: str | None = None
    images: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # These travel with the item through the pipelines; not fields, so no feed writes them.
        self.page: Page | None = None
        self.lease = 0
        self.validators: dict[str, str] = {}
        """ETag and Last-Modified, by which a site says whether a page is still the same."""
        self.check: Check | None = None


@dataclass
class ImageItem:
    """A downloaded picture, and the page it was found on."""

    url: str
    page: str
    content_type: str
    path: str = ""
    size: int = 0

    def __post_init__(self) -> None:
        self.body = b""
        self.ending = ""
        """Of its file, by its content."""
        self.lease = 0
