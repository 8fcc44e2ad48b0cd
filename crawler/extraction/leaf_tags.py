"""Leaf tags: the text of a page's leaves, less what has no full stop.

Z. Shao, "Web Page Information Extraction Technology", Computer Technology and Development 23(9), 2013. The paper
1. repairs the page and makes a tree of it (`Page` has done both),
2. takes the leaves, that is the text directly inside <title>, <meta>, <p>, <tr>, <td> and their kin, and drops what
   serves interaction and display: <form>, <script>, <style>,
3. keeps the leaves with a full stop: main text is made of sentences, navigation of phrases, links of headlines, and
   copyright lines have no sentences either.

Where the paper is silent: a leaf is a block (text between two breaks of a line). Its full stop is the Chinese 。; here
every script's sentence end counts. English copyright lines and today's cookie notices have one too: their words tell
them. A leaf mostly made of links is navigation whatever its stops. A heading is kept where the next leaf is: the rule,
which is for <p>, says nothing of headings.
"""

import re

from crawler.extraction.title import headline
from crawler.page import Extraction, Page
from crawler.text import has_full_stop
from crawler.walk import Block

TEXT_TAGS = frozenset(
    "address article aside blockquote body caption center dd details div dt figcaption html li main noscript p pre "
    "section summary td th tr".split()
)
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
# Above this share of its characters inside links, a leaf is a list of links.
LINK_LIMIT = 0.5
LEGAL = re.compile(
    r"©|\(c\)\s*\d{4}|copyright|all rights reserved|版权所有|版權所有|未经授权|未经许可|icp[备證证]|备案号"
    r"|\buses? cookies|使用\s*cookie",
    re.IGNORECASE,
)
# A legal line is short; a paragraph about the law is not.
LEGAL_LENGTH = 300


def leaf_tags(page: Page) -> Extraction:
    """The main text by Shao's method."""
    kept = _with_headings(page.blocks, [is_prose(block) for block in page.blocks])
    return Extraction("\n".join(block.text for block in kept), headline(page), kept)


def is_prose(block: Block) -> bool:
    """Whether a leaf is made of sentences rather than of phrases, links or legal lines."""
    return (
        block.tag in TEXT_TAGS
        and block.linked <= LINK_LIMIT * len(block.text)
        and has_full_stop(block.text)
        and not (len(block.text) < LEGAL_LENGTH and LEGAL.search(block.text))
    )


def _with_headings(blocks: tuple[Block, ...], prose: list[bool]) -> tuple[Block, ...]:
    """The blocks of prose, and the headings right before them."""
    kept: list[Block] = []
    for block, is_kept, next_is_kept in zip(blocks, prose, [*prose, False][1:], strict=True):
        if is_kept or (next_is_kept and block.tag in HEADINGS and not block.linked):
            kept.append(block)
    return tuple(kept)
