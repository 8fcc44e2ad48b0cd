"""Parquet: typed, compressed columns, in row groups of limited size. `rights` and `quality` are structures. Own fields
are a column of JSON texts, as their names differ from crawl to crawl.

Times are timestamps. `published` stays a text: many pages give a day only, and midnight would be invented.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any

from crawler.contrib.corpus.byte_sink import ByteSink
from crawler.contrib.corpus.quality import KINDS, MASKED
from crawler.items import TIMES, TYPES
from crawler.reports.stored_pages import StoredPage
from crawler.rights.statement import Use

ROWS = 10_000  # of a row group
SIZE = 8 * 1024 * 1024  # characters of a row group, plus one page
RIGHTS = "rights"
QUALITY = "quality"
OF_RIGHTS = {
    "licence": "string",
    "uses": {use.value: "string" for use in Use},
    "evidence": [dict.fromkeys(("signal", "where", "says", "read_at"), "string")],
}
"""The type of the field `rights`."""


def parquet(
    pages: Iterable[StoredPage],
    fields: Sequence[str],
    size: int | None = None,
    types: Mapping[str, Any] | None = None,
) -> Iterator[bytes]:
    """The parts of the file, one row group at a time; a group has at most so many characters, plus one page.

    `types` are the names of the fields' types in Arrow, within dicts and lists; those of the items if None.
    """
    import pyarrow  # which other formats do not wait for
    from pyarrow.parquet import ParquetWriter

    pages = iter(pages)
    begun = list(islice(pages, 1))
    kinds = _types(pyarrow, begun) if types is None else {name: _named(pyarrow, one) for name, one in types.items()}
    schema = pyarrow.schema([(name, kinds[name]) for name in fields])
    sink = ByteSink()
    with ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in _groups(chain(begun, pages), fields, min(size or SIZE, SIZE)):
            columns = {
                name: [page.values[name] if types else _cell(name, page.values[name]) for page in group]
                for name in fields
            }
            writer.write_table(pyarrow.table(columns, schema=schema))
            yield sink.taken()
    yield sink.taken()


def _types(pyarrow: Any, begun: Iterable[StoredPage]) -> dict[str, Any]:
    """The types of the fields of items."""
    plain = {str: "string", int: "int64", float: "float64", bool: "bool", dict: "string"}
    images = [{"url": "string", "alt": "string", "noise": "float64"}]
    # An export that masks personal data counts it on every page.
    counted = {
        name: kind for page in begun for name, kind in MASKED.items() if name in (page.values.get("quality") or {})
    }
    numbers = {name: plain[kind] for name, kind in (KINDS | counted).items()}
    named = {name: images if kind is list else plain[kind] for name, kind in TYPES.items()}
    found = {name: _named(pyarrow, kind) for name, kind in (named | {RIGHTS: OF_RIGHTS, QUALITY: numbers}).items()}
    return found | dict.fromkeys(TIMES, pyarrow.timestamp("us", tz="UTC"))


def _named(pyarrow: Any, type: Any) -> Any:
    """A type of Arrow: of a name, of a dict for a structure, or of a list with the type of its elements."""
    if isinstance(type, dict):
        return pyarrow.struct([(name, _named(pyarrow, one)) for name, one in type.items()])
    if isinstance(type, list):
        return pyarrow.list_(_named(pyarrow, type[0]))
    return pyarrow.type_for_alias(type)


def _cell(name: str, value: Any) -> Any:
    if name in TIMES:
        return datetime.fromisoformat(value)
    is_text = isinstance(value, dict) and name not in (RIGHTS, QUALITY)
    if is_text:
        return json.dumps(value, ensure_ascii=False)
    return value


def _groups(pages: Iterable[StoredPage], fields: Sequence[str], most: int) -> Iterator[list[StoredPage]]:
    """The pages in groups that are small enough for memory."""
    group: list[StoredPage] = []
    size = 0
    for page in pages:
        group.append(page)
        size += sum(_size(page.values[name]) for name in fields)
        if len(group) == ROWS or size >= most:
            yield group
            group = []
            size = 0
    if group:
        yield group


def _size(value: Any) -> int:
    if isinstance(value, str | dict):
        return len(str(value))
    if isinstance(value, list):
        return sum(len(str(text)) for one in value for text in one.values())
    return 0
