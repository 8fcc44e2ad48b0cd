"""Leaf tags: the leaves of a page that have a full stop.

Z. Shao, "Web Page Information Extraction Technology", Computer Technology and Development 23(9), 2013. The method of
the paper
1. repairs the page and parses it (`Page` has done both),
2. takes the leaves, which are the texts directly in <title>, <meta>, <p>, <tr>, <td> and similar elements, and drops
   the elements for interaction and display: <form>, <script>, <style>,
3. keeps the leaves with a full stop: main text consists of sentences, navigation of phrases, links of headlines, and
   copyright lines have no sentences either.

Choices where the paper gives no details:
- A leaf is the text directly in one element, so a <br> ends a line, but not a leaf.
- The full stop of the paper is the Chinese 。; here the ends of sentences in all scripts count. In scripts without one
  (Thai, Lao), a long line counts as a sentence.
- English copyright lines and today's cookie notices have full stops, too, and are recognised by their words.
- Lines that consist mostly of links are navigation even with full stops, and so are all elements in <nav>, <footer>
  and <aside>.
- Headings, lists and quotations often have no full stop: a heading is kept if the next leaf is, and the leaves between
  two neighbouring leaves that are kept are kept with them.
"""

import re
from itertools import chain, compress, groupby
from operator import attrgetter

from crawler.metadata.title import headline
from crawler.page.blocks import Block
from crawler.page.html_tree import enclosing
from crawler.page.page import Extraction, Page
from crawler.page.text import has_full_stop

TEXT_TAGS = frozenset(
    "address article aside blockquote body caption center dd details div dt figcaption html li main noscript p pre "
    "section summary td th tr".split()
)
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
# Above this share of its characters in links, a line belongs to a list of links.
LINK_LIMIT = 0.5
LEGAL = re.compile(
    r"©|\(c\)\s*\d{4}|copyright|all rights reserved|版权所有|版權所有|未经授权|未经许可|icp[备證证]|备案号"
    r"|\buses? cookies|使用\s*cookie",
    re.IGNORECASE,
)
# A legal line is short; a paragraph about the law is not.
LEGAL_LENGTH = 300
FRAMES = ("nav", "footer", "aside")
# A line that begins in Thai or Lao.
WITHOUT_STOPS = re.compile("[^\\W\\d]*[\u0e01-\u0eff]")
# The fewest characters of such a line that counts as a sentence.
LONG = 40


def leaf_tags(page: Page) -> Extraction:
    """The main text by Shao's method."""
    frames = enclosing((block.element.getparent() for block in page.blocks), lambda element: element.tag in FRAMES)
    lines = [block for block, frame in zip(page.blocks, frames, strict=True) if frame is None and is_text(block)]
    leaves = [list(leaf) for _, leaf in groupby(lines, key=attrgetter("element"))]
    are_prose = [is_prose(leaf) for leaf in leaves]
    kept = tuple(chain.from_iterable(compress(leaves, _with_leaves_between(leaves, are_prose))))
    return Extraction(text="\n".join(block.text for block in kept), title=headline(page), blocks=kept)


def is_text(block: Block) -> bool:
    """Whether a line outside of frames may be main text: it is neither in a list of links nor a legal notice."""
    return (
        (block.tag in TEXT_TAGS or block.tag in HEADINGS)
        and block.linked <= LINK_LIMIT * len(block.text)
        and not (len(block.text) < LEGAL_LENGTH and LEGAL.search(block.text))
    )


def is_prose(leaf: list[Block]) -> bool:
    """Whether a leaf has a sentence, and is not a heading."""
    return leaf[0].tag not in HEADINGS and any(has_full_stop(line.text) or _is_long(line.text) for line in leaf)


def _is_long(text: str) -> bool:
    """Whether a line in a script without full stops is too long for a phrase."""
    return WITHOUT_STOPS.match(text) is not None and len(text) >= LONG


def _are_neighbours(leaves: list[list[Block]]) -> bool:
    """Whether all leaves are children or grandchildren of the first one's parent, like the items of a list."""
    first_parent = leaves[0][0].element.getparent()
    parents = (leaf[0].element.getparent() for leaf in leaves)
    return all(parent is not None and first_parent in (parent, parent.getparent()) for parent in parents)


def _with_leaves_between(leaves: list[list[Block]], are_prose: list[bool]) -> list[bool]:
    """Whether each leaf is kept: leaves of prose, headings directly before them, and leaves between two neighbours."""
    kept = are_prose.copy()
    last_prose = None
    for index, is_prose_leaf in enumerate(are_prose):
        if not is_prose_leaf:
            continue
        if last_prose is not None and _are_neighbours(leaves[last_prose : index + 1]):
            kept[last_prose:index] = [True] * (index - last_prose)
        elif index and leaves[index - 1][0].tag in HEADINGS:
            kept[index - 1] = True
        last_prose = index

    # Headings are dropped if the next leaf is not kept, or is a heading. The loop runs backwards, as the next leaf may
    # be a heading that is dropped.
    for index in range(len(leaves) - 2, -1, -1):
        if leaves[index][0].tag in HEADINGS and (not kept[index + 1] or leaves[index + 1][0].tag in HEADINGS):
            kept[index] = False
    return kept
