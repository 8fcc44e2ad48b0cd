"""What a crawl needs of the parts that read other pages than plain HTML: documents, and pages that scripts make."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from crawler.frontier.pattern_rule import Trial
from crawler.outcomes import Outcome
from crawler.page.page import Page

if TYPE_CHECKING:
    from scrapy.http import Headers, Response


class Documents(Protocol):
    """Reads documents that are no web pages."""

    def largest(self, url: str) -> int | None:
        """How many bytes the response from an address may have if its ending is that of a document, else None."""

    def is_wanted(self, headers: Headers, url: str) -> bool:
        """Whether a response with these headers may be a document."""

    def is_document(self, response: Response) -> bool:
        """Whether a response is a document by its first bytes, or a text file."""

    def may_be_page(self, response: Response) -> bool:
        """Whether a response that is no document may be a web page, because the server declares a wrong type."""

    async def page(self, response: Response) -> Page | Outcome:
        """The page of a document, or why there is none."""

    def close(self) -> None:
        """End what reads documents."""


class RenderFault(StrEnum):
    """Why a page cannot be rendered."""

    ENDLESS = "endless"
    """Its scripts block the browser."""
    CRASHED = "crashed"
    FLOOD = "flood"
    NO_BROWSER = "no_browser"


@dataclass(frozen=True)
class RenderedPage:
    """A page after a browser has rendered it."""

    page: Page
    """As its scripts make it, or as it was if that brings no more."""
    trial: Trial | None = None
    """None if it was not rendered, or for reasons that are not its own."""
    is_fallback: bool = False
    """Whether the application shows the same for an address that does not exist."""


class Rendering(Protocol):
    """Renders the pages that need it."""

    @property
    def has_browser(self) -> bool:
        """Whether the browser starts."""

    def may_be_due(self, page: Page) -> bool:
        """Whether a page is to be rendered, or may be after the trials that are under way."""

    async def rendered(self, page: Page, response: Response) -> RenderedPage:
        """The page as its scripts make it, unless the trials before it brought nothing."""
