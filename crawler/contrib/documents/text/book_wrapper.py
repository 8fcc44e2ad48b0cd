"""Removes the licence that a publisher puts before and after a book.

A book of Project Gutenberg begins after a line `*** START OF THE PROJECT GUTENBERG EBOOK … ***`, or if it is an older
one, after a line `*END*THE SMALL PRINT! …`. It ends before a line `*** END OF …`.
"""

import re
from dataclasses import KW_ONLY, dataclass
from datetime import datetime

START = re.compile(
    r"^[ \t]*(?:\*{3} ?START OF .{1,300}?\*{3}|\*END\*? ?THE SMALL PRINT[^\n]{0,200})[ \t]*+$", re.MULTILINE | re.DOTALL
)
END = re.compile(r"^[ \t]*\*{3} ?END OF ", re.MULTILINE)
FIELD = re.compile(r"^(Title|Author|Release date|Posting date): *(\S.{0,300})$", re.MULTILINE | re.IGNORECASE)
DAY = re.compile(r"([A-Z][a-z]{2,8}) (\d{1,2}), (\d{4})")


@dataclass(frozen=True, slots=True)
class Book:
    """A book, with the fields before it; a missing field is empty."""

    text: str
    _: KW_ONLY
    title: str = ""
    author: str = ""
    published: str = ""
    """The date in ISO 8601."""


def book_of(text: str) -> Book:
    """The book in a text; the whole text if there is no licence around it.

    >>> book_of("Title: Bees\\n*** START OF THE EBOOK BEES ***\\nBees dance.\\n*** END OF THE EBOOK BEES ***\\nLicence")
    Book(text='Bees dance.', title='Bees', author='', published='')
    """
    start = START.search(text)
    if start is None:
        return Book(text=text)
    # In reverse, so that the first of several fields with one name counts.
    fields = {name.lower(): value.rstrip() for name, value in reversed(FIELD.findall(text[: start.start()]))}
    released = fields.get("release date") or fields.get("posting date", "")
    book = text[start.end() :]
    end = END.search(text, start.end())
    if end:
        book = text[start.end() : end.start()]
    book = book.strip("\n")
    return Book(text=book, title=fields.get("title", ""), author=fields.get("author", ""), published=_day(released))


def _day(text: str) -> str:
    """The first date such as "May 20, 2024" in ISO 8601; empty if there is none."""
    match = DAY.search(text)
    if match is None:
        return ""
    try:
        return datetime.strptime(match[0], "%B %d, %Y").date().isoformat()
    except ValueError:
        return ""
