"""The tree of a page, and the bounds that keep its time and memory small, far above what pages have.

Of 8,000 pages of all kinds one has more than 5 MB. Of 5,000 pages the largest has 15,800 elements with 39,000
attributes, and no tag has more than 140 attributes. A parser's memory grows with the elements and attributes, and its
time also with the square of the attributes of a tag. Where a tag starts depends on scripts, comments and quotes, which
a scan could easily read differently from the parser; so everything that looks like the start of a tag counts as one.

`parsed` makes the tree. First, `bounded` cuts off the source at the limits. After parsing, text that the owner
withholds is removed, and three repairs are made: elements that do not belong in a head are moved into the body, the
signs of permalinks are removed, and lines of code are set apart by line breaks.

`enclosing` and `spans` find the elements around blocks, in time that does not grow with the depth of the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from itertools import dropwhile, islice
from unicodedata import category

from lxml import etree

from crawler.page.blocks import Block
from crawler.page.owner_marks import NOTHING, OwnerMark, Withheld, marks_in, withhold

MAX_BYTES = 5_000_000  # of a page that are decoded and parsed
MAX_TAGS = 50_000  # starts of elements
MAX_SIGNS = 500_000  # `<` characters, whether they start a tag or not
MAX_ATTRIBUTES = 200_000  # of a page
CROWDED = 500  # attributes of one tag; a tag with more is turned into text
MAX_LEVELS = 2_048  # levels of elements after which libxml2 drops the rest of the page
MAX_BLOCKS = 20_000  # blocks of a page that a model judges; applied in crawler/extraction/auto
LEVEL_MARGIN = 8  # levels by which the depth of a cut tree may differ, e.g. between versions of libxml2
SHORT_SOURCE = 4 * MAX_TAGS  # bytes of a source whose tags are not counted: it can hardly have more than MAX_TAGS
LEAST_ATTRIBUTE = 3  # bytes that an attribute is assumed to have at least
# Bytes of tags that one scan of a page reads, some of them repeatedly, as starts of tags may overlap. Pages need a
# hundred thousand.
MAX_SCANNED = 20_000_000

# As in browsers: quotes count only after an equals sign, and an equals sign only after a name.
_ATTRIBUTE = rb"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?+|'[^']*+'?+|[^\s>"'][^\s>]*+)?+)?+"""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(rb"<([^\s/>]*+)(?:[\s/]++|%b)*+" % _ATTRIBUTE)
# A tag with at most CROWDED attributes. The group is one attribute more, which only a crowded tag has.
_TAG_WITH_CROWD = re.compile(rb"<[^\s/>]*+(?:[\s/]*+%b){0,%d}+([\s/]*+%b)?+" % (_ATTRIBUTE, CROWDED, _ATTRIBUTE))
# A tag that may be crowded. The tags of most pages are ruled out quickly: first those with double quotes only, then
# others.
_UNUSUAL_TAG = re.compile(
    rb"""<[a-zA-Z](?![a-zA-Z0-9_:-]*+(?: [a-zA-Z0-9_:-]++(?:="[^"]*+")?+){0,20}+>)"""  # like \w, but faster
    rb"""(?![\w:-]{0,30}+(?:\s++[^\s/>=<"']{1,60}+(?:=(?:"[^"]{0,2000}+"|'[^']{0,2000}+'|[^\s"'<>=]{1,500}+))?+)"""
    rb"""{0,20}+\s*+/?>)"""
)
_SIGN = re.compile(b"<")
_TAG_START = re.compile(rb"<[a-zA-Z]")
# The start of an element. An end tag of <p>, <br>, <html>, <body> or <head> may also create an element.
_NEW_ELEMENT = re.compile(rb"<(?:[a-z]|/(?:p|br|html|body|head)\b)", re.IGNORECASE)

# Character references to control characters, which no text needs.
_CONTROL = re.compile(
    rb"&#(?:0{0,8}(?:[1-8]|1[124-9]|2\d|3[01]|127)(?!\d)"
    rb"|x0{0,8}(?:[1-8bcef]|1[\da-f]|7f|fff[ef])(?![\da-f]));?",
    re.IGNORECASE,
)

_PARSER = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
_COMMENT_PARSER = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_pis=True)

HEAD_ELEMENTS = frozenset("title meta link base basefont bgsound script style noscript noframes template".split())
"""Elements that may be in a head."""
PILCROW = "¶"
PERMALINKS = frozenset((PILCROW, "§", "#", "🔗"))
"""The signs of links that manuals put beside a heading to link to it; icon fonts have further ones."""
PRIVATE_USE = "Co"
"""The category of characters that only an icon font draws (https://www.unicode.org/reports/tr44/#GC_Values_Table)."""
MAX_PERMALINK = 8  # characters of a link that may be such a sign, with the space around it
MAX_NESTED = 8  # nested elements at the end of a line of code
_CODE_LINE = re.compile(r"(?:^|[\s_-])line(?:\s|$)")  # in the class of an element that is a line of code


