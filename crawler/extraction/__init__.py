"""Page -> main text: one module a method, all named here."""

from collections.abc import Callable

from crawler.extraction.leaf_tags import leaf_tags
from crawler.page import Extraction, Page

EXTRACTORS: dict[str, Callable[[Page], Extraction]] = {
    "leaf-tags": leaf_tags,
}


def extract(html: str | bytes, url: str = "", method: str = "leaf-tags") -> Extraction:
    """The main text of a page, decoded or as it came.

    >>> extract("<title>Bees</title><p>Bees dance.</p><p>Home | News</p>").text
    'Bees dance.'
    """
    return EXTRACTORS[method](Page.from_html(html, url) if isinstance(html, str) else Page(url, html))
