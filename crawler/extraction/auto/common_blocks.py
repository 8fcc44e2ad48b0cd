"""The blocks that pages of a site have in common: menus, notices, teasers. They are not main text.

They are learned as the templates of J. Yan and Y. Wang are (crawler.extraction.methods.template): what 3 of 10 pages
have. Here whole blocks are compared, and they have to be equal, which takes a twentieth of the time. Headings and the
labels of tables and lists are not learned, since articles share some of them ("Ingredients", "References").
"""

from itertools import islice

from crawler.extraction.methods.template import MAX_LABELS, MAX_LENGTH, LeafLabel, Library
from crawler.page.html_tree import MAX_BLOCKS
from crawler.page.page import Page

HEADINGS_AND_LABELS = frozenset("h1 h2 h3 h4 h5 h6 dt th caption figcaption".split())


class BlockLibrary(Library):
    """The common blocks of a site."""

    longest_near = 0

    def labels(self, page: Page) -> frozenset[LeafLabel]:
        """The blocks of a page that may be common."""
        return page.once(_labels)

    def common_blocks(self, page: Page) -> list[int]:
        """The common blocks of a page, by index."""
        if not self:
            return []
        common = page.once(self.common)
        return [at for at, block in enumerate(page.blocks[:MAX_BLOCKS]) if (block.tag, block.text) in common]


def _labels(page: Page) -> frozenset[LeafLabel]:
    short = (block for block in page.blocks if len(block.text) <= MAX_LENGTH)
    named = (LeafLabel(block.tag, block.text) for block in short if block.tag not in HEADINGS_AND_LABELS)
    return frozenset(islice(dict.fromkeys(named), MAX_LABELS))
