"""Keeps or drops data tables, lists, code, and labels with their values as wholes, because a part of one would say
something else.

The network judges each block. A whole is a data table, a row of short cells in another table, a list of short items, or
code in a <pre>. All of its blocks are kept if enough of its words are in kept blocks; between two kept blocks, fewer
words are enough. Tables, rows and code, but not lists, are also kept if they are between two kept blocks, or if the
average probability of their words is high enough; directly after a kept block, a lower probability is enough. Other
wholes are dropped. Blocks outside of wholes, as in tables that contain tables, stay as the network judged them.

A short label and its value in a list of definitions are both kept if one of them is. A short heading is kept only with
text under it, except on pages that are lists.

On a page that is a list, the main text is its entries: cards with a heading and a few words, which on other pages are
teasers. They are kept if they hold most of the text that would be kept, and are not too unlikely.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crawler.page.blocks import Block, Containers
from crawler.page.element_names import element_names
from crawler.page.page import Page, PageType

if TYPE_CHECKING:  # imports numpy, which is delayed until the first page
    from crawler.extraction.auto.model import BlockJudgement

LISTS = frozenset(("ul", "ol"))
HEADINGS = ("h2", "h3", "h4", "h5", "h6")
MAX_HEADING = 30
"""The most characters of a heading that says nothing by itself. A longer one may be a quotation or a list's entry."""
TAGS_OF_CONTENT = frozenset(("table", "tr", "pre"))
"""The tags of wholes that are also kept by their position or probability. Lists are not: they may consist of links."""
CELLS = frozenset(("td", "th"))
ENOUGH = 0.3
"""A whole is kept if at least this share of its words is in kept blocks."""
ENOUGH_BETWEEN = 0.1
"""The share of words that is enough for a whole between two kept blocks."""
LIKELY_AFTER_TEXT = 0.25
"""Directly after a kept block, a table, row or code is kept if the average probability of its words is at least this.
Tables after the end of an article have less than 0.1.
"""
LIKELY_ALONE = 0.35
"""The least average probability elsewhere, for example of a table of a class's members below a heading that is not
kept.
"""
MAX_BLOCKS_OF_PART = 1.5
"""The most blocks that the cells or items of a whole have on average."""
NEAR = 2
"""A whole is before a kept block if one of this many blocks after it is kept: the first may be a note under a table."""
MAX_VALUE = 80
"""The most characters of a label, and of a value."""
TYPES_OF_LISTS = frozenset((PageType.LISTING, PageType.COLLECTION, ""))
"""The types of pages whose cards may be their main text; "" is an uncertain type."""
LEAST_CARDS = 4
"""The fewest elements of a group of cards."""
WORDS_OF_CARD = 6
"""The fewest words of the average card."""
LIKELY_CARDS = 0.1
"""The least average probability of the words in cards."""
MOST_OUTSIDE = 0.5
"""The most words of the main text outside of a group of cards, as a share of the words in the cards."""


def wholes(page: Page, kept: list[bool], judgement: "BlockJudgement", *, has_cards: bool = True) -> list[int]:
    """The indexes of the blocks to keep, given whether each judged block would be kept. Cards of lists are kept as
    wholes if `has_cards`.
    """
    kept = kept[:]
    _decide_tables_and_lists(page, kept, judgement)
    if has_cards and judgement.page_type in TYPES_OF_LISTS:
        _keep_cards(page, kept, judgement)
    _complete_pairs(page.blocks, kept)
    indexes = [index for index, is_kept in enumerate(kept) if is_kept]
    if judgement.page_type in TYPES_OF_LISTS:
        return indexes
    return _without_empty_headings(page.blocks, indexes)


def data_tables(page: Page) -> list[int]:
    """The containers of a page that are tables of data."""
    return [whole for whole in page.once(_tables_and_lists) if page.containers.tags[whole] == "table"]


def _decide_tables_and_lists(page: Page, kept: list[bool], judgement: "BlockJudgement") -> None:
    """Keep or drop each data table, row, list and code as a whole."""
    containers = page.containers
    for whole in page.once(_tables_and_lists):
        start = containers.starts[whole]
        end = containers.ends[whole]
        if end > len(kept):  # a model judges only the first blocks of a page
            continue
        is_after_text = start > 0 and kept[start - 1]
        is_between = is_after_text and any(kept[end : end + NEAR])
        words = judgement.tokens[start:end]
        least_share = ENOUGH_BETWEEN if is_between else ENOUGH
        is_enough = words @ kept[start:end] >= least_share * words.sum()
        # Tables and code are also kept by their position or their probability.
        if not is_enough and containers.tags[whole] in TAGS_OF_CONTENT:
            probability = words @ judgement.probabilities[start:end] / words.sum()
            least_probability = LIKELY_AFTER_TEXT if is_after_text else LIKELY_ALONE
            is_enough = is_between or probability >= least_probability
        kept[start:end] = [bool(is_enough)] * (end - start)


