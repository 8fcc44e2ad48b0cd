"""What readers say under a page, apart from its text."""

import re
from collections.abc import Container
from functools import lru_cache

from lxml import etree

from crawler.page import Page
from crawler.text import has_full_stop
from crawler.walk import Block

# "no-comments", "comments-off" and the link to the comments hold none, but no sentences either.
_NAME = re.compile(r"comment|disqus|discuss|responses|replies|reaction|pinglun|huifu|评论|留言|回复", re.IGNORECASE)
MOST_LETTERS = 200
WITHOUT_STOP = 40
"""Characters from which on a line is a remark even without a full stop."""
WHOLE = frozenset(("html", "body"))
UNREAD = frozenset(("button", "label", "option", "legend", "h1", "h2", "h3", "h4", "h5", "h6"))


@lru_cache(1 << 13)
def _is_named(value: str) -> bool:
    return _NAME.search(value, 0, MOST_LETTERS) is not None


def comments(page: Page, kept: Container[int], is_thread: bool = False) -> str:
    """The sentences in elements named as comments, but for the blocks of the main text, by their index; none where they
    are the text, as in a thread.
    """
    elements, parents, *_ = page.containers
    inside = [False]
    for element, parent in zip(elements, parents, strict=True):
        inside.append(inside[parent + 1] or _is_for_comments(element))
    if not any(inside):
        return ""
    places = [index for index, home in enumerate(page.homes) if inside[home + 1]]
    if is_thread and any(index in kept for index in places):
        return ""
    return "\n".join(
        page.blocks[index].text for index in places if index not in kept and _is_remark(page.blocks[index])
    )


def _is_for_comments(element: etree._Element) -> bool:
    get = element.get
    # Pages say of themselves whether comments are open.
    return (_is_named(get("class", "")) or _is_named(get("id", ""))) and element.tag not in WHOLE


def _is_remark(block: Block) -> bool:
    is_prose = has_full_stop(block.text) or len(block.text) >= WITHOUT_STOP
    return is_prose and block.tag not in UNREAD and 2 * block.linked <= len(block.text)
