"""Finds readers' comments by the names of the elements around them, or by the heading above them.

Besides remarks, such elements contain by-lines, buttons and notices. Blocks at the same place of repeated elements
(`page_arrays.places`) are alike: if most text at a place is prose, all blocks there are remarks, even short ones.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator
from itertools import chain, islice

from lxml import etree

from crawler.page.blocks import Block
from crawler.page.element_names import Name, element_names
from crawler.page.page import Page
from crawler.page.text import has_full_stop

# Parts of names. "no-comments", "comments-off" and the link to the comments match too, but contain no sentences.
NAMES_OF_COMMENTS = "comment disqus discuss responses replies reaction pinglun huifu 评论 留言 回复".split()
COMMENTS_HEADING = re.compile(r"(?:[0-9]{1,6} )?comments:?|(?:评论|留言)", re.IGNORECASE)
MOST_LETTERS = 200
"""The most characters of a class or id that are read."""
WITHOUT_STOP = 40
"""The fewest characters of a block that is prose even without a full stop."""
LEAST_PROSE = 0.5
"""The blocks at a place are remarks if at least this share of their text is prose."""
FORM = re.compile(
    "comment-respond|comment-?form|comment-notes|comments-(open|closed)|captcha|login-list|hiddenbox|subscribe", re.I
)
FORM_LEVELS = 4  # the most elements from that of a block to the form around it, both included
BY_LINE = re.compile(r"author|by-?line|meta|date|posted|vcard|footer|details|(?<![a-z])by(?![a-z])", re.IGNORECASE)
WHOLE_PAGE = frozenset(("html", "body"))
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
NEVER_REMARKS = frozenset(("button", "label", "option", "legend", *HEADINGS))


def comments(page: Page, kept: Container[int], is_thread: bool = False) -> str:
    """The remarks of readers, without the blocks of the main text, whose indexes are `kept`. Empty if the page is a
    thread whose remarks are its main text.
    """
    indexes = page.once(named_as_comments)
    if is_thread and any(index in kept for index in indexes):
        return ""
    others = [index for index in indexes if index not in kept and not _is_of_form(page.blocks[index].element)]
    if others:
        return "\n".join(page.blocks[index].text for index in _remarks(page, others))
    return ""


def named_as_comments(page: Page) -> list[int]:
    """The indexes of the blocks in elements named as comments, and in elements after a heading of comments."""
    elements = element_names(page)
    containers = page.containers
    name_texts = [_class_and_id(name) for name in elements.names]
    all_names = "\n".join(name_texts)
    # A search in all names at once shows for most pages that there are no comments.
    words = [word for word in NAMES_OF_COMMENTS if word in all_names]
    if not words and not any(block.tag in HEADINGS and COMMENTS_HEADING.fullmatch(block.text) for block in page.blocks):
        return []

    is_for_comments = [any(map(name.__contains__, words)) for name in name_texts]
    # Whether each container is in comments, at its index plus one: the parent of the first container has the index -1.
    inside = [False]
    headings: dict[int, str] = {}
    """For each container with an open heading of comments among its children, the tag of that heading."""
    for at, (name_number, parent, tag) in enumerate(
        zip(elements.containers, containers.parents, containers.tags, strict=True)
    ):
        if tag in HEADINGS and containers.starts[at] < containers.ends[at]:
            if tag <= headings.get(parent, ""):  # a heading of the same or a higher rank ends the comments
                del headings[parent]
            if is_for_comments[name_number] or COMMENTS_HEADING.fullmatch(page.blocks[containers.starts[at]].text):
                headings[parent] = tag
        inside.append(inside[parent + 1] or is_for_comments[name_number] or parent in headings)

    return [index for index, home in enumerate(page.homes) if inside[home + 1]]


def without_comments_beside_main(page: Page, indexes: list[int]) -> list[int]:
    """The indexes of the blocks of a text, without comments outside of the page's main landmark, if that has blocks of
    the text.

    https://www.w3.org/TR/wai-aria-1.2/#main
    """
    in_main = page.once(_in_main)
    if in_main.isdisjoint(indexes):
        return indexes
    beside = frozenset(page.once(named_as_comments)) - in_main
    return [index for index in indexes if index not in beside]


def _in_main(page: Page) -> frozenset[int]:
    """The indexes of the blocks in the page's main landmark."""
    containers = page.containers
    elements = element_names(page)
    main_names = {
        number for number, (tag, _, _, role, _) in enumerate(elements.names) if tag == "main" or role == "main"
    }
    in_main: set[int] = set()
    if not main_names:
        return frozenset()
    end_of_last = 0
    for name_number, start, end in zip(elements.containers, containers.starts, containers.ends, strict=True):
        if name_number in main_names and start < end and end > end_of_last:  # it is not within the last landmark
            in_main.update(range(start, end))
            end_of_last = end
    return frozenset(in_main)


def _class_and_id(name: Name) -> str:
    """The class and the id of an element that may contain comments, in lower case."""
    tag, its_class, its_id, *_ = name
    # Classes of a whole page may say whether comments are open.
    if tag in WHOLE_PAGE:
        return ""
    return f"{(its_class or '')[:MOST_LETTERS]}\n{(its_id or '')[:MOST_LETTERS]}".lower()


def _remarks(page: Page, indexes: list[int]) -> Iterator[int]:
    """The indexes of the remarks among blocks in comments: blocks at places with mostly prose."""
    from crawler.extraction.auto import page_arrays

    places_of_blocks = page.once(page_arrays.places)[[page.homes[index] for index in indexes]].tolist()
    letters = Counter[int]()
    letters_of_prose = Counter[int]()
    for index, place in zip(indexes, places_of_blocks, strict=True):
        block = page.blocks[index]
        letters[place] += len(block.text)
        letters_of_prose[place] += len(block.text) * _is_prose(block)
    for index, place in zip(indexes, places_of_blocks, strict=True):
        if letters_of_prose[place] >= LEAST_PROSE * letters[place] and _may_be_remark(page.blocks[index]):
            yield index


def _may_be_remark(block: Block) -> bool:
    """Whether a block is neither a heading or control nor mostly links."""
    return block.tag not in NEVER_REMARKS and 2 * block.linked <= len(block.text)


def _is_prose(block: Block) -> bool:
    """Whether a block may be a remark and is a sentence or long, but not a by-line."""
    is_sentence = has_full_stop(block.text) or len(block.text) >= WITHOUT_STOP
    return is_sentence and _may_be_remark(block) and not BY_LINE.search(block.element.get("class", "")[:MOST_LETTERS])


def _is_of_form(element: etree._Element) -> bool:
    """Whether an element is in the form for a new comment, or in a notice about it or about scripts."""
    around = islice(chain([element], element.iterancestors()), FORM_LEVELS)
    return any(
        ancestor.tag in ("form", "noscript")
        or FORM.search(_class_and_id((ancestor.tag, ancestor.get("class"), ancestor.get("id"), "", "")))
        for ancestor in around
    )
