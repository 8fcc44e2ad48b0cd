"""`clean(html, url)`: the main text of a page, and its metadata."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

from crawler.api.saved_document import saved_document
from crawler.doors import Door, load
from crawler.extraction import Extractor, extractor_named
from crawler.extraction.document_text import with_documents
from crawler.outcomes import Code, Outcome
from crawler.page.document import DocumentError
from crawler.page.document_type import is_binary
from crawler.page.page import DocumentFacts, Extraction, NotHtmlError, Page, is_html, media_type

FIELDS = (
    "text markdown title author published published_source "
    "language content_type page_count page_type comments rights images"
).split()
"""The fields of `Document.fields()`."""


class Document:
    """A cleaned page. Each part is computed when it is first read, and the page is parsed once for all of them."""

    def __init__(self, page: Page, extract: Extractor, link_addresses: bool = False) -> None:
        self._page = page
        self._extract = with_documents(extract)
        self._link_addresses = link_addresses

    @property
    def _extraction(self) -> Extraction:
        return self._page.once(self._extract)

    def _read(self, field: str) -> Any:
        return _parts().field_value(field, self._page, self._extraction)

    @property
    def url(self) -> str:
        """The given address."""
        return self._page.url

    @property
    def text(self) -> str:
        """The main text, usually from the headline on, a paragraph a line; empty where the page has none."""
        return self._extraction.text

    @cached_property
    def markdown(self) -> str:
        """The main text as Markdown below the title, with its images, but without adverts."""
        markdown: str = _parts().page_markdown(self._page, self._extraction, self._link_addresses)
        return markdown

    @property
    def title(self) -> str:
        """The headline."""
        return self._extraction.title

    @cached_property
    def author(self) -> str:
        """Who wrote it, as the page says; `; ` joins several names."""
        return str(self._read("author"))

    @cached_property
    def published(self) -> str | None:
        """The date of publication as the page gives it, in ISO 8601."""
        date: str | None = self._read("published")
        return date

    @property
    def published_source(self) -> str:
        """Where the date was found: `structured_data`, `meta`, `time_element`, `attribute`, `text`, `address` or
        `script`; `document` if it is in the metadata of a PDF or other file; empty if there is no date.
        """
        return str(self._read("published_source"))

    @cached_property
    def language(self) -> str | None:
        """The two-letter code of the text's language."""
        code: str | None = self._read("language")
        return code

    @property
    def content_type(self) -> str:
        """The media type: of a web page as the server declared it, of a document by its content."""
        return str(self._read("content_type"))

    @property
    def page_count(self) -> int | None:
        """How many pages a document has, if it says so; None for web pages."""
        count: int | None = self._read("page_count")
        return count

    @property
    def page_type(self) -> str:
        """The type of the page: `article`, `forum`, `product`, `collection`, `listing`, `documentation` or `service`;
        empty if it is uncertain.
        """
        return str(self._read("page_type"))

    @property
    def comments(self) -> str:
        """Readers' comments below the text, a paragraph a line."""
        return self._extraction.comments

    @cached_property
    def images(self) -> list[dict[str, Any]]:
        """The images of the page without adverts, navigation and decoration, each `{"url": …, "alt": …, "noise": …}`;
        `noise` is the probability that an image is one of these nevertheless.
        """
        images: list[dict[str, Any]] = _parts().page_images(self._page, self._extraction)
        return images

    @cached_property
    def rights(self) -> dict[str, Any]:
        """What the page alone says about its use, by meta elements, JSON-LD and links: licence, uses and evidence."""
        page_rights: dict[str, Any] = self._read("rights")
        return page_rights

    @cached_property
    def links(self) -> list[dict[str, str]]:
        """The links of the whole page, each `{"url": …, "text": …}`."""
        return [{"url": link.url, "text": link.text} for link in self._page.links]

    @property
    def certainty(self) -> float | None:
        """How good the text is likely to be, from 0 to 1: the F1 that the method expects. None if it is unknown."""
        return self._extraction.certainty

    @cached_property
    def quality(self) -> dict[str, float | None]:
        """Numbers about the text under the names of published rules, such as `words` and `dup_line_frac`."""
        quality: dict[str, float | None] = _parts().text_quality(self._page, self._extraction)
        return quality

    def chunks(self, tokens: int = 400, count: Callable[[str], float] | None = None) -> list[Any]:
        """The main text in pieces for retrieval, of at most `tokens` tokens each, below their headings. `count` returns
        the number of tokens of a text; without it, the numbers are estimated.
        """
        document_chunks = load(Door.CHUNKS, "document")
        chunks: list[Any] = document_chunks(
            self._page,
            self._extraction.blocks,
            markdown=self.markdown,
            title=self.title,
            language=self.language,
            tokens=tokens,
            count=count,
        )
        return chunks

    def fields(self) -> dict[str, Any]:
        """The values of `FIELDS`, by name."""
        return {name: getattr(self, name) for name in FIELDS}

    def __repr__(self) -> str:
        return f"<Document {self.url!r}>"


def _parts() -> ModuleType:
    # Imported only when a part other than the text is read, as its imports take two fifths of the time of all imports.
    return import_module("crawler.api.document_parts")


def clean(
    html: str | bytes,
    url: str = "",
    *,
    content_type: str = "",
    method: str = "auto",
    favour: str = "balance",
    link_addresses: bool = False,
) -> Document:
    """Clean a page; no page raises an exception.

    `html` is text, or bytes as a server sent them, with the `content_type` that it declared. With the extra
    `documents`, bytes may also be a PDF, DOCX, ODT or EPUB file. `url` makes relative addresses absolute. `method` and
    `favour` are those of `-a extractor=` and `-a favour=`. With `link_addresses` the Markdown has the addresses of
    links.

    >>> document = clean("<title>Bees</title><nav><a href=/>Home</a></nav><p>Bees dance in the dark of the hive.</p>")
    >>> document.text
    'Bees dance in the dark of the hive.'
    >>> document.language, document.author, document.published
    ('en', '', None)
    """
    if isinstance(html, bytes):
        page = page_of(html, url, content_type)
    else:
        page = Page.from_html(html, url)
    return Document(page, extractor_named(method, favour), link_addresses)


def page_of(data: bytes, url: str, content_type: str = "", robots_header: str = "") -> Page:
    """The page in the bytes of a page or a document; an empty page if a document cannot be read."""
    page = read_page(data, url, content_type, robots_header)
    if isinstance(page, Page):
        return page
    return Page(url=url, body=b"", document=DocumentFacts(media_type=media_type(content_type)))


def read_page(data: bytes, url: str, content_type: str = "", robots_header: str = "") -> Page | Outcome:
    """The page in the bytes of a page or a document, or the outcome of a document that cannot be read."""
    page = None
    if not is_html(content_type, data):
        try:
            page = saved_document(data, url, robots_header, content_type)
        except DocumentError as error:
            return Outcome(Code.UNREAD_DOCUMENT, error.fault)
        except NotHtmlError as error:
            return Outcome(Code.NOT_HTML, str(error))
        if page is None and is_binary(data):
            return Outcome(Code.NOT_HTML, media_type(content_type) or "application/octet-stream")
    # Text of no known type is read as HTML.
    return page or Page(url=url, body=data, content_type=content_type, robots_header=robots_header)
