"""The metadata that a page has for machines: JSON-LD, meta and time elements, directives for robots."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element

MAX_ELEMENTS = 2_000  # <meta>, <script> and <time> that are read for a `Head`
MAX_SCRIPTS = 20  # JSON-LD scripts that are read
MAX_TIMES = 100  # <time> that are read
MAX_JSON = 200_000  # characters of one JSON-LD script that are read
MAX_LINE = 120  # characters of the name of a meta element, or of a date
MAX_HEADLINE = 400  # characters of a headline, and of the content of any meta element in `Head.metas`
BOT = "winnow"
"""The name by which robots.txt, meta tags and headers may address this crawler."""
# The content of a refresh: https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
# Possessive quantifiers, so that the last digits of a time without an address are not taken for the address.
REFRESH = re.compile(
    r"\s*(\d{1,6}+)[\d.]*+(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+['\"]?+([^'\"]+)", re.IGNORECASE | re.ASCII
)
# Directives that have a value after a colon. Any other text before a colon is the name of a robot.
VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
# Directives that are found even where pages do not separate them by commas.
REFUSALS = frozenset(("noindex", "nofollow", "none", "noai", "noimageai"))


@dataclass(frozen=True, slots=True)
class Head:
    """The elements of a page that describe it."""

    scripts: tuple[str, ...]
    """The texts of the JSON-LD scripts."""
    metas: dict[str, str]
    """The metadata for fields such as titles, dates and authors: the contents of meta elements, cut to `MAX_HEADLINE`,
    by property, name, itemprop and http-equiv in lower case. The first element with a name counts; empty contents are
    left out.
    """
    times: tuple[_Element, ...]


def read_head(elements: Iterable[_Element]) -> Head:
    """The scripts, meta and time elements among these."""
    scripts: list[str] = []
    metas: dict[str, str] = {}
    times: list[_Element] = []
    for element in islice((element for element in elements if element.tag in ("script", "meta", "time")), MAX_ELEMENTS):
        if element.tag == "time":
            times.append(element)
        elif element.tag == "script":
            if len(scripts) < MAX_SCRIPTS and "ld+json" in element.get("type", "").lower():
                scripts.append((element.text or "")[:MAX_JSON])
        elif content := element.get("content"):
            for attribute in ("property", "name", "itemprop", "http-equiv"):
                name = element.get(attribute)
                if name:
                    metas.setdefault(name[:MAX_LINE].lower(), content[:MAX_HEADLINE])
    return Head(scripts=tuple(scripts), metas=metas, times=tuple(times[:MAX_TIMES]))


def _addressed_to_us(header: str) -> str:
    """The directives of one X-Robots-Tag header; empty if it is addressed to another robot.

    https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag#xrobotstag

    >>> _addressed_to_us("noindex, nofollow"), _addressed_to_us("otherbot: noindex"), _addressed_to_us("winnow: none")
    ('noindex, nofollow', '', 'none')
    """
    name, colon, rest = header.partition(":")
    if not colon or "," in name or name.strip().lower() in VALUED:
        return header
    if name.strip().lower() == BOT:
        return rest.strip()
    return ""


def read_metas(metas: Iterable[_Element]) -> dict[str, str]:
    """The content of the first meta tag with each name, by the name in lower case; a tag without a name has its
    property or http-equiv as its name. Unlike in `Head.metas`, contents are whole and may be empty, because directives,
    refreshes and statements of rights need that. The contents of all tags for robots are joined.

    A refresh in <noscript> is left out: it redirects readers without scripts to another page, but the text of this page
    is better.
    """
    content_of_name: dict[str, str] = {}
    robots: dict[str, list[str]] = {}
    for element in metas:
        name = (element.get("name") or element.get("property") or element.get("http-equiv") or "").lower()
        content = element.get("content")
        if not name or content is None:
            continue
        if name in ("robots", BOT):
            robots.setdefault(name, []).append(content)
        elif name != "refresh" or next(element.iterancestors("noscript"), None) is None:
            content_of_name.setdefault(name, content)
    return content_of_name | {name: ",".join(contents) for name, contents in robots.items()}


def robots_directives(metas: Mapping[str, str], header: str) -> frozenset[str]:
    """The directives for robots in a page's meta tags and X-Robots-Tag headers (one a line), such as noindex."""
    directive_lists = [metas.get("robots", ""), metas.get(BOT, ""), *map(_addressed_to_us, header.splitlines())]
    words = {word.strip().lower() for directives in directive_lists for word in directives.split(",")}
    # Some pages separate directives by spaces or semicolons.
    words |= REFUSALS.intersection(" ".join(words).replace(";", " ").split())
    if "none" in words:
        words |= {"noindex", "nofollow"}
    return frozenset(words - {""})
