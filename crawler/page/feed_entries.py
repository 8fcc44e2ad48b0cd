"""The main text in an entry of a feed.

The main text is `content` in Atom (https://www.rfc-editor.org/rfc/rfc4287#section-4.1.3), `content:encoded` in RSS, and
`content_html` or `content_text` in JSON Feed. Summaries (`summary`, `description`) are not read as main text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from html import escape
from typing import Any

from lxml import etree

HTML_CONTENT_TYPES = frozenset(("html", "text/html"))
FEED_ENTRIES = frozenset(("item", "entry"))
"""The elements of entries, in RSS and in Atom."""
_TAG = re.compile("[a-z][a-z0-9-]*")
DATES = ("published", "pubdate", "date", "issued")
"""Elements with the date of an entry, the preferred one first."""
MAX_FIELD = 300
"""Characters of a title, an author or a date."""


@dataclass(frozen=True, slots=True)
class EntryText:
    """The main text of an entry, and its metadata; fields that the entry does not have are empty."""

    html: str
    """The main text."""
    _: KW_ONLY
    title: str = ""
    author: str = ""
    published: str = ""
    """The date as the feed writes it."""


def local_name(element: etree._Element) -> str:
    """The element's name without its namespace, or without an undeclared prefix."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()


def xml_text(entry: etree._Element) -> EntryText | None:
    """The text of an entry of RSS or Atom; None if the entry has none, or is nested in another entry, whose text
    contains it.
    """
    if any(local_name(ancestor) in FEED_ENTRIES for ancestor in entry.iterancestors()):
        return None
    html = next(filter(None, map(_html, entry.iterchildren(etree.Element))), "")
    if not html:
        return None

    fields: dict[str, str] = {}
    for element in entry.iterchildren(etree.Element):
        name = local_name(element)
        if name not in ("title", "author", "creator", *DATES) or name in fields:
            continue
        source = element
        if name == "author":
            source = next(element.iterchildren("{*}name"), element)
        fields[name] = _text(source).strip()[:MAX_FIELD]

    author = fields.get("creator") or fields.get("author", "")
    return EntryText(
        html=html,
        title=fields.get("title", ""),
        author=author,
        published=next((fields[name] for name in DATES if name in fields), ""),
    )


def json_text(item: Mapping[str, Any]) -> EntryText | None:
    """The text of an item of a JSON feed; None if it has none."""
    fields = {name: text for name, text in item.items() if isinstance(text, str)}
    html = fields.get("content_html") or _paragraph(fields.get("content_text", ""))
    if not html.strip():
        return None
    author = "; ".join(_names(item.get("authors"), item.get("author")))
    return EntryText(
        html=html,
        title=fields.get("title", "")[:MAX_FIELD],
        author=author[:MAX_FIELD],
        published=fields.get("date_published", "")[:MAX_FIELD],
    )


def _names(authors: Any, author: Any) -> Iterator[str]:
    """The names of the authors of an item, as versions 1.1 and 1 of JSON Feed write them."""
    author_values = authors if isinstance(authors, list) else [author]
    for author_value in author_values:
        if isinstance(author_value, dict) and isinstance(name := author_value.get("name"), str):
            yield name


def _html(element: etree._Element) -> str:
    """The HTML of an element if it is the text of its entry; otherwise empty."""
    name = local_name(element)
    parent = element.getparent()
    if name == "encoded":
        return _text(element)
    if name != "content" or parent is None or _namespace(element) != _namespace(parent):
        return ""  # e.g. `media:content`, which is an image or a video
    kind = element.get("type", "text").lower()
    if kind in HTML_CONTENT_TYPES:
        return _text(element)
    if kind == "xhtml":  # the names have a namespace, which HTML lacks
        for child in element.iter(etree.Element):
            tag = local_name(child)
            child.tag = tag if _TAG.fullmatch(tag) else "div"
        return "".join(etree.tostring(child, encoding="unicode", method="html") for child in element)
    if kind == "text":
        return _paragraph(_text(element))
    return ""


def _text(element: etree._Element) -> str:
    return "".join(map(str, element.itertext()))


def _namespace(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[0]


def _paragraph(text: str) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in text.splitlines() if line.strip())
