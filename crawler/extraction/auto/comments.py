"""What readers say under a page, apart from its text."""

from collections.abc import Container

from crawler.extraction.auto.text_arrays import Name, named
from crawler.page.contents import Block
from crawler.page.page import Page
from crawler.page.text import has_full_stop

# "no-comments", "comments-off" and the link to the comments hold none, but no sentences either.
WORDS = "comment disqus discuss responses replies reaction pinglun huifu 评论 留言 回复".split()
MOST_LETTERS = 200
WITHOUT_STOP = 40
"""Characters from which on a line is a remark even without a full stop."""
WHOLE = frozenset(("html", "body"))
UNREAD = frozenset(("button", "label", "option", "legend", "h1", "h2", "h3", "h4", "h5", "h6"))


def comments(page: Page, kept: Container[int], is_thread: bool = False) -> str:
    """The sentences in elements named as comments, but for the blocks of the main text, by their index; none where they
    are the text, as in a thread.
    """
    elements = named(page)
    said = [_said(name) for name in elements.names]
    every = "\n".join(said)
    words = [word for word in WORDS if word in every]
    if not words:
        return ""
    is_for_comments = [any(map(name.__contains__, words)) for name in said]
    inside = [False]
    for name, parent in zip(elements.containers, page.containers.parents, strict=True):
        inside.append(inside[parent + 1] or is_for_comments[name])
    places = [index for index, home in enumerate(page.homes) if inside[home + 1]]
    if is_thread and any(index in kept for index in places):
        return ""
    return "\n".join(
        page.blocks[index].text for index in places if index not in kept and _is_remark(page.blocks[index])
    )


def _said(name: Name) -> str:
    """The class and the id of elements that may be for comments."""
    tag, its_class, its_id, *_ = name
    # Pages say of themselves whether comments are open.
    return "" if tag in WHOLE else f"{(its_class or '')[:MOST_LETTERS]}\n{(its_id or '')[:MOST_LETTERS]}".lower()


def _is_remark(block: Block) -> bool:
    is_prose = has_full_stop(block.text) or len(block.text) >= WITHOUT_STOP
    return is_prose and block.tag not in UNREAD and 2 * block.linked <= len(block.text)
