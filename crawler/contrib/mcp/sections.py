"""The headings of a page's Markdown, and the text below each."""

from dataclasses import dataclass
from itertools import accumulate

from crawler.contrib.index.chunk_size import estimated_tokens
from crawler.contrib.index.markdown_blocks import BlockKind, blocks
from crawler.contrib.index.page_sections import heading_text
from crawler.contrib.mcp.answers import one_line

LEVELS = 6
"""The lowest level of headings; the highest is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with the text below it, up to the next heading of the same or a higher level."""

    level: int
    title: str
    start: int
    """The index in the Markdown at which the heading begins."""
    end: int
    tokens: float

    def __str__(self) -> str:
        return f"{'#' * self.level} {self.title} (position {self.start}, about {self.tokens:.0f} tokens)"


def sections(markdown: str) -> list[Section]:
    """The sections of a page, in order; lines of code are not headings.

    >>> [str(section) for section in sections("# Bees\\n```\\n# code\\n```\\n## Dance\\nround")]
    ['# Bees (position 0, about 12 tokens)', '## Dance (position 22, about 4 tokens)']
    """
    lines = markdown.split("\n")
    start_of_line = [0, *accumulate(len(line) + 1 for line in lines)]
    headings = [block for block in blocks(lines) if block.kind is BlockKind.HEADING]

    # From the last heading to the first, so that one pass finds all ends.
    next_start = len(markdown)
    # For each level, the start of the next heading of this or a higher level.
    end_of_level = [next_start] * (LEVELS + 1)
    tokens_from = {next_start: 0.0}  # for each start of a heading, the tokens from there to the end of the page
    page_sections = []
    for heading in reversed(headings):
        level = heading.level
        start = start_of_line[heading.first_line]
        tokens_from[start] = tokens_from[next_start] + estimated_tokens(markdown[start:next_start])
        end = end_of_level[level]
        tokens = tokens_from[start] - tokens_from[end]
        title = one_line(heading_text(heading.lines[0]))
        page_sections.append(Section(level=level, title=title, start=start, end=end, tokens=tokens))
        end_of_level[level:] = [start] * (LEVELS + 1 - level)
        next_start = start
    return page_sections[::-1]


def section_named(page_sections: list[Section], heading: str, position: int = 0) -> Section | None:
    """The first section that has this heading, ignoring case and spacing, and ends after a position; None if there is
    no such section.
    """
    title = one_line(heading_text(heading)).casefold()
    with_heading = (section for section in page_sections if section.title.casefold() == title)
    return next((section for section in with_heading if section.end > position), None)
