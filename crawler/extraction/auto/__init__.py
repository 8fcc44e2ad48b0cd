"""Auto: the blocks of a page that a model takes for main text, judged all together.

1. Each block is described by 280 numbers, its signs: of its text, its element, its place, its neighbours, what the
   containers around it hold, the blocks of the same path, the page (.sight reads the page, .signs makes the numbers).
   Two of them are learned first: what the names of elements speak for (class, id, role), and what words do.
2. A network lets each block see its neighbours, those in the same containers and those of the same path, and says how
   likely it is main text (.network). It also tells the type of the page (.model).
3. The blocks are kept whose choice has the highest expected F1 (.choice), with the other half of a row of two cells
   (.rows), and put down as text that reads well
   (crawler.extraction.output.plain). What readers say under a page is kept apart (.comments).
4. Where a page shows nearly nothing, its text may stand in its scripts (crawler.extraction.scripts).

The weights were made by `scrapy train auto`; CARD.md beside them says of what, and how they scored. numpy alone is
wanted to use them, and is imported when the first page is judged.
"""

from typing import TYPE_CHECKING, NamedTuple

from crawler.extraction.auto.choice import whole_rows
from crawler.extraction.auto.comments import comments
from crawler.extraction.output.plain import plain
from crawler.extraction.scripts import instead
from crawler.metadata.title import headline
from crawler.page.limits import MAX_BLOCKS, Cut
from crawler.page.page import Extraction, Page

if TYPE_CHECKING:  # it imports numpy, which waits for the first page
    from crawler.extraction.auto.model import Model

BALANCE = "balance"
FAVOURS = {BALANCE: 0.5, "precision": 0.75, "recall": 0.25}
"""How likely main text a block must be, as a part of the best F1 that can be expected of the page."""


class MainText(NamedTuple):
    """The main text of a page, and what else the model says of it."""

    text: str
    places: list[int] | None
    """Of its blocks; None where it stands in the page's scripts."""
    page_type: str
    certainty: float | None = None
    """The F1 to be expected of it; None where it stands in the page's scripts, or there is none."""


def auto(page: Page, favour: str = BALANCE, model: "Model | None" = None) -> Extraction:
    """The main text as a model sees it, the one that comes with this release if no other is given."""
    text, places, page_type, certainty = main_text(page, favour, model)
    if places is None:
        return Extraction(text, headline(page), (), "", page_type)
    kept = tuple(page.blocks[index] for index in places)
    remarks = comments(page, frozenset(places), page_type == "forum")
    ended = Cut.BLOCKS if len(page.blocks) > MAX_BLOCKS else None
    return Extraction(text, headline(page), kept, remarks, page_type, ended, certainty)


def main_text(page: Page, favour: str = BALANCE, model: "Model | None" = None) -> MainText:
    """The main text without what `auto` says beside it, the headline and the comments."""
    places, page_type, certainty = _judged(page, FAVOURS[favour], model) if page.blocks else ([], "", None)
    text = plain([page.blocks[index] for index in places])
    if other := instead(page, text):
        return MainText(other, None, page_type)
    return MainText(text, places, page_type, certainty if text else None)


def _judged(page: Page, share: float, model: "Model | None") -> tuple[list[int], str, float]:
    """The places of the blocks of the main text, the type of the page, and the F1 to be expected."""
    from crawler.extraction.auto.choice import choose, expected_f1
    from crawler.extraction.auto.model import judge, judged

    judgement = page.once(judged) if model is None else judge(page, model)
    likely, tokens = judgement.probabilities, judgement.tokens
    places = whole_rows(page, choose(likely, tokens, share).nonzero()[0].tolist())
    return places, judgement.page_type, round(expected_f1(likely, tokens, places), 4)
