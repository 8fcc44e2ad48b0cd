"""Auto: the blocks of a page that a model takes for main text, judged all together.

1. Each block is described by some 270 numbers (signs): its text, its element, its place, its neighbours, what the
   containers around it hold, the blocks of the same path, the page (crawler.extraction.auto.signs). Two kinds of them
   are learned first, one by one: what the names of elements speak for (class, id, role) and what words do.
2. A network lets each block see its neighbours, those in the same containers and those of the same path, and says how
   likely it is main text (crawler.extraction.auto.network).
3. The blocks are kept whose choice has the highest expected F1 (crawler.extraction.auto.choice).

The weights were made by `scrapy train auto`; CARD.md beside them says of what, and how they scored. numpy alone is
wanted to use them, and is imported when the first page is judged.
"""

from crawler.extraction.title import headline
from crawler.page import Extraction, Page

MOST_BLOCKS = 20_000
"""Blocks of a page that are judged; no page for readers has so many."""
REPEATED = 80
"""Characters from which on a block that says what another one says is a copy for small screens, or for printing."""


def auto(page: Page, favour: str = "balance") -> Extraction:
    """The main text as the model sees it."""
    if not page.blocks:
        return Extraction("", headline(page))
    from crawler.extraction.auto.choice import choose
    from crawler.extraction.auto.comments import comments
    from crawler.extraction.auto.model import judge, shipped

    judgement = judge(page, shipped())
    chosen = choose(judgement.probabilities, judgement.tokens, favour).nonzero()[0].tolist()
    kept = tuple(page.blocks[index] for index in chosen)
    remarks = "" if judgement.page_type == "forum" else comments(page, frozenset(chosen))
    return Extraction("\n".join(block.text for block in kept), headline(page), kept, remarks, judgement.page_type)
