"""CSV as RFC 4180 has it, in UTF-8: lines end with CR LF, and what holds commas, quotes or line ends is quoted.

A spreadsheet takes a cell that begins with one of some signs for a formula, and may run it: then who wrote the page
wrote the formula. Other programs take text as it is, so it is changed only where that is asked for, else counted.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawler.reports.stored_pages import StoredPage


FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Formulas:
    """Counts the texts that a spreadsheet would take for formulas, and may put a ' before them, as these want it."""

    def __init__(self, quoted: bool = False) -> None:
        self.quoted, self.count = quoted, 0

    def cell(self, text: str) -> str:
        """The text as a cell holds it."""
        if not text.startswith(FORMULA):
            return text
        self.count += 1
        return f"'{text}" if self.quoted else text


def csv_lines(
    pages: "Iterable[StoredPage]", fields: Sequence[str], formulas: Formulas | None = None
) -> Iterator[bytes]:
    """The names of the fields, then a row for each page; lists and mappings as JSON, and nothing for null."""
    formulas = formulas or Formulas()
    buffer = StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(fields)
    for page in pages:
        yield _taken(buffer)
        writer.writerow([_cell(page.values[name], formulas) for name in fields])
    yield _taken(buffer)


def _cell(value: Any, formulas: Formulas) -> Any:
    if isinstance(value, str):
        return formulas.cell(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _taken(buffer: StringIO) -> bytes:
    """What was written, which is forgotten then."""
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode("utf-8", "replace")
