"""Removes the running heads and feet of a text that is divided into pages.

RFC 7322 (https://www.rfc-editor.org/rfc/rfc7322#section-4) describes those of RFCs. A form feed separates two pages.
Some copies of RFCs have lost their form feeds; there, a line that ends with e.g. `[Page 12]` ends a page.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from crawler.contrib.documents.text.lines import continues_paragraph

FORM_FEED = "\f"
PAGE_NUMBER = re.compile(r"\[Page (\d{1,4})\]$")
DIGITS = re.compile(r"\d+")
LEAST_PAGES = 2
"""The least number of pages in a text with pages, and of pages with the same running head."""
LEAST_SHARE = 0.3
"""The least share of pages with the same running head: left and right pages of a book have different ones."""

Lines = Sequence[str]


def without_page_breaks(lines: Lines, edge: int) -> list[str]:
    """The lines of all pages without running heads and feet. There is an empty line between two pages, except within a
    paragraph that continues on the next page. `edge` is the width of full lines (see `lines`).

    >>> first = ["Bees dance in", "", "Bees [Page 1]", "\\fBees May 2024", ""]
    >>> text = [*first, "the dark.", "", "Bees [Page 2]", "\\fBees May 2024", "End."]
    >>> without_page_breaks(text, 20)
    ['Bees dance in', 'the dark.', '', 'End.']
    """
    pages = list(_pages(lines))
    if len(pages) < LEAST_PAGES:
        return list(lines)
    headers = _frequent_forms(page[0] for page in pages if page)
    footers = _frequent_forms(page[-1] for page in pages if page)
    kept_lines: list[str] = []
    had_footer = False
    for page in pages:
        has_header = bool(page) and _form(page[0]) in headers
        content = page[1:] if has_header else page
        has_footer = bool(content) and _form(content[-1]) in footers
        if has_footer:
            content = content[:-1]
        content = _trimmed(content)
        if content and kept_lines:
            is_page_break = had_footer or has_header  # a form feed alone may separate two chapters
            if not (is_page_break and continues_paragraph(content[0], kept_lines[-1], edge)):
                kept_lines.append("")
        kept_lines += content
        had_footer = has_footer
    return kept_lines


def _pages(lines: Lines) -> Iterator[list[str]]:
    """The lines of each page, without empty lines at its ends."""
    has_form_feeds = any(FORM_FEED in line for line in lines)
    page: list[str] = []
    page_number = 0
    for line in lines:
        if has_form_feeds:
            before, *others = line.split(FORM_FEED)
            page.append(before)
            for after in others:
                yield _trimmed(page)
                page = [after]
            continue
        page.append(line)
        footer = PAGE_NUMBER.search(line)
        if footer and int(footer[1]) == page_number + 1:  # pages are numbered from 1
            page_number += 1
            yield _trimmed(page)
            page = []
    yield _trimmed(page)


def _trimmed(lines: list[str]) -> list[str]:
    """The lines without empty lines at their ends."""
    start = 0
    end = len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _frequent_forms(lines: Iterable[str]) -> frozenset[str]:
    """The `_form` of each line that many pages have; `lines` are the first, or the last, lines of all pages."""
    counts = Counter(map(_form, lines))
    least = max(LEAST_PAGES, LEAST_SHARE * counts.total())
    return frozenset(form for form, count in counts.items() if count >= least)


def _form(line: str) -> str:
    """A line with each number as 0 and single spaces, so that running heads with different page numbers are equal."""
    return DIGITS.sub("0", " ".join(line.split()))
