"""Links to the pages before and after a page, at the beginning or the end of its text.

The chapters of manuals have lines such as "Chapter 9. Wasps" and "Chapter 11. Ants" at their feet. The head names the
same pages: <link rel="next" href="ants.html" title="Chapter 11. Ants">.
https://html.spec.whatwg.org/multipage/links.html#sequential-link-types
"""

from itertools import dropwhile
from typing import NamedTuple

from crawler.metadata.structured_data import letters
from crawler.metadata.title import HEADINGS
from crawler.page.page import Page
from crawler.urls.parsing import absolute

RELATIONS = frozenset(("prev", "previous", "next", "up", "home", "start", "contents"))
MAX_TITLE = 300
"""Characters of a title that are compared."""


class NeighbourLinks(NamedTuple):
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
    if not neighbours.titles and not neighbours.linked:
        return places
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
        return NeighbourLinks(frozenset(), frozenset(), frozenset())
    urls = {absolute(page.base, href) for element in elements if (href := element.get("href"))}
    linked = frozenset(link.at for link in page.links if link.url in urls)
    images = frozenset(image.url for image in page.images if image.target in urls)
    return NeighbourLinks(frozenset(titles - {""}), linked, images)


def _is_neighbour(page: Page, place: int, neighbours: NeighbourLinks) -> bool:
    """Whether a block is the title of a neighbouring page, or a link to it; items of a list may be its contents."""
    block = page.blocks[place]
    if block.tag in HEADINGS or block.tag == "li":
        return False
    is_link = place in neighbours.linked and block.linked == len(block.text)
    return is_link or letters(block.text[:MAX_TITLE]) in neighbours.titles
