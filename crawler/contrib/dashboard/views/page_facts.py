"""Where on a stored page its title, author, date and comments stand."""

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
    """The facts as they are read from the source now."""
    return {name: READERS[name](shown_page.page, shown_page.extraction) or "" for name in FACTS}


def fact_blocks(shown_page: ShownPage) -> Mapping[int, str]:
    """The blocks in which the facts stand, by index, each with the names of its facts."""
    names: defaultdict[int, list[str]] = defaultdict(list)
    for at, name in _places(shown_page, read_facts(shown_page)):
        names[at].append(name)
    return {at: " ".join(some) for at, some in names.items()}


def _places(shown_page: ShownPage, facts: dict[str, str]) -> Iterator[tuple[int, str]]:
    blocks = shown_page.page.blocks[:MOST_BLOCKS]
    comment_lines = set(facts["comments"].split("\n")) if facts["comments"] else set()
    yield from (
        (at, "comments") for at, block in enumerate(blocks) if block.text in comment_lines and at not in shown_page.kept
    )
    headline = headline_at(blocks, facts["title"])
    # The by-line and the date nearest to the headline are meant.
    near = sorted(range(len(blocks)), key=lambda at: abs(at - (headline or 0)))
    short = [at for at in near if len(blocks[at].text) <= MOST_LETTERS]
    day = facts["published"][:10]
    name = letters(facts["author"].partition(";")[0])
    if day:
        held = (at for at in short if any(written_date.day == day for written_date in dates(blocks[at].text)))
        yield from ((at, "published") for at in islice(held, 1))
    if name:
        held = (at for at in short if name in letters(blocks[at].text))
        yield from ((at, "author") for at in islice(held, 1))
    if headline is not None:
        yield headline, "title"
