"""Auto: a trained model decides which blocks of a page are main text; it judges all blocks of the page together.

1. Each block is described by 280 numbers, its features. They describe its text, its element, its
   position, its neighbours, the contents of the containers around it, the blocks with the same path, and the page
   (.page_arrays reads the page into arrays, .block_features computes the numbers). Two features are scores that are
   trained first: one of the names of elements (class, id, role), one of words.
2. A network combines each block with its neighbours, with the blocks in the same containers and with those of the same
   path, and computes the probability that it is main text (.network). It also computes the type of the page (.model).
3. Blocks at the same place of elements that repeat, such as the posts of a thread, are judged alike (.repeated_blocks).
4. Blocks that pages of the site have in common are no main text (.common_blocks), if other pages are known and these
   blocks are not most of the text.
5. The set of blocks with the highest expected F is kept (.model), tables, lists and cards as wholes (.wholes),
   without readers' comments. The blocks are written as readable text (crawler.extraction.output.plain_text).
6. If a page shows almost no text, the text is looked for in its scripts (crawler.extraction.script_text).

The weights were trained by `scrapy train auto`; CARD.md beside them names the training data and the scores. Only numpy
is needed to use them; it is imported when the first page is judged.
"""

import re
from collections.abc import Container
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from crawler.extraction.auto.element_names import Name, named
from crawler.extraction.auto.wholes import wholes
from crawler.extraction.output.plain_text import plain
from crawler.extraction.script_text import instead
from crawler.metadata.title import headline
from crawler.page.html_tree import MAX_BLOCKS, Cut
from crawler.page.page import Extraction, Page
from crawler.page.text import has_full_stop

if TYPE_CHECKING:  # imports numpy, which is delayed until the first page
    from lxml import etree

    from crawler.extraction.auto.common_blocks import BlockLibrary
    from crawler.extraction.auto.model import Model, PageJudgement
    from crawler.page.blocks import Block

BALANCE = "balance"
FAVOURS = {BALANCE: 0.6, "precision": 0.85, "recall": 0.25}
"""The weight of precision beside recall in what is best."""
# "no-comments", "comments-off" and the link to the comments match too, but contain no sentences.
WORDS = "comment disqus discuss responses replies reaction pinglun huifu 评论 留言 回复".split()
MOST_LETTERS = 200
WITHOUT_STOP = 40
"""Characters from which a line is a comment even without a full stop."""
FORM = re.compile("comment-respond|comment-?form|comment-notes", re.IGNORECASE)
FORM_LEVELS = 4  # from a line of a form to the form
WHOLE = frozenset(("html", "body"))
UNREAD = frozenset(("button", "label", "option", "legend", "h1", "h2", "h3", "h4", "h5", "h6"))


LEAST_WORDS, SURE = 50, 0.85
"""Words that an article has without its comments, and their average probability."""


class MainText(NamedTuple):
    """The main text of a page, and the model's other results."""

    text: str
    places: list[int] | None
    """Of its blocks; None if it is in the page's scripts."""
    page_type: str
    certainty: float | None = None
    """Its expected F1; None if it is in the page's scripts, or if there is no text."""


def comments(page: Page, kept: Container[int], is_thread: bool = False) -> str:
    """The sentences in elements named as comments, without blocks of the main text, given by index; empty if they are
    the main text, as in a thread.
    """
    places = page.once(_named_as_comments)
    if is_thread and any(index in kept for index in places):
        return ""
    return "\n".join(
        page.blocks[index].text
        for index in places
        if index not in kept and _is_remark(page.blocks[index]) and not _is_of_form(page.blocks[index].element)
    )


def _without_comments(page: Page, kept: list[int], judgement: "PageJudgement") -> list[int]:
    """The main text without what is in elements named as comments, unless the rest is no article by itself."""
    named_so = frozenset(page.once(_named_as_comments))
    rest = [index for index in kept if index not in named_so]
    tokens = judgement.tokens[rest]
    is_article = tokens.sum() >= LEAST_WORDS and judgement.probabilities[rest] @ tokens >= SURE * tokens.sum()
    return rest if is_article else kept