class Cut(StrEnum):
    """The limit that cut off the rest of a page."""

    BYTES = "bytes"
    TAGS = "tags"
    """The number of tags or of attributes."""
    DEPTH = "depth"
    BLOCKS = "blocks"
    DOCUMENT = "document"
    """The pages or the text of a document that is no web page."""


def bounded(source: bytes) -> tuple[bytes, Cut | None]:
    """The part of a source that is parsed, with crowded tags turned into text, and the limit that cut off the rest, if
    any.
    """
    # Limit the elements and the `<`. `start_of` is None, and the slice the whole source, if there are fewer.
    length = len(source)
    if length > SHORT_SOURCE and source.count(b"<") > MAX_TAGS:
        source = source[: start_of(_NEW_ELEMENT, MAX_TAGS, source)]
        source = source[: start_of(_SIGN, MAX_SIGNS, source)]
    is_whole = len(source) == length

    # Limit the attributes.
    source, end = _without_crowds(source)
    if end is None and len(source) > LEAST_ATTRIBUTE * MAX_ATTRIBUTES:
        end = _end_of_attributes(source)
    return source[:end], None if is_whole and end is None else Cut.TAGS


def start_of(pattern: re.Pattern[bytes], number: int, source: bytes) -> int | None:
    """The start of the match with this number, counted from 0; None if there are fewer matches."""
    return next((match.start() for match in islice(pattern.finditer(source), number, None)), None)


def _without_crowds(source: bytes) -> tuple[bytes, int | None]:
    """The source without crowded tags, and where to cut it if the scan would take too long."""
    kept: list[bytes] = []
    copied = 0  # offset up to which the source has been copied to `kept`
    scanned = 0  # bytes of tags
    for match in _UNUSUAL_TAG.finditer(source):
        start = match.start()
        tag = _matched(_TAG_WITH_CROWD, source, start)
        if tag[1] is not None:  # it is crowded: a space after its `<` makes it text
            kept += [source[copied:start], b"< "]
            copied = start + 1
        scanned += tag.end() - start
        if scanned > MAX_SCANNED:  # cut before this tag
            kept.append(source[copied:start])
            return b"".join(kept), sum(map(len, kept))
    if kept:
        source = b"".join([*kept, source[copied:]])
    return source, None


