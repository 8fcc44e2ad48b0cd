"""Links to the pages before and after a page, at the beginning or the end of its text.

The chapters of manuals have lines such as "Chapter 9. Wasps" and "Chapter 11. Ants" at their feet. The head names the
same pages: <link rel="next" href="ants.html" title="Chapter 11. Ants">.
https://html.spec.whatwg.org/multipage/links.html#sequential-link-types

Below the posts of blogs a word names the neighbour: "Next: <a href="ants.html">Ants</a>".
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

RELATIONS = frozenset(("prev", "previous", "next", "up", "home", "start", "contents"))
MAX_TITLE = 300
"""Characters of a title that are compared."""
MOST_LETTERS = 600
"""Characters of a line with a word for a neighbour and the titles of both."""
ARROWS = "«»‹›<>←→⇐⇒⟵⟶◀▶◄►❮❯"
_HAN = "[上下]一[篇章页頁](?:文章)?"
_WORD = rf"(?:(?:next|prev(?:ious)?|newer|older)(?: (?:post|article|page|chapter)s?)?(?!\w)|{_HAN})"
_BESIDE = rf"[{ARROWS}:：|/·\s]"
WORDS = re.compile(rf"{_BESIDE}*+(?:{_WORD}{_BESIDE}*+)+", re.IGNORECASE)
"""Words for neighbours, without the links beside them."""
LINKED_WORD = re.compile(
    rf"{_WORD}\s*+(?:$|[{ARROWS}:：])|[{ARROWS}]++\s*+{_WORD}|{_HAN}\s",
    re.IGNORECASE,
)
"""How a link begins that has the word in it: "next generations" is the beginning of a title."""


@dataclass(frozen=True, slots=True)
class NeighbourLinks:
    """Where a page names its neighbours in its body."""

    titles: frozenset[str]
    """Their titles in the head of the page, as letters."""
    linked: frozenset[int]
    """The indexes of blocks with a link to one of them."""
    images: frozenset[str]
    """The addresses of images with a link to one of them, such as arrows."""


def without_neighbours(page: Page, places: list[int]) -> list[int]:
    """The indexes of the blocks of a text, without links to neighbouring pages before and after it."""
    neighbours = page.once(_neighbours)
    begun = list(dropwhile(lambda place: _is_neighbour(page, place, neighbours), places))
    ended = list(dropwhile(lambda place: _is_neighbour(page, place, neighbours), reversed(begun)))
    return ended[::-1]


def neighbour_images(page: Page) -> frozenset[str]:
    """The addresses of a page's images that link to neighbouring pages."""
    return page.once(_neighbours).images


def _neighbours(page: Page) -> NeighbourLinks:
    elements = [
        element for element in page.describing("link") if RELATIONS & set(element.get("rel", "").lower().split())
    ]
    titles = {letters(element.get("title", "")[:MAX_TITLE]) for element in elements}
    if not elements:
        return NeighbourLinks(titles=frozenset(), linked=frozenset(), images=frozenset())
    hrefs = filter(None, (element.get("href") for element in elements))
    urls = {absolute(page.base, href) for href in hrefs}
    linked = frozenset(link.at for link in page.links if link.url in urls)
    images = frozenset(image.url for image in page.images if image.target in urls)
    return NeighbourLinks(titles=frozenset(titles - {""}), linked=linked, images=images)


def _is_neighbour(page: Page, place: int, neighbours: NeighbourLinks) -> bool:
    """Whether a block is the title of a neighbouring page, or a link to it; items of a list may be its contents."""
    if _has_word_for_neighbour(page, place):
        return True
    block = page.blocks[place]
    if block.tag in HEADINGS or block.tag == "li":
        return False
    is_link = place in neighbours.linked and block.linked == len(block.text)
    return is_link or letters(block.text[:MAX_TITLE]) in neighbours.titles


def _has_word_for_neighbour(page: Page, place: int) -> bool:
    """Whether a block consists of words for neighbouring pages and of links."""
    block = page.blocks[place]
    if not block.linked or len(block.text) > MOST_LETTERS:
        return False
    links = page.once(_links_by_block)[place]
    unlinked = block.text
    for link in links:
        unlinked = unlinked.replace(link, "", 1)
    if WORDS.fullmatch(unlinked):
        return True
    return bool(links) and not unlinked.strip(f"{ARROWS}|/· ") and all(map(LINKED_WORD.match, links))


def _links_by_block(page: Page) -> defaultdict[int, list[str]]:
    """The texts of the links in each block, by its index; a page without an address has them, too."""
    links = defaultdict[int, list[str]](list)
    for link in page.link_elements:
        text = fold_space("".join(link.pieces))
        if link.href and text:
            links[link.at].append(text)
    return links
