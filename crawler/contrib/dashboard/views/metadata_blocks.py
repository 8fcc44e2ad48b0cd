"""Finds the blocks of a stored page that contain its title, author, date and comments."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice

from crawler.contrib.dashboard.views.page import ShownPage
from crawler.metadata.date_notation import dates
from crawler.metadata.placement import headline_at
from crawler.metadata.record_readers import READERS
from crawler.metadata.structured_data import letters

FACTS = ("title", "author", "published", "comments")
MOST_BLOCKS = 2_000
"""The first blocks of a page, which are searched."""
MOST_LETTERS = 300
"""The most characters of a block that may be a by-line, with the author or the date."""


def read_facts(shown_page: ShownPage) -> dict[str, str]:
    """The facts of a page by name, read from its source again; empty texts for missing facts."""
    return {name: READERS[name](shown_page.page, shown_page.extraction) or "" for name in FACTS}


def fact_blocks(shown_page: ShownPage) -> Mapping[int, str]:
    """The indices of the blocks that contain facts, each with the names of its facts."""
    names_by_block: defaultdict[int, list[str]] = defaultdict(list)
    for index, name in _facts_by_block(shown_page, read_facts(shown_page)):
        names_by_block[index].append(name)
    return {index: " ".join(names) for index, names in names_by_block.items()}


def _facts_by_block(shown_page: ShownPage, facts: dict[str, str]) -> Iterator[tuple[int, str]]:
    """The indices of blocks, each with the name of a fact in the block."""
    blocks = shown_page.page.blocks[:MOST_BLOCKS]
    if facts["comments"]:
        comment_lines = set(facts["comments"].split("\n"))
        for index, block in enumerate(blocks):
            if block.text in comment_lines and index not in shown_page.kept:
                yield index, "comments"

    # The date and the author may be in several blocks. Of the short blocks that contain them, those nearest to the
    # headline are taken; without a headline, the first ones.
    headline = headline_at(blocks, facts["title"])
    nearest = sorted(range(len(blocks)), key=lambda index: abs(index - (headline or 0)))
    short = [index for index in nearest if len(blocks[index].text) <= MOST_LETTERS]
    day = facts["published"][:10]
    author = letters(facts["author"].partition(";")[0])  # the first author
    if day:
        with_day = (index for index in short if any(found_date.day == day for found_date in dates(blocks[index].text)))
        yield from ((index, "published") for index in islice(with_day, 1))
    if author:
        with_author = (index for index in short if author in letters(blocks[index].text))
        yield from ((index, "author") for index in islice(with_author, 1))
    if headline is not None:
        yield headline, "title"
