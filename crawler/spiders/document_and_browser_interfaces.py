"""The interfaces of the parts that read other pages than plain HTML: documents, and pages rendered by a browser."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from crawler.frontier.put_off_rule import Trial
from crawler.outcomes import Outcome
from crawler.page.page import Page

if TYPE_CHECKING:
    from scrapy.http import Headers, Response


class Documents(Protocol):
    """Reads documents that are not web pages."""

    def max_bytes(self, url: str) -> int | None:
        """The most bytes of the response if the address has the ending of a document; None for other addresses."""

    def is_wanted(self, headers: Headers, url: str) -> bool:
        """Whether a response with these headers may be a document, so that its body is downloaded."""

    def is_document(self, response: Response) -> bool:
        """Whether a response is a document, by its first bytes, or a text file."""

    def may_be_page(self, response: Response) -> bool:
        """Whether the server declares a document type for a response that is no document: it may be a web page."""

    async def page(self, response: Response) -> Page | Outcome:
        """The page of a document, or why there is none."""

    def close(self) -> None:
        """End the processes that read documents."""


class RenderFault(StrEnum):
    """Why a page cannot be rendered."""

    ENDLESS = "endless"
    """Its scripts block the browser."""
    CRASHED = "crashed"
    """The browser crashed."""
    FLOOD = "flood"
    """It sends too many requests."""
    NO_BROWSER = "no_browser"
    """The browser does not start."""


@dataclass(frozen=True)
class RenderedPage:
    """A page after a browser has rendered it."""

    page: Page
    """The page with the content that its scripts have added, or the page as served if they have added none."""
    trial: Trial | None = None
    """Whether it gained content; None if it was not rendered, or if the browser did not start."""
    is_soft_404: bool = False
    """Whether the application shows the same content for addresses that do not exist."""


class Rendering(Protocol):
    """Renders the pages that need it."""

    @property
    def has_browser(self) -> bool:
        """Whether the browser starts."""

    def may_be_due(self, page: Page) -> bool:
        """Whether a page needs rendering, or may need it, depending on similar pages that are being rendered."""

    async def rendered(self, page: Page, response: Response) -> RenderedPage:
        """The rendered page; the page as served if rendering similar pages has gained nothing."""
