"""The page of a response of Scrapy, parsed once for all components."""

from weakref import WeakKeyDictionary

from scrapy.http import Response

from crawler.page.page import Page, is_html

_pages: WeakKeyDictionary[Response, Page] = WeakKeyDictionary()


def page_of(response: Response) -> Page | None:
    """The page, or None where the response is no HTML."""
    declared = (response.headers.get("Content-Type") or b"").decode("latin-1")
    if response not in _pages and is_html(declared, response.body):
        _pages[response] = Page(response.url, response.body, declared)
    return _pages.get(response)
