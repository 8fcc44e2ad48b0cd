"""Auto: a trained model decides which blocks of a page are main text; it judges all blocks of the page together.

1. Each block has 280 numbers, its features. They describe its text, its element, its position, its neighbours, the
   contents of the containers around it, the blocks with the same path, and the page (.page_arrays reads the page into
   arrays, .block_features computes the numbers). Two features are scores that are trained first: one of the names of
   elements (class, id, role), one of words.
2. A network combines each block with its neighbours, with the blocks in the same containers and with those of the same
   path, and computes the probability that it is main text (.network). It also computes the type of the page (.model).
3. Blocks at the same place of elements that repeat, such as the posts of a thread, are judged alike (.repeated_blocks).
4. Blocks that pages of the site have in common are not main text (.common_blocks), if other pages are known and these
   blocks do not hold most of the text.
5. The set of blocks with the highest expected F, a mean of precision and recall, is kept (.model), with tables, lists
   and cards as wholes (.whole_tables_and_lists), without readers' comments (.readers_comments), and without links to
   the pages before and after the page (.neighbour_links). The blocks are written as readable text
   (crawler.extraction.output.plain_text).
6. If that F is low, the page is in doubt, and the blocks are chosen in another way (.second_look).
7. If a page shows almost no text, the text is looked for in its scripts (crawler.extraction.script_text).

The weights were trained by `winnow train auto`; CARD.md beside them names the training data and the scores. Only numpy
is needed to use them; it is imported when the first page is judged.
"""

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from crawler.extraction.auto.neighbour_links import without_neighbours
from crawler.extraction.auto.readers_comments import comments, named_as_comments, without_comments_beside_main
from crawler.extraction.auto.whole_tables_and_lists import wholes
from crawler.extraction.output.plain_text import plain
from crawler.extraction.script_text import replacement
from crawler.metadata.title import headline
from crawler.page.html_tree import MAX_BLOCKS, Cut
from crawler.page.page import Extraction, Page, PageType

if TYPE_CHECKING:  # imports numpy, which is delayed until the first page
    from crawler.extraction.auto.common_blocks import BlockLibrary
    from crawler.extraction.auto.model import BlockJudgement, Model

BALANCE = "balance"
FAVOURS = {BALANCE: 0.6, "precision": 0.85, "recall": 0.25}
"""The weight of precision in the F that is maximised; the rest is the weight of recall."""
DOUBT = 0.8
"""The expected F1 below which a page is in doubt. One page in eight is in doubt. The mean F1 of these pages is two
thirds, and that of the others .93.
"""
LEAST_OF_FIRST = 0.2
"""The fewest words of a second choice, as a share of the words of the first choice. With fewer, the first choice is
kept: the second one may omit a list that is the whole text.
"""
LEAST_WORDS = 50
"""The fewest words of a text that is still an article after elements named as comments are removed."""
SURE = 0.85
"""The least average probability of the words of such a text."""


@dataclass(frozen=True, slots=True)
class MainText:
    """The main text of a page, and the model's other results."""

    text: str
    indexes: list[int] | None
    """The indexes of its blocks; None if the text comes from the page's scripts."""
    page_type: str
    _: KW_ONLY
    certainty: float | None = None
    """Its expected F1; None if the text comes from the page's scripts, or if there is no text."""


def _without_comments(page: Page, kept: list[int], judgement: "BlockJudgement") -> list[int]:
    """The indexes of the main text, without elements named as comments if the rest is still an article."""
    comment_blocks = frozenset(page.once(named_as_comments))
    rest = [index for index in kept if index not in comment_blocks]
    tokens = judgement.tokens[rest]
    if tokens.sum() >= LEAST_WORDS and judgement.probabilities[rest] @ tokens >= SURE * tokens.sum():
        return rest
    return kept


def auto(
    page: Page, favour: str = BALANCE, model: "Model | None" = None, library: "BlockLibrary | None" = None
) -> Extraction:
    """The main text by a model, by default the model of this release. With the library of the site, the blocks that the
    site's pages have in common are excluded.
    """
    main = main_text(page, favour, model, library)
    if main.indexes is None:
        return Extraction(text=main.text, title=headline(page), page_type=main.page_type)
    kept = tuple(page.blocks[index] for index in main.indexes)
    return Extraction(
        text=main.text,
        title=headline(page, kept),
        blocks=kept,
        comments=comments(page, frozenset(main.indexes), main.page_type == PageType.FORUM),
        page_type=main.page_type,
        ended=Cut.BLOCKS if len(page.blocks) > MAX_BLOCKS else None,
        certainty=main.certainty,
    )


def main_text(
    page: Page, favour: str = BALANCE, model: "Model | None" = None, library: "BlockLibrary | None" = None
) -> MainText:
    """The main text, usually with the headline, without the comments."""
    indexes: list[int] = []
    page_type = ""
    certainty: float | None = None
    if page.blocks:
        indexes, page_type, certainty = _kept_blocks(page, FAVOURS[favour], model, library)
    text = plain([page.blocks[index] for index in indexes])
    scripts_text = replacement(page, text)
    if scripts_text:
        return MainText(text=scripts_text, indexes=None, page_type=page_type)
    return MainText(text=text, indexes=indexes, page_type=page_type, certainty=certainty if text else None)


def choices(page: Page) -> list[list[int]]:
    """The indexes of the blocks that the network chooses, for each of FAVOURS; the page must have a block."""
    from crawler.extraction.auto.model import choose, judged

    judgement = page.once(judged)
    chosen = (choose(judgement.probabilities, judgement.tokens, weight) for weight in FAVOURS.values())
    return [is_kept.nonzero()[0].tolist() for is_kept in chosen]


def _kept_blocks(
    page: Page, weight: float, model: "Model | None", library: "BlockLibrary | None"
) -> tuple[list[int], str, float]:
    """The indexes of the blocks of the main text, the type of the page, and the expected F1 of the first choice."""
    from crawler.extraction.auto.model import choose, expected_f1, judge, judged, without
    from crawler.extraction.auto.second_look import second_choice

    # The probabilities of the blocks.
    judgement = page.once(judged) if model is None else judge(page, model)
    if library is not None:
        judgement = without(judgement, library.common_blocks(page))
    probabilities = judgement.probabilities
    tokens = judgement.tokens

    # The first choice, and a second one if the first is in doubt.
    chosen = choose(probabilities, tokens, weight).tolist()
    indexes = _without_surroundings(page, wholes(page, chosen, judgement), judgement)
    certainty = round(expected_f1(probabilities, tokens, indexes), 4)
    if certainty < DOUBT and judgement.page_type != PageType.FORUM:  # the posts of a forum are judged alike already
        chosen = second_choice(page, judgement, weight)
        # Cards are not kept as wholes, because the second choice has judged alike elements together.
        second_indexes = _without_surroundings(page, wholes(page, chosen, judgement, has_cards=False), judgement)
        if tokens[second_indexes].sum() >= LEAST_OF_FIRST * tokens[indexes].sum():
            indexes = second_indexes
    return indexes, judgement.page_type, certainty


def _without_surroundings(page: Page, indexes: list[int], judgement: "BlockJudgement") -> list[int]:
    """The indexes of the text's blocks, without links to neighbouring pages and without comments."""
    indexes = without_comments_beside_main(page, without_neighbours(page, indexes))
    if judgement.page_type == PageType.ARTICLE:  # in manuals, elements named like comments hold other text
        indexes = _without_comments(page, indexes, judgement)
    return indexes
