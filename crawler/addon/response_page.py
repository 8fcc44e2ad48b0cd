"""The page of a response of Scrapy, parsed once for all components."""

from weakref import WeakKeyDictionary

from scrapy.http import Response

from crawler.page.page import Page, is_html
from crawler.spiders.page_reader import header, page_of

_pages: WeakKeyDictionary[Response, Page] = WeakKeyDictionary()


def html_page(response: Response) -> Page | None:
    """The page of a response, or None if the response is not HTML."""
    if response not in _pages and is_html(header(response.headers, "Content-Type"), response.body):
        _pages[response] = page_of(response)
    return _pages.get(response)
