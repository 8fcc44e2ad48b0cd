"""The items of a crawl. A field of a page is defined once: item, column, exports and view derive from `PageRecord`."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, cast, get_args, get_origin, get_type_hints

from itemadapter import ItemAdapter
from itemadapter.adapter import DataclassAdapter

from crawler.frontier.page_result import FoundBy, Lease, PageResult
from crawler.page.page import Page
from crawler.translation.message import N_


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
    """The main text, usually from the headline on, a paragraph a line; empty where the page has none."""
    markdown: str | None = None
    """The main text as Markdown below its title, with images, if `-a markdown=yes` or `links` asks for it."""
    comments: str = ""
    """Readers' comments below the text, a paragraph a line; only the method `auto` finds them."""
    author: str = ""
    """Who wrote it, as the page says; `; ` joins several names. Empty where the page does not say so clearly."""
    published: str | None = None
    """The date of publication as the page gives it, ISO 8601."""
    published_source: str = ""
    """Where `published` was found: `structured_data` (JSON-LD), `meta`, `time_element`, `attribute`, `text` (a visible
    line), `address` or `script` (the data of another script); the first of these that has this date. `document`: a
    field of a PDF, office or text file. `feed`: the entry of a feed.
    """
    content_type: str = ""
    """The media type: `text/html`, `text/plain`, `text/markdown`, or that of a PDF, DOCX, ODT or EPUB file; empty where
    the server gives none.
    """
    page_count: int | None = None
    """How many pages a document has, if it says so; null for web pages."""
    page_type: str = ""
    """`article`, `forum`, `product`, `collection`, `listing`, `documentation` or `service`; empty where uncertain. Only
    the method `auto` tells more than `listing`.
    """
    quality: dict[str, float | None] | None = None
    """Numbers about the text; a crawl keeps pages whatever they are. It stores `certainty` and `kept_frac`, and with
    `-a quality=yes` also the others, which are named after published rules. Exports compute the numbers that they need.
    """
    relevance: float = 0.0
    """How much the text is about the topic, from 0 to 1."""
    link_score: float | None = None
    """How promising the link was when the page was requested, from 0 to 1; null for seeds, for addresses in sitemaps,
    feeds and other lists, and for links without words.
    """
    via: str = FoundBy.LINK.value
    """How the address was found: `seed`, `sitemap` (or an `llms.txt`), `feed`, `link`, `image` or `exploration` (a link
    chosen by chance).
    """
    extractor: str = ""
    """The method that extracted the text: that of the crawl, or the setting `EXTRACTOR_FALLBACK` if that one was in
    doubt; `document` for files that are no web pages and for entries of feeds, of which all text is taken.
    """
    extractor_version: str | None = None
    """The version of that method with its weights, such as `2:auto`: texts of two versions may differ."""
    text_fingerprint: str | None = None
    """16 hex digits: the same for texts that differ in case, space and punctuation only."""
    raw_digest: str | None = None
    """`sha256:` and 64 hex digits: of the body of the response, after its content encoding was undone. It is the
    WARC-Payload-Digest of the response in an export.
    """
    warc_record_id: str | None = None
    """The WARC-Record-ID of the response in exports as WARC, such as `<urn:uuid:…>`; null if the response is not kept.
    In files of Scrapy's `-O` and `-o` it is always null.
    """
    duplicate_of: str | None = None
    """The address of the page that this is a near-duplicate of; always null in files of Scrapy's `-O` and `-o`."""
    change: str = "new"
    """How this version came: `new`, `changed` (the text of the page changed), or `renewed` (it was extracted in another
    way than before, so that the texts cannot be compared). The lines of a crawl's own file are never `renewed`.
    """
    crawl: str = ""
    """The name of the crawl."""
    round: int = 1
    """The number of the round that stored this version."""
    first_seen: str = ""
    """When the page was first stored: ISO 8601, in UTC. `fresh=yes` begins anew here, too."""
    rights: dict[str, Any] | None = None
    """What the site says about the use of the page: `{"licence": …, "uses": {"search": …, "ai-input": …,
    "ai-train": …}, "evidence": […]}`. A use is `allowed`, `disallowed`, `unknown` or `malformed`; evidence has the
    fields `signal`, `where`, `says` and `read_at`.
    """
    made_from: str = "html"
    """The source of the text: `html` (the page as the server sent it), `rendered` (the page after its scripts have run
    in a browser), `feed` (the entry of a feed, as the page is behind a wall) or `document` (a PDF, DOCX, ODT, EPUB or
    text file).
    """
    images: list[dict[str, Any]] = field(default_factory=list)
    """The images of the page, each `{"url": …, "alt": …, "noise": …}`: `noise` is the probability, as far as the page
    shows, that it is an advert, navigation or decoration. Noise is left out, and so are images after the first 500.
    With `-a images=no` all are listed, and `noise` is null.
    """
    own_fields: dict[str, Any] | None = None
    """The values that `-a fields=`, another package or your own pipeline adds, by name."""


