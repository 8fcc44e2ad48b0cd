"""A stored page's source as its reader saw it, made harmless: what was kept of it tinted, and what was not greyed.

Nothing of the page is passed on as it stands. A new document is written: of elements by their names those that are
listed here, any other as a plain one; of attributes four, with values that are checked; of texts all, escaped. There
is no script in it, no style of the page's own, no form, no frame, no address, and no image, whose description stands
in its place.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from lxml import etree

from crawler.page.blocks import INLINE, SILENT
from crawler.page.page import Page
from crawler.reports.html_page import shown

MOST_ELEMENTS = 20_000
MOST_LETTERS = 2_000_000
"""Characters of the document that is written."""
MOST_LEVELS = 400
"""Elements in each other; what is deeper stands as text."""
MOST_NAMED = 200
"""Letters of an image's description."""
KEPT_AS_IT_IS = frozenset(
    "p div section article main header footer nav aside h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre address "
    "figure figcaption table caption thead tbody tfoot tr td th hr br b strong i em u s del ins small sub sup code kbd "
    "samp var cite q abbr mark ruby rb rt rp bdi bdo".split()
)
EMPTY = frozenset(("br", "hr"))
UNSHOWN = SILENT | {"meta", "link", "base", "input", "source", "track", "param", "embed", "frame", "frameset"}
LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,4}", re.ASCII)
_SPAN = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)
DIRECTIONS = frozenset(("ltr", "rtl", "auto"))
POLICY = "default-src 'none'; style-src {style}; sandbox; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Original:
    """The document, and what is not in it."""

    html: str
    is_cut: bool
    images: int
    """How many images are replaced by their description."""


@dataclass
class _Writer:
    """The document as far as it is written."""

    page: Page
    kept: frozenset[int]
    why: Mapping[int, str]
    """For blocks, why they are kept or not, in words."""
    facts: Mapping[int, str]
    """For blocks, which facts about the page they tell."""
    pieces: list[str] = field(default_factory=list)
    letters: int = 0
    elements: int = 0
    images: int = 0
    at: int = 0
    """The block that text belongs to."""

    def write(self, piece: str) -> None:
        self.pieces.append(piece)
        self.letters += len(piece)

    def text(self, text: str | None) -> None:
        """Put down some text, in the colour of its block."""
        if not text:
            return
        left = max(0, MOST_LETTERS - self.letters)
        shown_text = shown(text[:left])[:left]
        if text.isspace() or self.at >= len(self.page.blocks):
            self.write(shown_text)
            return
        kind = f"{'kept' if self.at in self.kept else 'left'} {self.facts.get(self.at, '')}".strip()
        why = self.why.get(self.at)
        title = f' title="{shown(why)}"' if why else ""
        self.write(f'<span class="{kind}"{title}>{shown_text}</span>')

    @property
    def is_full(self) -> bool:
        return self.elements >= MOST_ELEMENTS or self.letters >= MOST_LETTERS


def original(page: Page, kept: frozenset[int], why: Mapping[int, str], facts: Mapping[int, str]) -> Original:
    """The page's tree, written anew."""
    writer = _Writer(page, kept, why, facts)
    containers = iter(
        zip(page.containers.starts[1:], page.containers.ends[1:], strict=True)
    )  # the first is the root twice
    ends: list[int] = []
    """Where the containers around it end."""
    open_tags: list[str] = []
    walker = etree.iterwalk(page.root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if tag in SILENT:  # as the walk over the page's tree leaves them out, too
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
            if tag != "iframe" and tag not in UNSHOWN:
                writer.text(element.text)
        else:
            if tag not in INLINE:
                writer.at = ends.pop()
            closing = open_tags.pop()
            if closing:
                writer.write(f"</{closing}>")
            writer.text(element.tail if element is not page.root else None)
        if writer.is_full:
            break
    is_cut = writer.is_full
    writer.pieces += [f"</{tag}>" for tag in reversed(open_tags) if tag]
    return Original("".join(writer.pieces), is_cut, writer.images)


def _open(writer: _Writer, element: etree._Element, level: int) -> str:
    """Begin an element; the name comes back by which it is to be ended, empty if it is not."""
    tag = element.tag
    writer.elements += 1
    if tag == "img":
        writer.images += 1
        writer.write(f'<span class="image">{shown((element.get("alt") or "").strip()[:MOST_NAMED])}</span>')
        return ""
    if tag in UNSHOWN or level >= MOST_LEVELS:
        return ""
    if tag in EMPTY:
        writer.write(f"<{tag}>")
        return ""
    name = tag if tag in KEPT_AS_IT_IS else "span" if tag in INLINE or tag == "label" else "div"
    sort = ' class="link"' if tag == "a" and element.get("href") else ""
    writer.write(f"<{name}{sort}{_attributes(element)}>")
    return name


def _attributes(element: etree._Element) -> str:
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
            if span and _SPAN.fullmatch(span):
                attributes += f' {name}="{span}"'
    return attributes


@cache
def sheet() -> tuple[str, str]:
    """The document's own style, and the policy that lets in this style alone.

    It stands in the document, as a document that is not of this origin, being sandboxed, may not ask for it.
    """
    style = (files("crawler.contrib.dashboard") / "static" / "original.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return style, POLICY.format(style=f"'sha256-{digest}'")


def document(marked_page: Original, language: str, title: str, notes: list[str]) -> bytes:
    """The whole document, with what is to be said of it before it."""
    remarks = "".join(f'<p class="said">{shown(note)}</p>' for note in notes)
    return (
        f'<!doctype html><html lang="{escape(language)}"><head><meta charset="utf-8"><title>{shown(title)}</title>'
        f"<style>{sheet()[0]}</style></head><body>{remarks}{marked_page.html}</body></html>"
    ).encode("utf-8", "replace")
