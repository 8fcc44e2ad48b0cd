"""Whether a page serves something else than to be read: to log in, or to list other pages. Only sure signs count."""

import re

from crawler.page.page import Extraction, Page

FEW_WORDS = 50
"""A page with a log-in form and fewer words of main text is there to log in; others only have a form at their side."""
LISTS = frozenset(("archive", "blog", "search-results", "ns-14"))
"""Classes of the body that name lists: of WordPress, and ns-14, a category of MediaWiki."""
SINGLE = frozenset(("single", "singular", "page"))
TYPE = re.compile(r'"@type"\s*:\s*(?:\[\s*)?"(\w{1,40})"')
LIST_TYPES = frozenset(("CollectionPage", "SearchResultsPage"))
TEXT_TYPES = re.compile(r"Article|Posting|Product|Recipe|Review")


def is_login(page: Page, extraction: Extraction) -> bool:
    """Whether a page is a form to log in or to register, with little else."""
    if b"password" not in page.body.lower():
        return False
    has_field = any(one.get("type", "").lower() == "password" for one in page.root.iter("input"))
    return has_field and len(extraction.text.split()) < FEW_WORDS


def is_listing(page: Page) -> bool:
    """Whether a page says itself that it is a list of other pages.

    >>> is_listing(Page.from_html("<body class='archive tag'>")), is_listing(Page.from_html("<body class='single'>"))
    (True, False)
    """
    body = page.root.find("body")
    classes = set(body.get("class", "").lower().split()) if body is not None else set()
    if classes & LISTS:
        return not classes & SINGLE
    types = {name for script in page.head.scripts for name in TYPE.findall(script)}
    return bool(types & LIST_TYPES) and not any(map(TEXT_TYPES.search, types))