LABELS = {"author": N_("Author"), "published": N_("Published"), "published_source": N_("Date found in")}
"""The dashboard's labels of the fields that it lists as facts about a page."""
TIMES = frozenset(("fetched_at", "first_seen"))
"""The fields that are always a full time, in UTC; `published` is often a day only."""
_HINTS = get_type_hints(PageRecord)
IS_OPTIONAL = {name: type(None) in get_args(hint) for name, hint in _HINTS.items()}
"""Whether a field may be None."""
_KINDS = {name: get_args(hint)[0] if IS_OPTIONAL[name] else hint for name, hint in _HINTS.items()}
TYPES: dict[str, type] = {name: get_origin(kind) or kind for name, kind in _KINDS.items()}
"""The type of each field where it is not None: str, int, float, bool, list or dict."""


@dataclass
class PageItem(PageRecord):
    """The record of a page in the pipelines. `item["title"]` is the field `title`; a name that is no field, such as
    `item["price"]`, is an own field.

    >>> item = PageItem("http://a.example/", "http://a.example/", "", 200, 0, None)
    >>> item["price"] = 3
    >>> item["price"], item["url"], item.own_fields
    (3, 'http://a.example/', {'price': 3})
    """

    def __post_init__(self) -> None:
        self.first_seen = self.first_seen or self.fetched_at
        # These attributes are not fields of the dataclass, so that feeds do not write them.
        self.page: Page | None = None
        self.lease: Lease | None = None
        self.result = PageResult()  # everything else that is known after the request

    def __getitem__(self, name: str) -> Any:
        if name in TYPES:
            return getattr(self, name)
        return (self.own_fields or {})[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if name in TYPES:
            setattr(self, name, value)
        else:
            self.own_fields = {**(self.own_fields or {}), name: value}


class PageItemAdapter(DataclassAdapter):
    """Gives itemadapter's ItemAdapter, which most pipelines use, access to own fields."""

    @classmethod
    def is_item(cls, item: Any) -> bool:
        return isinstance(item, PageItem)

    @classmethod
    def is_item_class(cls, item_class: type) -> bool:
        return issubclass(item_class, PageItem)

    def __getitem__(self, name: str) -> Any:
        return self.item[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.item[name] = value


# The first adapter class that accepts an item is used: ours must be before that of all dataclasses.
cast("deque[Any]", ItemAdapter.ADAPTER_CLASSES).appendleft(PageItemAdapter)


@dataclass
class ImageItem:
    """A downloaded image, and the page it was found on."""

    url: str
    """The image's address."""
    page: str
    """The address of the page."""
    content_type: str
    """The media type that the server sent."""
    path: str = ""
    """The path of its file in `output/images/`; the name is a hash of the content."""
    size: int = 0
    """Bytes."""

    def __post_init__(self) -> None:
        self.body = b""
        self.ending = ""  # the file name extension for its content
        self.lease: Lease | None = None
        self.result = PageResult()
