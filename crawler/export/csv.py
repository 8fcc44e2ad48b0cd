"""CSV in UTF-8 (https://www.rfc-editor.org/rfc/rfc4180#section-2): lines end with CR LF, and values with
commas, quotes or line ends are quoted.

If a cell begins with certain signs, a spreadsheet reads it as a formula and may run it, so the author of a page could
run formulas (https://owasp.org/www-community/attacks/CSV_Injection). In some locales, full-width signs begin a formula,
too. An import may drop blanks and invisible characters before a sign. With a `'` before it, a cell is no formula, but
programs other than spreadsheets read the `'` as part of the text. So such cells are changed only on request, but always
counted.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

from crawler.reports.stored_pages import StoredPage

FORMULA_SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
"""Signs that begin a formula, of plain, full and small width."""
BLANKS = r"\s\x00-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
"""Blank, control and invisible characters, as a part of a regular expression."""
FORMULA = re.compile(rf"[\t\r\n]|[{BLANKS}]*[{re.escape(FORMULA_SIGNS)}]")
"""The beginning of a cell that may be a formula: a sign, perhaps after blanks; or a tab or a line end."""


class Formulas:
    """Counts the texts that a spreadsheet would read as formulas; with `quoted`, also puts a ' before each."""

    def __init__(self, quoted: bool = False) -> None:
        self.quoted = quoted
        self.count = 0

    def cell(self, text: str) -> str:
        """Count a text if it begins like a formula; returns the content of its cell."""
        if FORMULA.match(text) is None:
            return text
        self.count += 1
        if self.quoted:
            return f"'{text}"
        return text


def csv_lines(pages: Iterable[StoredPage], fields: Sequence[str], formulas: Formulas | None = None) -> Iterator[bytes]:
    """A row of field names, then a row for each page. Lists, mappings and booleans are JSON; None is empty."""
    formulas = formulas or Formulas()
    buffer = StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(fields)
    for page in pages:
        yield _take_bytes(buffer)
        writer.writerow([_cell(page.values[name], formulas) for name in fields])
    yield _take_bytes(buffer)


def _cell(value: Any, formulas: Formulas) -> Any:
    if isinstance(value, str):
        return formulas.cell(value)
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return value


def _take_bytes(buffer: StringIO) -> bytes:
    """Empty the buffer; returns what was written since the last call."""
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode("utf-8", "replace")
