"""Crunch: two layers of filters, by the tag of a node and by its content.

S. Gupta, G. Kaiser and others, "DOM-based content extraction of HTML documents", 2003, as described in a thesis of 2020
on the automatic extraction of a page's main text (section 1.2.1). The tree is walked, and two layers remove nodes:
1. by tag: styles, scripts, images, links;
2. by content: advertisements, by a list of the servers that they come from; lists of links, in which the ratio of
   linked to other characters is above a threshold; tables with too little text. A register keeps the removed links, so
   that a reader can still follow them.

Choices where the thesis gives no details:
- Styles, scripts and images have no text in the lines of a page anyway. Removing every link would leave holes in
  sentences, so the first layer only removes lines that are links as a whole.
- An advertisement is removed with the innermost element around it that is not inline, unless that is the <body>.
- Any element with a tag of LIST_TAGS is removed with everything in it if the ratio is above LINK_RATIO, which was
  tuned.
- Text that was already removed from a table does not count as text of the table.
- The text does not contain the register, which `crunched` returns beside it.

What to expect: nearly all of the main text, and much other text. Nothing is removed for lack of a sentence, so menus of
buttons, dates, notices and forms stay. Today's adverts are loaded by scripts: the list of servers hardly ever finds
one.
"""

import re
from dataclasses import dataclass
from itertools import accumulate, compress

from crawler.metadata.title import headline
from crawler.page.blocks import INLINE, Block
from crawler.page.html_tree import Element, enclosing, spans
from crawler.page.links import Link
from crawler.page.page import Extraction, Page

_SERVERS = (
    "2mdn.net 33across.com adform.net adnxs.com adroll.com adsafeprotected.com advertising.com adsrvr.org allyes.com"
    " amazon-adsystem.com atdmt.com bidswitch.net casalemedia.com clickbank.net connatix.com cpro.baidu.com criteo.com"
    " criteo.net doubleclick.net dianomi.com eclick.baidu.com fastclick.net googleadservices.com googlesyndication.com"
    " indexww.com infolinks.com mediaplex.com mediav.com mgid.com media.net moatads.com openx.net outbrain.com"
    " pos.baidu.com pubmatic.com revcontent.com rubiconproject.com serving-sys.com sharethrough.com smartadserver.com"
    " taboola.com tanx.com teads.tv tradedoubler.com valueclick.com yieldmo.com zedo.com"
)
AD_SERVERS = frozenset(_SERVERS.split())
ADVERT = re.compile(
    rf"(?:https?:)?//(?:[\w-]++\.)*?(?:{'|'.join(map(re.escape, sorted(AD_SERVERS)))})(?:[/:?#]|$)", re.IGNORECASE
)
LIST_TAGS = frozenset(
    "aside center dd div dl dt footer form header li nav ol p section table tbody td th tr ul".split()
)
# Characters of an address that are matched: https://, the longest host name, which has 253, and the character after it.
MAX_HOST = 262
# The ratio of linked to other characters: two thirds of the text are links.
LINK_RATIO = 2.0
# Characters below which a table has too little text.
SUBSTANCE = 25

Spans = dict[Element, tuple[int, int]]
"""For each element, the index of its first line and the index after its last line."""


@dataclass(frozen=True, slots=True)
class Crunched:
    """The result of both layers."""

    blocks: tuple[Block, ...]
    """The blocks that are left."""
    register: tuple[Link, ...]
    """The links that are not in these blocks."""


def is_more_than_a_link(block: Block) -> bool:
    """Whether a line has text outside links."""
    return block.linked < len(block.text)


def adverts(page: Page) -> set[Element | None]:
    """The innermost block-level elements around links to servers of advertisements."""
    links = (link for link in page.root.iter("a", "iframe") if is_advert(link.get("href") or link.get("src") or ""))
    return {element for element in enclosing(links, is_block) if element is not None and element.tag != "body"}


def is_block(element: Element) -> bool:
    """Whether an element is on lines of its own."""
    return element.tag not in INLINE


def is_advert(url: str) -> bool:
    """Whether an address is on a server of advertisements.

    >>> is_advert("https://ads.g.doubleclick.net/x"), is_advert("https://bees.example/?to=//doubleclick.net/")
    (True, False)
    """
    return ADVERT.match(url.strip()[:MAX_HOST]) is not None


def link_lists(page: Page, spanned: Spans) -> set[Element | None]:
    """The elements in which the ratio of linked to other characters is too high."""
    # The sums before each line, so that those of an element are differences.
    linked = [0, *accumulate(block.linked for block in page.blocks)]
    others = [0, *accumulate(len(block.text) - block.linked for block in page.blocks)]
    return {
        element
        for element, (start, end) in spanned.items()
        if element.tag in LIST_TAGS and linked[end] - linked[start] > LINK_RATIO * (others[end] - others[start])
    }


def empty_tables(page: Page, spanned: Spans, kept: list[bool]) -> set[Element | None]:
    """The tables in which too little text is kept."""
    kept_before = [0, *accumulate(len(block.text) * is_kept for block, is_kept in zip(page.blocks, kept, strict=True))]
    tables = ((element, span) for element, span in spanned.items() if element.tag == "table")
    return {table for table, (start, end) in tables if kept_before[end] - kept_before[start] < SUBSTANCE}


def without(removed: set[Element | None], page: Page, kept: list[bool]) -> list[bool]:
    """Whether each line is kept if these elements are removed, too, with everything in them."""
    inside = enclosing((block.element for block in page.blocks), removed.__contains__)
    return [is_kept and element is None for is_kept, element in zip(kept, inside, strict=True)]


def crunched(page: Page) -> Crunched:
    """The lines that both layers leave, and the register of the links that are not in them."""
    kept = [is_more_than_a_link(block) for block in page.blocks]
    spanned = spans(page.blocks)
    kept = without(adverts(page) | link_lists(page, spanned), page, kept)
    kept = without(empty_tables(page, spanned, kept), page, kept)
    # Links without text, such as those of images, are in no line.
    in_text = {at for at, is_kept in enumerate(kept) if is_kept}
    register = tuple(link for link in page.links if not link.text or link.at not in in_text)
    return Crunched(blocks=tuple(compress(page.blocks, kept)), register=register)


def crunch(page: Page) -> Extraction:
    """The text that both layers leave."""
    blocks = crunched(page).blocks
    return Extraction(text="\n".join(block.text for block in blocks), title=headline(page), blocks=blocks)
