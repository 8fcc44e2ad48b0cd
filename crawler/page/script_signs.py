"""Finds signs that a page needs a browser, and judges whether rendering it has added text or links.

`sign_of` finds a sign, which is cheap and may be wrong. So a page with a sign is rendered as a trial, and the results
of the trials (`has_gained`) decide whether the other pages of the site are rendered.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from lxml import etree

from crawler.page.page import Extraction, MadeFrom, Page
from crawler.page.text import width
from crawler.urls.address import address_of

ROOTS = frozenset("app root main-app react-root app-root application __next __nuxt ___gatsby svelte q-app".split())
"""Ids of the elements, called roots, into which scripts write a whole application; `app-root` is also a tag of a root.
"""
NOTICE = re.compile(
    r"\b(?:enable|turn on|activate|allow|requires?|needs?|without|disabled)\b[^.!?]{0,40}\bjava ?script\b"
    r"|\bjava ?script\b[^.!?]{0,40}\b(?:enabled?|disabled|required|turned (?:on|off)|needed)\b"
    r"|(?:启用|啟用|开启|開啟|打开|打開|允许|允許|支持|禁用|关闭)[^。！？]{0,12}java ?script"
    r"|java ?script[^。！？]{0,12}(?:启用|啟用|开启|開啟|打开|打開|支持|禁用|关闭|有効|無効)"
    r"|\bjava ?script\b[^.!?]{0,40}\b(?:aktivier|activ|habilit|abilita|включ)",
    re.IGNORECASE,
)
"""A notice: a request to turn on JavaScript."""
MOST_NOTICE = 5_000
"""Characters of a page's text in which a notice is looked for. A longer main text is never a placeholder."""
PROGRAMS = frozenset(("", "module", "text/javascript", "application/javascript", "text/ecmascript"))
"""Types of scripts that run; scripts of other types are data."""
UNSEEN = frozenset(("script", "style", "noscript", "template"))
"""Elements whose text is not shown by a browser that runs scripts."""
SHORT = 600
"""A notice or an empty root counts only with fewer columns of main text than this, because many complete pages have
notices or empty roots.
"""
LITTLE = 200
"""A page with fewer columns of text, or a root with fewer characters, is nearly empty. Rendering may also remove this
many columns, e.g. a notice, before a page counts as losing text.
"""
FEW = 3
"""A page with fewer different links than this has the sign `FEW_LINKS`."""
LONGEST_PLACEHOLDER = 100
"""The most columns of main text, without notices, that an application shows until its scripts run: usually one line
such as "Please wait...". A short post whose comments need JavaScript has more.
"""


class Sign(StrEnum):
    """A sign that scripts make the text or the links of a page."""

    EMPTY_ROOT = "empty_root"
    NOTICE = "notice"
    LITTLE_TEXT = "little_text"
    FEW_LINKS = "few_links"


def has_programs(page: Page) -> bool:
    """Whether a page has scripts that run.

    >>> [has_programs(Page.from_html(f"<script type='{name}'>1</script>")) for name in ("module", "application/json")]
    [True, False]
    """
    return any(
        script.get("type", "").strip().lower() in PROGRAMS and (script.get("src") or (script.text or "").strip())
        for script in page.metadata_elements("script")
    )


def sign_of(page: Page, extraction: Extraction) -> Sign | None:
    """The first sign that a page needs a browser; None if it has none."""
    if not has_programs(page):
        return None
    if width(extraction.text[:SHORT]) < SHORT:
        if _has_empty_root(page):
            return Sign.EMPTY_ROOT
        if _has_notice(page):
            return Sign.NOTICE
    if _is_nearly_empty(page):
        return Sign.LITTLE_TEXT
    if len({link.url for link in page.links}) < FEW:
        return Sign.FEW_LINKS
    return None


def lacks_text(page: Page, extraction: Extraction) -> bool:
    """Whether a page, as its server sent it, has next to no main text and a sign that its scripts create the text."""
    text = extraction.text[:MOST_NOTICE]
    if page.made_from is not MadeFrom.HTML or len(text) == MOST_NOTICE:
        return False
    without_notices = "".join(line for line in text.splitlines() if not NOTICE.search(line))
    if width(without_notices) > LONGEST_PLACEHOLDER:
        return False
    sign = sign_of(page, extraction)
    return sign in (Sign.EMPTY_ROOT, Sign.NOTICE) or (sign is Sign.LITTLE_TEXT and not text.strip())


def _has_empty_root(page: Page) -> bool:
    """Whether an element into which scripts write an application is nearly empty."""
    for element in page.root.iter("div", "main", "section", "app-root"):
        is_root = element.tag == "app-root" or (element.get("id") or "").lower() in ROOTS
        if is_root and _text_length(element) < LITTLE:
            return True
    return False


def _text_length(element: etree._Element) -> int:
    """The characters of text in an element, counted until there are `LITTLE`."""
    length = 0
    for inner in element.iter():
        if inner is not element:
            length += len((inner.tail or "").strip())
        if isinstance(inner.tag, str) and inner.tag not in UNSEEN:
            length += len((inner.text or "").strip())
        if length >= LITTLE:
            break
    return length


def _has_notice(page: Page) -> bool:
    length = 0
    for block in page.blocks:
        if NOTICE.search(block.text[:MOST_NOTICE]):
            return True
        length += len(block.text)
        if length > MOST_NOTICE:
            break
    return False


def _is_nearly_empty(page: Page) -> bool:
    columns = 0
    for block in page.blocks:
        columns += width(block.text[:LITTLE])
        if columns >= LITTLE:
            return False
    return True


@dataclass(frozen=True, slots=True)
class RenderedContent:
    """The parts of a page that are compared before and after it is rendered."""

    columns: int
    """The width of the main text in columns."""
    links: frozenset[str]
    """The addresses on the page's own site that it links to."""


def content_of(page: Page, extraction: Extraction) -> RenderedContent:
    """The main text and links of a page, for `has_gained`."""
    own_site = address_of(page.url).site
    return RenderedContent(
        columns=width(extraction.text),
        links=frozenset(link.url for link in page.links if address_of(link.url).site == own_site),
    )


MORE_TEXT = 1.25
MORE_COLUMNS = 60
"""The main text must grow to at least `MORE_TEXT` times its columns plus `MORE_COLUMNS`."""
MORE_LINKS = 3
"""New links that rendering must add if the page had links before; otherwise one is enough."""


def has_gained(before: RenderedContent, after: RenderedContent) -> bool:
    """Whether rendering a page has added much main text, or has added links without much loss of text.

    >>> empty = RenderedContent(0, frozenset())
    >>> text = RenderedContent(500, frozenset())
    >>> links = RenderedContent(0, frozenset(("a", "b")))
    >>> has_gained(empty, text), has_gained(empty, links), has_gained(text, text), has_gained(text, links)
    (True, True, False, False)
    """
    if after.columns >= MORE_TEXT * before.columns + MORE_COLUMNS:
        return True
    keeps_text = after.columns * MORE_TEXT + LITTLE >= before.columns
    needed_links = MORE_LINKS if before.links else 1
    return keeps_text and len(after.links - before.links) >= needed_links
