"""Removes links to the pages before and after a page from the beginning and the end of its text.

The chapters of manuals end with lines such as "Chapter 9. Wasps" and "Chapter 11. Ants". The head of such a page names
the same pages: <link rel="next" href="ants.html" title="Chapter 11. Ants">.
https://html.spec.whatwg.org/multipage/links.html#sequential-link-types

Below the post of a blog, a word marks the link to a neighbour: "Next: <a href="ants.html">Ants</a>".
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import dropwhile

from crawler.metadata.structured_data import letters
from crawler.metadata.title import HEADINGS
from crawler.page.page import Page
from crawler.page.text import fold_space
from crawler.urls.parsing import absolute

NEIGHBOUR_RELATIONS = frozenset(("prev", "previous", "next", "up", "home", "start", "contents"))
"""Relations (rel) of links to neighbours; the pages above a chapter count as its neighbours."""
MAX_TITLE = 300
"""The most characters of a title that are compared."""
MOST_LETTERS = 600
"""The most characters of a line that is searched for words for neighbours: it may have the titles of both."""
ARROWS = "«»‹›<>←→⇐⇒⟵⟶◀▶◄►❮❯"
_HAN = "[上下]一[篇章页頁](?:文章)?"
_WORD = rf"(?:(?:next|prev(?:ious)?|newer|older)(?: (?:post|article|page|chapter)s?)?(?!\w)|{_HAN})"
_SIGN_BESIDE = rf"[{ARROWS}:：|/·\s]"
WORDS = re.compile(rf"{_SIGN_BESIDE}*+(?:{_WORD}{_SIGN_BESIDE}*+)+", re.IGNORECASE)
"""Matches the text outside the links of a line if it consists of words for neighbours."""
LINKED_WORD = re.compile(
    rf"{_WORD}\s*+(?:$|[{ARROWS}:：])|[{ARROWS}]++\s*+{_WORD}|{_HAN}\s",
    re.IGNORECASE,
)
"""Matches the beginning of a link that contains the word for a neighbour itself: "Next: Ants". A title such as "next
generations" does not match.
"""


@dataclass(frozen=True, slots=True)
class NeighbourLinks:
    """The neighbours that the head of a page names, and the links to them."""

    titles: frozenset[str]
    """The titles of the neighbours in the head, without spaces and signs."""
    linked: frozenset[int]
    """The indexes of blocks with a link to a neighbour."""
    images: frozenset[str]
    """The addresses of images with a link to a neighbour, such as arrows."""


def without_neighbours(page: Page, indexes: list[int]) -> list[int]:
    """The indexes of the blocks of a text, without links to neighbouring pages before and after it."""
    neighbours = page.once(_neighbours)
    # Neighbours are dropped from the beginning, then from the end.
    without_first = list(dropwhile(lambda index: _is_neighbour(page, index, neighbours), indexes))
    reversed_rest = list(dropwhile(lambda index: _is_neighbour(page, index, neighbours), reversed(without_first)))
    return reversed_rest[::-1]


def neighbour_images(page: Page) -> frozenset[str]:
    """The addresses of a page's images that link to neighbouring pages."""
    return page.once(_neighbours).images


def _neighbours(page: Page) -> NeighbourLinks:
    elements = [
        element
        for element in page.metadata_elements("link")
        if NEIGHBOUR_RELATIONS & set(element.get("rel", "").lower().split())
    ]
    if not elements:
        return NeighbourLinks(titles=frozenset(), linked=frozenset(), images=frozenset())
    titles = {letters(element.get("title", "")[:MAX_TITLE]) for element in elements}
    hrefs = filter(None, (element.get("href") for element in elements))
    urls = {absolute(page.base, href) for href in hrefs}
    linked = frozenset(link.at for link in page.links if link.url in urls)
    images = frozenset(image.url for image in page.images if image.target in urls)
    return NeighbourLinks(titles=frozenset(titles - {""}), linked=linked, images=images)


def _is_neighbour(page: Page, index: int, neighbours: NeighbourLinks) -> bool:
    """Whether a block consists of words for neighbours and links, or is the title of a neighbour or a link to one.

    A heading or an item of a list must have words for neighbours: otherwise it may be part of a table of contents.
    """
    if _has_word_for_neighbour(page, index):
        return True
    block = page.blocks[index]
    if block.tag in HEADINGS or block.tag == "li":
        return False
    is_link = index in neighbours.linked and block.linked == len(block.text)
    return is_link or letters(block.text[:MAX_TITLE]) in neighbours.titles


def _has_word_for_neighbour(page: Page, index: int) -> bool:
    """Whether a block consists of words for neighbouring pages and of links."""
    block = page.blocks[index]
    if not block.linked or len(block.text) > MOST_LETTERS:
        return False
    links = page.once(_links_by_block)[index]
    unlinked = block.text
    for link in links:
        unlinked = unlinked.replace(link, "", 1)
    if WORDS.fullmatch(unlinked):
        return True
    return bool(links) and not unlinked.strip(f"{ARROWS}|/· ") and all(map(LINKED_WORD.match, links))


def _links_by_block(page: Page) -> defaultdict[int, list[str]]:
    """The texts of the links in each block, by its index; unlike `page.links`, also for a page without an address."""
    links = defaultdict[int, list[str]](list)
    for link in page.link_elements:
        text = fold_space("".join(link.pieces))
        if link.href and text:
            links[link.at].append(text)
    return links
