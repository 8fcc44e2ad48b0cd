"""Shows a stored page's source as its readers saw it, made harmless, with the main text tinted and other text greyed.

Nothing of the page is copied unchecked. A new document is written. Its elements are those in KEPT_ELEMENTS, and `<div>`
or `<span>` in place of others. It keeps the attributes `lang`, `dir`, `colspan` and `rowspan` if their values are
valid, and all texts, escaped. It has no script, no style of the page, no form, no frame and no address. Images are
replaced by their descriptions.

The document is written while the elements of the page are walked through. `page.containers` says for each container, an
element that is not inline, at which block its text begins and which block comes after it. So the block of each text is
known.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import NamedTuple

from lxml import etree

from crawler.page.blocks import INLINE, SILENT
from crawler.page.page import Page
from crawler.reports.html_page import escaped

MOST_ELEMENTS = 20_000
"""The most elements of the page that are read."""
MOST_LETTERS = 2_000_000
"""The most characters of the document that is written."""
MOST_LEVELS = 400
"""The most elements within each other; of deeper elements, only the text is written."""
MOST_DESCRIPTION = 200
"""The most characters of an image's description."""
KEPT_ELEMENTS = frozenset(
    "p div section article main header footer nav aside h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre address "
    "figure figcaption table caption thead tbody tfoot tr td th hr br b strong i em u s del ins small sub sup code kbd "
    "samp var cite q abbr mark ruby rb rt rp bdi bdo".split()
)
EMPTY = frozenset(("br", "hr"))
"""Elements without content."""
UNWRITTEN = SILENT | {"meta", "link", "base", "input", "source", "track", "param", "embed", "frame", "frameset"}
"""Elements of which no tag is written."""
# The allowed values of attributes.
LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,4}", re.ASCII)
SPAN = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)
DIRECTIONS = frozenset(("ltr", "rtl", "auto"))
POLICY = "default-src 'none'; style-src {style}; sandbox; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Original:
    """The document that is shown."""

    html: str
    """Its body."""
    is_cut: bool
    """Whether the page is too large to be written to its end."""
    images: int
    """The number of images, which are replaced by their descriptions."""


@dataclass
class _Writer:
    """Writes the document."""

    page: Page
    kept: frozenset[int]
    """The indices of the blocks of main text."""
    hints: Mapping[int, str]
    """Why blocks are main text or not, by their indices."""
    facts: Mapping[int, str]
    """The names of the facts that blocks contain, by their indices."""
    pieces: list[str] = field(default_factory=list)
    letters: int = 0
    elements: int = 0
    images: int = 0
    at: int = 0
    """The index of the current block."""

    def write(self, piece: str) -> None:
        """Add a piece of HTML."""
        self.pieces.append(piece)
        self.letters += len(piece)

    def text(self, text: str | None) -> None:
        """Add a text, in the colour of the current block and with its hint."""
        if not text:
            return
        remaining = max(0, MOST_LETTERS - self.letters)
        shown_text = escaped(text[:remaining])[:remaining]  # cut again, as escaping has lengthened it
        if text.isspace() or self.at >= len(self.page.blocks):  # belongs to no block
            self.write(shown_text)
            return
        classes = "kept" if self.at in self.kept else "left"
        if self.at in self.facts:
            classes += f" {self.facts[self.at]}"
        hint = self.hints.get(self.at)
        title = f' title="{escaped(hint)}"' if hint else ""
        self.write(f'<span class="{classes}"{title}>{shown_text}</span>')

    @property
    def is_full(self) -> bool:
        """Whether a limit of the document is reached."""
        return self.elements >= MOST_ELEMENTS or self.letters >= MOST_LETTERS


def original(page: Page, kept: frozenset[int], hints: Mapping[int, str], facts: Mapping[int, str]) -> Original:
    """The document of a page; blocks in `kept` are tinted, others greyed, with their hints and the names of facts."""
    writer = _Writer(page, kept, hints, facts)
    # Without the first entry: the first two entries are both for the root element.
    containers = iter(zip(page.containers.starts[1:], page.containers.ends[1:], strict=True))
    ends: list[int] = []
    """The ends of the open containers, the outermost first."""
    open_tags: list[str] = []
    walker = etree.iterwalk(page.root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if tag in SILENT:  # it has no blocks, but the text after it belongs to one
            if event == "start":
                walker.skip_subtree()
                continue
            writer.text(element.tail)
        elif event == "start":
            if tag not in INLINE:
                start, end = next(containers)
                writer.at = start
                ends.append(end)
            open_tags.append(_open(writer, element, len(open_tags)))
            if tag != "iframe" and tag not in UNWRITTEN:  # the text in an iframe is for obsolete browsers
                writer.text(element.text)
        else:
            if tag not in INLINE:
                writer.at = ends.pop()
            closing = open_tags.pop()
            if closing:
                writer.write(f"</{closing}>")
            writer.text(None if element is page.root else element.tail)
        if writer.is_full:
            break

    is_cut = writer.is_full
    writer.pieces += [f"</{tag}>" for tag in reversed(open_tags) if tag]
    return Original("".join(writer.pieces), is_cut, writer.images)


def _open(writer: _Writer, element: etree._Element, level: int) -> str:
    """Write the start tag of an element; returns the name for its end tag, empty if it needs none."""
    tag = element.tag
    writer.elements += 1
    if tag == "img":
        writer.images += 1
        writer.write(f'<span class="image">{escaped((element.get("alt") or "").strip()[:MOST_DESCRIPTION])}</span>')
        return ""
    if tag in UNWRITTEN or level >= MOST_LEVELS:
        return ""
    if tag in EMPTY:
        writer.write(f"<{tag}>")
        return ""
    if tag in KEPT_ELEMENTS:
        name = tag
    elif tag in INLINE:
        name = "span"
    else:
        name = "div"
    link_class = ' class="link"' if tag == "a" and element.get("href") else ""
    writer.write(f"<{name}{link_class}{_attributes(element)}>")
    return name


def _attributes(element: etree._Element) -> str:
    """The attributes of an element that are kept, as HTML."""
    attributes = ""
    language = element.get("lang")
    if language and LANGUAGE.fullmatch(language):
        attributes += f' lang="{language}"'
    direction = element.get("dir", "").lower()
    if direction in DIRECTIONS:
        attributes += f' dir="{direction}"'
    if element.tag in ("td", "th"):
        for name in ("colspan", "rowspan"):
            span = element.get(name)
            if span and SPAN.fullmatch(span):
                attributes += f' {name}="{span}"'
    return attributes


class Sheet(NamedTuple):
    """The style of the document, and the Content-Security-Policy that allows only this style."""

    style: str
    policy: str


@cache
def sheet() -> Sheet:
    """The style and its policy.

    The style is part of the document: a sandboxed document has another origin, so it may not load a file from here.
    """
    style = (files("crawler.contrib.dashboard") / "static" / "original.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return Sheet(style, POLICY.format(style=f"'sha256-{digest}'"))


def document(marked_page: Original, language: str, title: str, notes: list[str]) -> bytes:
    """The whole document, with notes before the page."""
    remarks = "".join(f'<p class="said">{escaped(note)}</p>' for note in notes)
    return (
        f'<!doctype html><html lang="{escape(language)}"><head><meta charset="utf-8"><title>{escaped(title)}</title>'
        f"<style>{sheet().style}</style></head><body>{remarks}{marked_page.html}</body></html>"
    ).encode("utf-8", "replace")