def _named_as_comments(page: Page) -> list[int]:
    """The indexes of the blocks in elements named as comments."""
    elements = named(page)
    said = [_said(name) for name in elements.names]
    every = "\n".join(said)
    words = [word for word in WORDS if word in every]
    if not words:
        return []
    is_for_comments = [any(map(name.__contains__, words)) for name in said]
    inside = [False]
    for name, parent in zip(elements.containers, page.containers.parents, strict=True):
        inside.append(inside[parent + 1] or is_for_comments[name])
    return [index for index, home in enumerate(page.homes) if inside[home + 1]]


def _said(name: Name) -> str:
    """The class and the id of elements that may contain comments."""
    tag, its_class, its_id, *_ = name
    # Pages also use such names to say whether comments are open.
    return "" if tag in WHOLE else f"{(its_class or '')[:MOST_LETTERS]}\n{(its_id or '')[:MOST_LETTERS]}".lower()


def _is_remark(block: "Block") -> bool:
    is_prose = has_full_stop(block.text) or len(block.text) >= WITHOUT_STOP
    return is_prose and block.tag not in UNREAD and 2 * block.linked <= len(block.text)


def _is_of_form(element: "etree._Element") -> bool:
    """Whether an element is in the form for a new comment."""
    around = islice(chain([element], element.iterancestors()), FORM_LEVELS)
    return any(one.tag == "form" or FORM.search(one.get("class", "")[:MOST_LETTERS]) for one in around)


def auto(
    page: Page, favour: str = BALANCE, model: "Model | None" = None, library: "BlockLibrary | None" = None
) -> Extraction:
    """The main text by a model, by default the one that comes with this release; without the blocks that the page has
    in common with others of its site, if its library is given.
    """
    text, places, page_type, certainty = main_text(page, favour, model, library)
    if places is None:
        return Extraction(text, headline(page), (), "", page_type)
    kept = tuple(page.blocks[index] for index in places)
    remarks = comments(page, frozenset(places), page_type == "forum")
    ended = Cut.BLOCKS if len(page.blocks) > MAX_BLOCKS else None
    return Extraction(text, headline(page), kept, remarks, page_type, ended, certainty)


def main_text(
    page: Page, favour: str = BALANCE, model: "Model | None" = None, library: "BlockLibrary | None" = None
) -> MainText:
    """The main text, usually with the headline, without the comments."""
    places, page_type, certainty = _judged(page, FAVOURS[favour], model, library) if page.blocks else ([], "", None)
    text = plain([page.blocks[index] for index in places])
    if other := instead(page, text):
        return MainText(other, None, page_type)
    return MainText(text, places, page_type, certainty if text else None)


def choices(page: Page) -> list[list[int]]:
    """The indexes of the blocks that the network chooses, for each of FAVOURS; the page must have a block."""
    from crawler.extraction.auto.model import choose, judged

    likely, tokens, _ = page.once(judged)
    return [choose(likely, tokens, weight).nonzero()[0].tolist() for weight in FAVOURS.values()]


def _judged(
    page: Page, weight: float, model: "Model | None", library: "BlockLibrary | None"
) -> tuple[list[int], str, float]:
    """The indexes of the blocks of the main text, the type of the page, and the expected F1."""
    from crawler.extraction.auto.model import choose, expected_f1, judge, judged, without

    judgement = page.once(judged) if model is None else judge(page, model)
    if library is not None:
        judgement = without(judgement, library.common_blocks(page))
    likely, tokens = judgement.probabilities, judgement.tokens
    places = wholes(page, choose(likely, tokens, weight).tolist(), judgement)
    if judgement.page_type == "article":  # in manuals such names are of other things
        places = _without_comments(page, places, judgement)
    return places, judgement.page_type, round(expected_f1(likely, tokens, places), 4)
