"""What a crawl yields."""

from dataclasses import dataclass, field

from crawler.page import Page


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
    published: str | None = None
    relevance: float = 0.0
    extractor: str = ""
    text_fingerprint: str | None = None
    images: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Travels with the item through the pipelines; not a field, so no feed writes it.
        self.page: Page | None = None


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
