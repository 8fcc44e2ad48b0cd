"""The kept blocks of a page as Markdown: headings, lists, tables, code, quotes, emphasis, links and images.

The tree is walked again, in the same way as in `crawler.page.blocks`, so that the n-th line of text is the n-th block
of the page. Each line that is kept is rendered (.markdown_inline) and stored with the elements around it, and all lines
are joined into a document (.markdown_layout). This is done only if Markdown is requested.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import islice, zip_longest

from lxml import etree

from crawler.extraction.output.footnotes import footnotes
from crawler.extraction.output.markdown_inline import (
    MARKS,
    Markup,
    escaped,
    raw,
    rendered,
    target,
    without_marks,
    without_returns,
)
from crawler.extraction.output.markdown_layout import AFTER_ALL, MarkdownLine, MarkdownTable, Scope, laid_out
from crawler.extraction.output.plain_text import remember_long_line
from crawler.page.blocks import ANCHORED, INLINE, WITHIN_WORDS, Block, steps, without_anchors
from crawler.page.formulas import is_display
from crawler.page.links import MAX_LINKS, ImageLink
from crawler.page.page import Extraction, Page
from crawler.page.text import fold_space
from crawler.urls.parsing import absolute

MARKUP_OF_TAG = {"b": Markup.STRONG, "strong": Markup.STRONG, "i": Markup.EM, "em": Markup.EM, "a": Markup.LINK}
MARKUP_OF_TAG |= dict.fromkeys(("code", "kbd", "samp", "tt"), Markup.CODE)
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
INDENTING = frozenset(("blockquote", "li", "dd"))
"""Elements whose lines are indented or quoted."""
# Nested items and quotes that are shown; deeper ones are not indented further.
MAX_INDENTS = 8
MAX_ALT = 300  # characters
MAX_FRAGMENT = 200  # characters
FIRST_LINES = 10  # lines among which repetitions of the title are looked for
MAX_ABOVE = 10  # elements around an image among which the parent of the last kept block is looked for
MAX_AFTER = 3
"""An image after the last kept block may be kept if at most this many blocks, such as captions, are between them."""
WHOLE_PAGE = frozenset(("html", "body"))
# Images smaller than this are icons, as are images with such file names.
LEAST_PIXELS = 50
ICON = re.compile(r"avatar|badge|blank|emoji|icon|loading|logo|pixel|smil|spacer|sprite|\b1x1\b", re.IGNORECASE)


def markdown(
    page: Page,
    extraction: Extraction,
    link_addresses: bool = False,
    excluded_images: Collection[str] = frozenset(),
) -> str:
    """The title and the main text as Markdown, with the images in it, except images with an address of
    `excluded_images`. `link_addresses` says whether links are written with their addresses.
    """
    if not extraction.blocks:
        return ""
    lines = _LineReader(page, extraction.blocks, link_addresses).run()

    # The title is written above the text. Of the lines that repeat it, the first one and all headings are dropped.
    title = fold_space(without_marks(extraction.title))
    repetitions = [line for line in lines[:FIRST_LINES] if _letters(line.block.text) == _letters(title)]
    dropped = {id(line) for line in repetitions if line is repetitions[0] or line.heading is not None}
    lines = [line for line in lines if id(line) not in dropped]

    text = laid_out(lines, _images(page, extraction.blocks, excluded_images))
    heading = f"# {escaped(title, first=False)}" if title else ""
    return "\n\n".join(filter(None, (heading, text)))


class _LineReader:
    def __init__(self, page: Page, blocks: Sequence[Block], link_addresses: bool) -> None:
        self.page = page
        self.link_addresses = link_addresses
        """Whether links are written with their addresses."""
        self.kept = {id(block) for block in blocks}
        self.blocks_left = len(self.kept)
        """How many kept blocks have not been reached."""
        self.links_left = MAX_LINKS
        """How many more links may be written with their addresses."""
        self.footnotes = footnotes(page, blocks)
        self.labels: list[str] = []
        """For each reference in this line, the label of its footnote."""
        self.at = 0
        """The index of the next block."""
        self.long_lines: set[str] = set()
        """The long lines so far; a repetition of one is not written, see `remember_long_line`."""
        self.lines: list[MarkdownLine] = []
        self.pieces: list[str] = []
        """The texts and marks of this line."""
        self.links_of_line: list[etree._Element] = []
        """The links in this line."""
        self.anchor: etree._Element | None = None
        """The open link, if any."""
        self.touches_link = False
        """Whether nothing has been read since the end of a link."""
        self.open_marks: list[tuple[Markup, etree._Element]] = []
        """The marks that are open, and the elements that opened them."""
        self.scopes: list[Scope] = []
        """The open quotes, items and footnotes."""
        self.headings: list[etree._Element] = []
        self.pres: list[etree._Element] = []
        self.tables: list[MarkdownTable] = []
        self.breaks = 2
        """How many <br> there were since the last line; 2 if another element began or ended."""

    def run(self) -> list[MarkdownLine]:
        """The kept blocks as lines of Markdown."""
        for step, element, text in steps(self.page.root):
            if step == "formula":
                self.read_formula(element, text)
                continue
            if step == "start":
                self.enter(element, element.tag)
            elif step == "end":
                self.leave(element, element.tag)
            if text:
                self.read(text)
            if not self.blocks_left:
                break
        self.end_line()
        return self.lines

    def read(self, text: str) -> None:
        """Add a text to the line. An empty text marks a tag within a word, where `raw` inserts no space."""
        self.pieces.append(text if text.isascii() else without_marks(text))
        self.touches_link = False

    def read_formula(self, element: etree._Element, text: str) -> None:
        """Add a formula to the line, between its marks."""
        before, after = MARKS[Markup.DISPLAY if is_display(element) else Markup.MATH]
        self.pieces.append(before)
        self.read(text)
        self.pieces.append(after)

    def enter(self, element: etree._Element, tag: str) -> None:
        """Enter an element."""
        if tag not in INLINE:
            self.end_line()
            self.enter_container(element, tag)
            return
        if tag == "a":
            if self.touches_link or self.anchor is not None:
                self.read(" ")  # adjacent links are never one word
            self.anchor = element
        elif tag in WITHIN_WORDS:
            self.read("")
        kind = self.footnotes.kind(element) or MARKUP_OF_TAG.get(tag)
        # A mark within one of the same kind would add nothing.
        if (
            kind
            and (kind is not Markup.LINK or self.link_addresses)
            and all(kind is not outer for outer, _ in self.open_marks)
        ):
            self.open_marks.append((kind, element))
            self.open_mark(kind, element)

    def leave(self, element: etree._Element, tag: str) -> None:
        """Leave an element."""
        if tag not in INLINE:
            self.end_line()
            self.leave_container(element, tag)
            return
        if self.open_marks and self.open_marks[-1][1] is element:
            kind, _ = self.open_marks.pop()
            self.pieces.append(MARKS[kind][1])
        if tag == "a" and self.anchor is element:
            self.anchor = None
            self.touches_link = True
        elif tag in WITHIN_WORDS:
            self.read("")

    def open_mark(self, kind: Markup, element: etree._Element) -> None:
        """Add the opening mark of an element to the line."""
        self.pieces.append(MARKS[kind][0])
        if kind is Markup.LINK:
            self.links_of_line.append(element)
        elif kind is Markup.NOTE:
            self.labels.append(self.footnotes.references[element])

    def enter_container(self, element: etree._Element, tag: str) -> None:
        """Record that the next lines are in an element that is not inline."""
        self.breaks = self.breaks + 1 if tag == "br" else 2
        if tag in INDENTING or element in self.footnotes.notes:
            self.scopes.append(Scope(element, self.footnotes.notes.get(element, "")))
        if tag in HEADINGS:
            self.headings.append(element)
        elif tag == "pre":
            self.pres.append(element)
        elif tag == "table":
            if self.tables:
                self.tables[-1].is_layout = True
            self.tables.append(MarkdownTable())
        elif self.tables and tag == "tr":
            self.tables[-1].begin_row()
        elif self.tables and tag in ("td", "th"):
            self.tables[-1].begin_cell(element)

    def leave_container(self, element: etree._Element, tag: str) -> None:
        """Record that an element that is not inline has ended."""
        if tag != "br":
            self.breaks = 2
        if tag in INDENTING or element in self.footnotes.notes:
            self.scopes.pop()
        if tag in HEADINGS:
            self.headings.pop()
        elif tag == "pre":
            self.pres.pop()
        elif tag == "table":
            self.tables.pop()
        elif self.tables and tag in ("td", "th"):
            self.tables[-1].end_cell()

    def end_line(self) -> None:
        """End the line, and keep it if it is a kept block. Open marks continue in the next line."""
        if not self.pieces:
            return
        for kind, _ in reversed(self.open_marks):
            self.pieces.append(MARKS[kind][1])

        bare = "".join(self.pieces)
        if not bare.isascii():
            bare = without_marks(bare)
        # A block begins here exactly if one does in crawler.page.blocks.
        block_text = bare.strip() if self.pres else fold_space(bare)
        if block_text:
            block = self.page.blocks[self.at] if self.at < len(self.page.blocks) else None
            if block is not None and id(block) in self.kept:
                self.blocks_left -= 1
                if self.page.document is not None or not remember_long_line(block.text, self.long_lines):
                    self.keep(block)
            self.at += 1
            self.breaks = 0

        self.pieces = []
        self.links_of_line = []
        self.labels = []
        self.touches_link = False
        for kind, element in self.open_marks:
            self.open_mark(kind, element)

    def keep(self, block: Block) -> None:
        """Render the line of a kept block, and store it with the elements around it."""
        pre = self.pres[-1] if self.pres else None
        heading = self.headings[-1] if self.headings else None
        table = self.tables[-1] if self.tables else None
        in_cell = table is not None and table.cell is not None

        if pre is not None:
            text = block.text
        else:
            pieces = without_anchors(self.pieces) if block.tag in ANCHORED else self.pieces
            marked = raw(pieces)
            if _letters(without_marks(marked)) == _letters(block.text):
                marked = without_returns(marked)
                if not marked:
                    return
                text = rendered(
                    marked, map(self.limited_address, self.links_of_line), iter(self.labels), strong=heading is None
                )
            else:  # this walk and that of crawler.page.blocks do not agree
                text = escaped(block.text)

        # A footnote is not indented by the elements around it.
        start = next((at for at, scope in enumerate(self.scopes) if scope.label), 0)
        scopes = self.scopes[start:][:MAX_INDENTS]
        # In the tree a <dd> without an end tag contains the next one, which does not belong to it.
        scopes = [
            scope for scope, inner in zip_longest(scopes, scopes[1:]) if inner is None or not inner.follows(scope)
        ]

        line = MarkdownLine(
            text=text,
            block=block,
            at=self.at,
            scopes=tuple(scopes),
            heading=heading,
            pre=pre,
            table=table if in_cell else None,
            breaks=self.breaks,
        )
        self.lines.append(line)
        if table is not None:
            table.add(line)

    def limited_address(self, anchor: etree._Element) -> str:
        """The address of a link, as Markdown writes it; empty if the link leads nowhere, or after MAX_LINKS links."""
        href = anchor.get("href", "").strip()
        if href in ("", "#") or not self.links_left:
            return ""
        self.links_left -= 1
        address, hash_sign, fragment = href.partition("#")
        if address:
            address = absolute(self.page.base, address) or ""
            if not address:
                return ""
        return target(address + hash_sign + fragment[:MAX_FRAGMENT])


def _letters(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


def _images(page: Page, blocks: Sequence[Block], excluded_images: Collection[str]) -> dict[int, list[str]]:
    """The images beside kept blocks as Markdown: by the index of the next kept block, or by AFTER_ALL if they are after
    the last kept block.
    """
    kept = {id(block) for block in blocks}
    kept_indexes = [at for at, block in enumerate(page.blocks) if id(block) in kept]
    are_kept = set(kept_indexes)
    last = kept_indexes[-1]
    images_before: dict[int, list[str]] = {}
    omitted_urls = set(excluded_images)  # and those of images that were written
    for image in page.images:
        if image.at > last + MAX_AFTER:
            break
        is_after = image.at > last and _is_beside(image, page.blocks[last])
        # Directly before or after a kept block, but not after the last kept one.
        is_between = image.at in are_kept or (image.at - 1 in are_kept and image.at < last)
        if (is_between or is_after) and image.url not in omitted_urls and not _is_icon(image):
            omitted_urls.add(image.url)
            alt = escaped(fold_space(without_marks(image.alt[:MAX_ALT])), in_link=True, more=True)
            before = AFTER_ALL
            if not is_after:
                before = kept_indexes[bisect_left(kept_indexes, image.at)]
            images_before.setdefault(before, []).append(f"![{alt}]({target(image.url)})")
    return images_before


def _is_beside(image: ImageLink, block: Block) -> bool:
    """Whether an image is in the parent of a block's element, unless that is the whole page."""
    around = block.element.getparent()
    return (
        around is not None
        and around.tag not in WHOLE_PAGE
        and any(ancestor is around for ancestor in islice(image.element.iterancestors(), MAX_ABOVE))
    )


def _is_icon(image: ImageLink) -> bool:
    sizes = [size for size in (image.width, image.height) if size is not None]
    return min(sizes, default=LEAST_PIXELS) < LEAST_PIXELS or ICON.search(image.url.rpartition("/")[2]) is not None
