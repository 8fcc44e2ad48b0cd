"""`winnow evaluate --metadata`: judges the title, author, date and comments that programs find on pages.

The programs are Winnow and, if they are installed, others that read such fields.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from crawler.contrib.lab.evaluation.metadata_scores import FIELDS, FieldCounts, counts
from crawler.contrib.lab.evaluation.program_tables import Row, print_tables
from crawler.extraction.auto import auto
from crawler.metadata.record_readers import READERS
from crawler.page.page import Page

HEADS = ("pages", "right", "wrong", "missing", "precision", "without it", "invented", "ms a page")
"""The heads of the columns after field and program. A program reads all fields of a page in one call, so each of its
rows has the same time.
"""

Reader = Callable[[str, str, tuple[str, ...]], dict[str, str]]
"""Called with the source and the address of a page and the names of fields; returns the values of the fields."""


def _winnow(html: str, url: str, fields: tuple[str, ...]) -> dict[str, str]:
    page = Page.from_html(html, url)
    extraction = auto(page)
    return {field: READERS[field](page, extraction) or "" for field in fields}


def _trafilatura(html: str, url: str, fields: tuple[str, ...]) -> dict[str, str]:
    module = import_module("trafilatura")
    metadata = module.extract_metadata(html, default_url=url or None)
    names = {"title": "title", "author": "author", "published": "date"}
    values = {field: str(getattr(metadata, names[field], None) or "") for field in fields if field in names}
    if "comments" in fields:
        values["comments"] = str(getattr(module.bare_extraction(html, url=url or None), "comments", None) or "")
    return values


def _htmldate(html: str, url: str, _: tuple[str, ...]) -> dict[str, str]:  # htmldate finds only dates
    try:
        date = import_module("htmldate").find_date(html, url=url or None, original_date=True)
    except ValueError:  # the page is empty
        date = None
    return {"published": date or ""}


PROGRAMS: dict[str, tuple[Reader, tuple[str, ...]]] = {
    "winnow": (_winnow, FIELDS),
    "trafilatura": (_trafilatura, FIELDS),
    "htmldate": (_htmldate, ("published",)),
}
"""By name, the reader of each program and the fields that it can read. The name is that of the module, except Winnow's.
"""


def evaluate(paths: list[Path]) -> int:
    """Judge the fields on the pages of files, and print a table for each file; returns the exit status."""
    return print_tables(paths, _fault, _rows, {0, 1})


def _fault(row: Row) -> str:
    if isinstance(row.get("html"), str) and any(isinstance(row.get(field), str) for field in FIELDS):
        return ""
    return f"html and one of {', '.join(FIELDS)} must be there and be text"


def _rows(pages: list[Row]) -> Iterator[tuple[str, ...]]:
    """The head of the table, and a row for each field and program."""
    # Run the programs. A value is compared if the page's line has the field as text; an empty text means that the page
    # has no value.
    programs = [name for name in PROGRAMS if name == "winnow" or find_spec(name)]
    known_fields = tuple(field for field in FIELDS if any(isinstance(row.get(field), str) for row in pages))
    pairs_by_field: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = defaultdict(float)
    for row in pages:
        for name in programs:
            read, readable_fields = PROGRAMS[name]
            fields = tuple(field for field in known_fields if field in readable_fields)
            started = time.process_time()
            values = read(row["html"], str(row.get("url") or ""), fields)
            seconds[name] += time.process_time() - started
            for field, value in values.items():
                if isinstance(row.get(field), str):
                    pairs_by_field[field][name].append((value, row[field]))

    yield ("field", "program", *HEADS)
    for field in known_fields:
        for name, pairs in pairs_by_field[field].items():
            yield (field, name, *_cells(counts(field, pairs)), f"{1000 * seconds[name] / len(pages):.1f}")


def _cells(field_counts: FieldCounts) -> tuple[str, ...]:
    precision = "–" if field_counts.precision is None else f"{field_counts.precision:.3f}".lstrip("0")
    numbers = (field_counts.present, field_counts.right, field_counts.wrong, field_counts.missing)
    return (*(f"{number:,}" for number in numbers), precision, f"{field_counts.absent:,}", f"{field_counts.invented:,}")
