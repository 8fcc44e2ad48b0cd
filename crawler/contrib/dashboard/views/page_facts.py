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
MOST_LETTERS = 300
"""Characters of a line that may be a by-line."""


def read_facts(shown_page: ShownPage) -> dict[str, str]:
    """The facts, read from the source again."""
    return {name: READERS[name](shown_page.page, shown_page.extraction) or "" for name in FACTS}


def fact_blocks(shown_page: ShownPage) -> Mapping[int, str]:
    """The indices of the blocks that contain facts, each with the names of its facts."""
    names_by_block: defaultdict[int, list[str]] = defaultdict(list)
    for at, name in _places(shown_page, read_facts(shown_page)):
        names_by_block[at].append(name)
    return {at: " ".join(names) for at, names in names_by_block.items()}


def _places(shown_page: ShownPage, facts: dict[str, str]) -> Iterator[tuple[int, str]]:
    """The index of a block, and the name of a fact in it."""
    blocks = shown_page.page.blocks[:MOST_BLOCKS]
    if facts["comments"]:
        comment_lines = set(facts["comments"].split("\n"))
        for at, block in enumerate(blocks):
            if block.text in comment_lines and at not in shown_page.kept:
                yield at, "comments"

    # The by-line and the date are those nearest to the headline.
    headline = headline_at(blocks, facts["title"])
    near = sorted(range(len(blocks)), key=lambda at: abs(at - (headline or 0)))
    short = [at for at in near if len(blocks[at].text) <= MOST_LETTERS]
    day = facts["published"][:10]
    name = letters(facts["author"].partition(";")[0])
    if day:
        with_day = (at for at in short if any(written_date.day == day for written_date in dates(blocks[at].text)))
        yield from ((at, "published") for at in islice(with_day, 1))
    if name:
        with_name = (at for at in short if name in letters(blocks[at].text))
        yield from ((at, "author") for at in islice(with_name, 1))
    if headline is not None:
        yield headline, "title"
