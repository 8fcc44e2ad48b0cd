"""`winnow evaluate --metadata`: judges title, author, date and comments, beside other programs if installed."""

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

Reader = Callable[[str, str, tuple[str, ...]], dict[str, str]]
"""The fields of a page, from its source and address."""


def _winnow(html: str, url: str, fields: tuple[str, ...]) -> dict[str, str]:
    page = Page.from_html(html, url)
    found = auto(page)
    return {field: READERS[field](page, found) or "" for field in fields}


def _trafilatura(html: str, url: str, fields: tuple[str, ...]) -> dict[str, str]:
    module = import_module("trafilatura")
    found = module.extract_metadata(html, default_url=url or None)
    names = {"title": "title", "author": "author", "published": "date"}
    read = {field: str(getattr(found, names[field], None) or "") for field in fields if field in names}
    if "comments" in fields:
        read["comments"] = str(getattr(module.bare_extraction(html, url=url or None), "comments", None) or "")
    return read


def _htmldate(html: str, url: str, _: tuple[str, ...]) -> dict[str, str]:
    try:
        found = import_module("htmldate").find_date(html, url=url or None, original_date=True)
    except ValueError:  # of an empty page
        found = None
    return {"published": found or ""}


PROGRAMS: dict[str, tuple[Reader, tuple[str, ...]]] = {
    "winnow": (_winnow, FIELDS),
    "trafilatura": (_trafilatura, FIELDS),
    "htmldate": (_htmldate, ("published",)),
}
"""Each with the fields that it tells."""


def evaluate(paths: list[Path]) -> int:
    """Judge the fields on the pages of files, and print a table for each file; returns the exit status."""
    return print_tables(paths, _fault, _rows, {0, 1})


def _fault(row: Row) -> str:
    if isinstance(row.get("html"), str) and any(isinstance(row.get(field), str) for field in FIELDS):
        return ""
    return f"html and one of {', '.join(FIELDS)} must be there and be text"


def _rows(pages: list[Row]) -> Iterator[tuple[str, ...]]:
    programs = [name for name in PROGRAMS if name == "winnow" or find_spec(name)]
    known = tuple(field for field in FIELDS if any(isinstance(row.get(field), str) for row in pages))
    found: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = defaultdict(float)
    for row in pages:
        for name in programs:
            read, told = PROGRAMS[name]
            started = time.process_time()
            values = read(row["html"], str(row.get("url") or ""), tuple(field for field in known if field in told))
            seconds[name] += time.process_time() - started
            for field, value in values.items():
                if isinstance(row.get(field), str):
                    found[field][name].append((value, row[field]))
    yield ("field", "program", *HEADS)
    for field in known:
        for name, pairs in found[field].items():
            yield (field, name, *_cells(counts(field, pairs)), f"{1000 * seconds[name] / len(pages):.1f}")


def _cells(one: FieldCounts) -> tuple[str, ...]:
    precision = "–" if one.precision is None else f"{one.precision:.3f}".lstrip("0")
    numbers = (one.given, one.right, one.wrong, one.missing)
    return (*(f"{number:,}" for number in numbers), precision, f"{one.absent:,}", f"{one.invented:,}")
