"""Learns the blocks that pages of a site have in common: menus, notices, teasers. They are not main text.

They are learned like the templates of J. Yan and Y. Wang (crawler/extraction/methods/template.py): a block is common if
3 of 10 pages have it. Here whole blocks are compared and must be equal, which takes a twentieth of the time. Headings
and the labels of tables and lists are not learned, because articles share some of them ("Ingredients", "References").
Lines of code and cells of data tables are not learned either: many listings have the line "return None" and many tables
the cell "yes", and without it the rest would say something else.
"""

from itertools import chain, islice

from crawler.extraction.auto.whole_tables_and_lists import data_tables
from crawler.extraction.methods.template import MAX_LABELS, MAX_LENGTH, LeafLabel, Library
from crawler.page.html_tree import MAX_BLOCKS
from crawler.page.page import Page

HEADINGS_AND_LABELS = frozenset("h1 h2 h3 h4 h5 h6 dt th caption figcaption".split())


class BlockLibrary(Library):
    """The common blocks of a site. Its labels are a block's tag and text."""

    longest_near = 0  # all blocks must be equal

    def labels(self, page: Page) -> frozenset[LeafLabel]:
        """The blocks of a page that may be common."""
        return page.once(_labels)

    def common_blocks(self, page: Page) -> list[int]:
        """The common blocks of a page, by index."""
        if not self:
            return []
        common = page.once(self.common)
        parts = page.once(_parts_of_wholes)
        blocks = enumerate(page.blocks[:MAX_BLOCKS])
        return [at for at, block in blocks if at not in parts and (block.tag, block.text) in common]


def _parts_of_wholes(page: Page) -> frozenset[int]:
    """The blocks, by index, that are lines of code or cells of data tables."""
    containers = page.containers
    pres = [at for at, tag in enumerate(containers.tags) if tag == "pre"]
    wholes = (*pres, *data_tables(page))
    return frozenset(chain.from_iterable(range(containers.starts[at], containers.ends[at]) for at in wholes))


def _labels(page: Page) -> frozenset[LeafLabel]:
    parts = page.once(_parts_of_wholes)
    blocks = (block for at, block in enumerate(page.blocks) if at not in parts)
    short = (block for block in blocks if len(block.text) <= MAX_LENGTH)
    labels = (LeafLabel(tag=block.tag, text=block.text) for block in short if block.tag not in HEADINGS_AND_LABELS)
    return frozenset(islice(dict.fromkeys(labels), MAX_LABELS))
