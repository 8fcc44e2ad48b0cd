"""Signs of dates and of authors' names: their place on the page, and the kind of the page. A sign is a feature with a
weight, by which one of the candidates is chosen (crawler/metadata/choice.py).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice

from lxml.etree import _Element

from crawler.metadata.choice import Signs
from crawler.metadata.structured_data import ARTICLE, letters, structured
from crawler.page.blocks import Block
from crawler.page.page import Extraction, Page

MAX_ABOVE = 12  # ancestors of an element whose names are read
MAX_NAMES = 200  # characters of a class or id
HEADINGS = frozenset(("h1", "h2", "h3"))
# Names of the page's frame, of comments and of parts about other articles.
_ELSEWHERE = re.compile(
    r"comment|repl(?:y|ies)|related|recommend|sidebar|widget|teaser|popular|trending|\bnav|menu|recent|latest"
    r"|aside|event|calendar|archive|reviews?\b|copyright|quote|testimonial|team",
    re.IGNORECASE,
)
_COMMENTS = re.compile(r"comment(?!s?-?(?:off|closed|link|count))|disqus|pinglun|huifu|评论", re.IGNORECASE)
_NO_ARTICLE = re.compile("Product|LocalBusiness|CollectionPage|ItemList")  # types of JSON-LD
_ELSEWHERE_TAGS = frozenset(("nav", "aside", "form", "blockquote"))
_FOOTER = re.compile("footer", re.IGNORECASE)


def page_signs(page: Page, extraction: Extraction) -> Signs:
    """The signs of a page by which it is likely or unlikely to have an author and a date at all."""
    types = " ".join(structured(page).types)
    has_sign = {
        "no article in JSON-LD": not ARTICLE.search(types),
        "another type in JSON-LD": _NO_ARTICLE.search(types),
        "og:type is not article": page.head.metas.get("og:type") != "article",
        f"type {extraction.page_type or 'unknown'}": True,
    }
    return {name: 1.0 for name, is_present in has_sign.items() if is_present}


def headline_at(blocks: Sequence[Block], title: str) -> int | None:
    """The index of the headline: the first h1 with the text of `title`, else the last line or heading with this text.

    For headings, it is enough to have the same letters.
    """
    key = letters(title)
    headline = None
    for at, block in enumerate(blocks):
        # A long heading is cut, as reducing it to its letters takes time.
        if block.text == title or (block.tag in HEADINGS and key and letters(block.text[: 2 * len(title)]) == key):
            headline = at
            if block.tag == "h1":
                break
    return headline


def distance_sign(at: int, headline: int | None) -> str:
    """The sign of the distance of a line from the headline, given the indexes of both."""
    if headline is None:
        return "no headline"
    lines_below = at - headline
    if lines_below == 0:
        return "headline"
    if lines_below < 0:
        if lines_below >= -5:
            return "up to 5 lines before"
        return "before the headline"
    return next((f"up to {most} lines after" for most in (1, 5, 12, 40) if lines_below <= most), "after the headline")


def is_in_comments(element: _Element) -> bool:
    """Whether an element is among readers' comments."""
    around = chain([element], islice(element.iterancestors(), MAX_ABOVE))
    return any(_is_named(_COMMENTS, _names(ancestor)) for ancestor in around)


def is_elsewhere(element: _Element) -> bool:
    """Whether an element belongs to comments, to other articles or to the page's frame.

    A footer inside an article belongs to the article, and often names its author.
    """
    in_footer = False
    for ancestor in chain([element], islice(element.iterancestors(), MAX_ABOVE)):
        if ancestor.tag == "article" and ancestor is not element:
            return False
        if ancestor.tag in ("body", "html") or (ancestor.tag == "main" and ancestor is not element):
            return in_footer
        if ancestor.tag in _ELSEWHERE_TAGS or _is_named(_ELSEWHERE, _names(ancestor)):
            return True
        in_footer = in_footer or ancestor.tag == "footer" or _is_named(_FOOTER, _names(ancestor))
    return in_footer


def is_in_footer(element: _Element) -> bool:
    """Whether an element is in a footer, of the page or of the article."""
    around = chain([element], islice(element.iterancestors(), MAX_ABOVE))
    return any(ancestor.tag == "footer" or _is_named(_FOOTER, _names(ancestor)) for ancestor in around)


def _names(element: _Element) -> str:
    """The class and id of an element."""
    return f"{element.get('class', '')[:MAX_NAMES]} {element.get('id', '')[:MAX_NAMES]}"


@lru_cache(20_000)
def _is_named(pattern: re.Pattern[str], names: str) -> bool:
    return pattern.search(names) is not None