def _end_of_attributes(source: bytes) -> int | None:
    """The end of the part with at most `MAX_ATTRIBUTES` attributes; None if the whole source has no more."""
    # The lengths of tags alone show for most sources that they have fewer, without counting.
    by_length = _end_of(source, lambda tag: min(CROWDED, (tag.end() - tag.start()) // LEAST_ATTRIBUTE))
    if by_length is None:
        return None
    return _end_of(source, _attribute_count)


def _end_of(source: bytes, attribute_count: Callable[[re.Match[bytes]], int]) -> int | None:
    """The start of the first tag with which the source exceeds `MAX_ATTRIBUTES` or `MAX_SCANNED`; None if it exceeds
    neither. `attribute_count` counts the attributes of a tag.
    """
    total = 0  # attributes
    scanned = 0  # bytes of tags
    for match in _TAG_START.finditer(source):
        tag = _matched(_TAG, source, match.start())
        total += attribute_count(tag)
        scanned += tag.end() - tag.start()
        if total > MAX_ATTRIBUTES or scanned > MAX_SCANNED:
            return tag.start()
    return None


def _matched(pattern: re.Pattern[bytes], source: bytes, start: int) -> re.Match[bytes]:
    tag = pattern.match(source, start)
    assert tag is not None  # noqa: S101 - both patterns match everything that starts like a tag
    return tag


def _attribute_count(tag: re.Match[bytes]) -> int:
    return sum(1 for _ in _ATTRIBUTES.finditer(tag.string, tag.end(1), tag.end()))


def is_deep(root: etree._Element) -> bool:
    """Whether a tree was cut off because it is too deep, so that the rest of the page is missing."""
    # The parser stopped in the last element of the tree, to which the last children lead.
    element = root
    levels = 1
    while levels < MAX_LEVELS and len(element):
        element = element[-1]
        levels += 1
    return levels >= MAX_LEVELS - LEVEL_MARGIN


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a source."""

    root: etree._Element
    """A lone <html> if the source has no element."""
    ended: Cut | None
    """The limit that cut off the rest of the source, if any."""
    _: KW_ONLY
    withheld: Withheld = NOTHING
    """The text that its owner has marked as not to be used, which is not in the tree."""


def parsed(source: bytes) -> Parsed:
    """The tree of a source in UTF-8, without the text that its owner marks as not to be used."""
    marks = marks_in(source)
    if b"&#" in source:
        source = _CONTROL.sub(b"", source)
    source, ended = bounded(source)
    parser = _COMMENT_PARSER if OwnerMark.GOOGLE_OFF in marks else _PARSER
    try:
        root = etree.fromstring(source, parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        return Parsed(root=etree.Element("html"), ended=ended)
    # The parser makes a second root of content after </html>, which browsers show with the rest of the page.
    for late in list(root.itersiblings(etree.Element)):
        root.append(late)
    withheld = withhold(root, marks) if marks else NOTHING
    _open_body(root)
    _silence_permalinks(root)
    _break_code_lines(root)
    if ended is None and is_deep(root):
        ended = Cut.DEPTH
    return Parsed(root=root, ended=ended, withheld=withheld)


def _open_body(root: etree._Element) -> None:
    """Move the content of a head into the body, from the first element on that does not belong in a head.

    Browsers do so (https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inhead); libxml2 does it only for
    the elements that are older than HTML 5.
    """
    late = [
        element
        for head in root.findall("head")
        for element in dropwhile(lambda element: element.tag in HEAD_ELEMENTS, head)
    ]
    if not late:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    # The text at the beginning of the body follows the moved elements now.
    late[-1].tail = (late[-1].tail or "") + (body.text or "") or None
    body.text = None
    body[:0] = late


def _silence_permalinks(root: etree._Element) -> None:
    """Remove the text of links that show only a permalink sign, if they lead to a position on the page. A pilcrow is
    removed wherever its link leads.
    """
    for link in root.iter("a"):
        text = link.text
        if text and len(text) < MAX_PERMALINK and _is_permalink(text.strip()) and not len(link):
            is_on_page = link.get("href", "").startswith("#")
            if is_on_page or PILCROW in text:
                link.text = None


def _is_permalink(text: str) -> bool:
    """Whether the text of a link is only a permalink sign.

    >>> [_is_permalink(text) for text in ("¶", "\uf0c1", "top")]
    [True, True, False]
    """
    return text in PERMALINKS or (len(text) == 1 and category(text) == PRIVATE_USE)


def _break_code_lines(root: etree._Element) -> None:
    """Add a line break between two <span> that are lines of code, if only a style sheet separates them."""
    for span in root.iter("span"):
        its_class = span.get("class", "")
        if "line" not in its_class or not _CODE_LINE.search(its_class):
            continue
        after = span.getnext()
        if after is None or after.tag != "span" or not _CODE_LINE.search(after.get("class", "")):
            continue
        if not span.tail and not _ends_line(span):
            span.tail = "\n"


def _ends_line(element: etree._Element) -> bool:
    """Whether an element ends with a line break."""
    for _ in range(MAX_NESTED):
        if not len(element):
            return element.tag == "br" or (element.text or "").endswith("\n")
        element = element[-1]
        if element.tail:
            return element.tail.endswith("\n")
    return False


Element = etree._Element


def enclosing(elements: Iterable[Element | None], is_home: Callable[[Element], bool]) -> Iterator[Element | None]:
    """For each element its home: the innermost element around it, or itself, for which `is_home` is true; None if it
    has none.
    """
    home_of: dict[Element | None, Element | None] = {None: None}
    for element in elements:
        if element not in home_of:
            # All elements up to the home, or up to an element whose home is known, have the same home.
            path = []
            above = element
            while above is not None and above not in home_of and not is_home(above):
                path.append(above)
                above = above.getparent()
            home = home_of.get(above, above)
            home_of.update(dict.fromkeys([*path, above], home))
        yield home_of[element]


def spans(blocks: tuple[Block, ...]) -> dict[Element, tuple[int, int]]:
    """For each element with text, the index of its first block and the index after its last block."""
    # First and last blocks are found separately, because blocks of other elements may be between two blocks of an
    # element.
    ends = _first_blocks(blocks, range(len(blocks) - 1, -1, -1))
    return {element: (first, ends[element] + 1) for element, first in _first_blocks(blocks, range(len(blocks))).items()}


def _first_blocks(blocks: tuple[Block, ...], order: range) -> dict[Element, int]:
    """For each element with text, the index of the first of its blocks in this order."""
    index_of_element: dict[Element, int] = {}
    for index in order:
        element: Element | None = blocks[index].element
        while element is not None and element not in index_of_element:
            index_of_element[element] = index
            element = element.getparent()
    return index_of_element