def _tables_and_lists(page: Page) -> list[int]:
    """The data tables, the rows of short cells in other tables, the lists, and the code, in page order: the indexes of
    their containers.
    """
    containers = page.containers
    # The rows of each table, the number of items of each list, and the number of cells of each row.
    rows: dict[int, list[int]] = {}
    item_counts: dict[int, int] = {}
    cell_counts: Counter[int] = Counter()
    table_of: list[int] = []
    """For each container, the innermost table that it is or is in; -1 without one."""
    layouts: set[int] = set()
    """The tables that contain tables; -1 stands for the page outside of tables."""
    pres: list[int] = []
    for at, (tag, parent) in enumerate(zip(containers.tags, containers.parents, strict=True)):
        table = table_of[parent] if parent >= 0 else -1
        table_of.append(at if tag == "table" else table)
        if tag == "table":
            layouts.add(table)
            rows[at] = []
        elif tag in LISTS:
            item_counts[at] = 0
        elif tag == "pre":
            pres.append(at)
        elif containers.starts[at] < containers.ends[at]:  # empty rows, cells and items do not count
            if tag == "tr" and table >= 0:
                rows[table].append(at)
            elif tag in CELLS:
                cell_counts[parent] += 1
            elif tag == "li" and parent in item_counts:
                item_counts[parent] += 1

    wholes = [at for at, count in item_counts.items() if count > 1 and _is_short(containers, at, count)]
    for table in rows.keys() - layouts:
        wholes += _wholes_of_table(containers, table, rows[table], cell_counts)
    return sorted(wholes + pres)


def _wholes_of_table(containers: Containers, table: int, rows: list[int], cell_counts: Counter[int]) -> list[int]:
    """The wholes of a table: the table itself if it is a data table, otherwise its rows of short cells."""
    if _is_data(containers, table, rows, cell_counts):
        return [table]
    return [row for row in rows if cell_counts[row] > 1 and _is_short(containers, row, cell_counts[row])]


def _is_data(containers: Containers, table: int, rows: list[int], cell_counts: Counter[int]) -> bool:
    """Whether at least half of a table's rows have several cells, with little in each."""
    rows_with_cells = sum(cell_counts[row] > 1 for row in rows)
    if rows_with_cells < 2 or 2 * rows_with_cells < len(rows):
        return False
    return _is_short(containers, table, sum(cell_counts[row] for row in rows))


def _is_short(containers: Containers, at: int, parts: int) -> bool:
    """Whether a container with this number of cells or items has few blocks in each."""
    return containers.ends[at] - containers.starts[at] <= MAX_BLOCKS_OF_PART * parts


def _keep_cards(page: Page, kept: list[bool], judgement: "BlockJudgement") -> None:
    """Keep groups of cards that hold most of the text of a list."""
    kept_words = judgement.tokens * kept
    for cards in alike_elements(page):
        ends = [min(end, len(kept)) for _, end in cards]
        indexes = [at for (start, _), end in zip(cards, ends, strict=True) for at in range(start, end)]
        words = judgement.tokens[indexes]
        outside = float(kept_words.sum() - kept_words[indexes].sum())
        if len(words) == 0 or words.sum() < WORDS_OF_CARD * len(cards) or outside > MOST_OUTSIDE * words.sum():
            continue
        if judgement.probabilities[indexes] @ words >= LIKELY_CARDS * words.sum():
            for at in indexes:
                kept[at] = True


def alike_elements(page: Page) -> list[list[tuple[int, int]]]:
    """The groups of alike elements: elements with the same parent and name that have text. Each element is given as its
    first block and the block after its last.
    """
    containers = page.containers
    groups = defaultdict(list)
    bounds = zip(containers.parents, element_names(page).containers, containers.starts, containers.ends, strict=True)
    for parent, name, start, end in bounds:
        if start < end and parent >= 0:
            groups[parent, name].append((start, end))
    return [group for group in groups.values() if len(group) >= LEAST_CARDS]


def _complete_pairs(blocks: Sequence[Block], kept: list[bool]) -> None:
    """Keep both of a label and its value if one of them is kept."""
    for first in range(len(kept) - 1):
        if kept[first] != kept[first + 1] and _is_pair(*blocks[first : first + 2]):
            kept[first] = kept[first + 1] = True


def _is_pair(label: Block, value: Block) -> bool:
    """Whether two blocks are a label and its value in a list of definitions."""
    if label.tag != "dt" or value.tag != "dd" or max(len(label.text), len(value.text)) > MAX_VALUE:
        return False
    return label.element.getnext() is value.element and not label.linked


def _without_empty_headings(blocks: Sequence[Block], indexes: list[int]) -> list[int]:
    """The indexes of blocks, without short headings that are followed by a heading of the same or a higher rank, or by
    nothing.
    """
    kept_indexes: list[int] = []
    following = HEADINGS[0]  # the tag of the next kept block; the page ends as if the highest heading followed
    for index in reversed(indexes):
        tag = blocks[index].tag
        is_empty = tag in HEADINGS and following in HEADINGS and following <= tag
        if not is_empty or len(blocks[index].text) > MAX_HEADING:
            kept_indexes.append(index)
            following = tag
    return kept_indexes[::-1]
