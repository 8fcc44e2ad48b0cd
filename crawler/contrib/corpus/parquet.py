"""Writes Parquet: typed, compressed columns, in row groups of limited size. `rights` and `quality` are structures. A
crawl's own fields are one column of JSON texts, because their names differ between crawls.

Times are timestamps. `published` stays a text, because many pages give only a day: a timestamp would say midnight.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any

from crawler.contrib.corpus.byte_sink import ByteSink
from crawler.contrib.corpus.quality import MASKED_TYPES, NUMBER_TYPES
from crawler.items import TIMES, TYPES
from crawler.reports.stored_pages import StoredPage
from crawler.rights.statement import Use

MOST_ROWS = 10_000
"""The most rows of a row group."""
GROUP_CHARACTERS = 8 * 1024 * 1024
"""A row group is closed as soon as it has this many characters."""
RIGHTS = "rights"
QUALITY = "quality"
RIGHTS_TYPE = {
    "licence": "string",
    "uses": {use.value: "string" for use in Use},
    "evidence": [dict.fromkeys(("signal", "where", "says", "read_at"), "string")],
}
"""The type of the field `rights`."""


def parquet(
    pages: Iterable[StoredPage],
    fields: Sequence[str],
    group_size: int | None = None,
    types: Mapping[str, Any] | None = None,
) -> Iterator[bytes]:
    """The parts of the file, one row group at a time.

    A group is closed as soon as it has `group_size` characters, or GROUP_CHARACTERS if that is less. `types` are the
    Arrow types of the fields, as `_arrow_type` reads them; None for the fields of items.
    """
    import pyarrow  # imported here, so that other formats are written without this delay
    from pyarrow.parquet import ParquetWriter

    pages = iter(pages)
    first_page = list(islice(pages, 1))
    if types is None:
        arrow_types = _item_types(pyarrow, first_page)
    else:
        arrow_types = {name: _arrow_type(pyarrow, type) for name, type in types.items()}
    schema = pyarrow.schema([(name, arrow_types[name]) for name in fields])
    sink = ByteSink()
    with ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in _groups(chain(first_page, pages), fields, min(group_size or GROUP_CHARACTERS, GROUP_CHARACTERS)):
            # The values of a preset already have their types.
            columns = {
                name: [page.values[name] if types else _cell(name, page.values[name]) for page in group]
                for name in fields
            }
            writer.write_table(pyarrow.table(columns, schema=schema))
            yield sink.take()
    yield sink.take()


def _item_types(pyarrow: Any, first_page: Iterable[StoredPage]) -> dict[str, Any]:
    """The Arrow types of the fields of items; `first_page` is empty if there are no pages."""
    plain = {str: "string", int: "int64", float: "float64", bool: "bool", dict: "string"}
    images = [{"url": "string", "alt": "string", "noise": "float64"}]
    # An export that masks personal data counts it on every page, so the first page shows these columns.
    masked_counts: dict[str, type] = {}
    for page in first_page:
        quality = page.values.get("quality") or {}
        masked_counts = {name: kind for name, kind in MASKED_TYPES.items() if name in quality}
    numbers = {name: plain[kind] for name, kind in (NUMBER_TYPES | masked_counts).items()}
    types = {name: images if kind is list else plain[kind] for name, kind in TYPES.items()}
    nested = {RIGHTS: RIGHTS_TYPE, QUALITY: numbers}
    arrow_types = {name: _arrow_type(pyarrow, type) for name, type in (types | nested).items()}
    return arrow_types | dict.fromkeys(TIMES, pyarrow.timestamp("us", tz="UTC"))


def _arrow_type(pyarrow: Any, type: Any) -> Any:
    """The Arrow type that `type` describes: a name, a dict with the types of a structure, or a list of one type."""
    if isinstance(type, dict):
        return pyarrow.struct([(name, _arrow_type(pyarrow, member)) for name, member in type.items()])
    if isinstance(type, list):
        return pyarrow.list_(_arrow_type(pyarrow, type[0]))
    return pyarrow.type_for_alias(type)


def _cell(name: str, value: Any) -> Any:
    """The value of an item's field in the type of its column."""
    if name in TIMES:
        return datetime.fromisoformat(value)
    has_own_fields = isinstance(value, dict) and name not in (RIGHTS, QUALITY)
    if has_own_fields:
        return json.dumps(value, ensure_ascii=False)
    return value


def _groups(pages: Iterable[StoredPage], fields: Sequence[str], full_size: int) -> Iterator[list[StoredPage]]:
    """The pages in groups that fit into memory: a group ends at MOST_ROWS pages, or at `full_size` characters."""
    group: list[StoredPage] = []
    size = 0
    for page in pages:
        group.append(page)
        size += sum(_characters(page.values[name]) for name in fields)
        if len(group) == MOST_ROWS or size >= full_size:
            yield group
            group = []
            size = 0
    if group:
        yield group


def _characters(value: Any) -> int:
    """About how many characters the value of a field has; numbers are not counted, because they are short."""
    if isinstance(value, str | dict):
        return len(str(value))
    if isinstance(value, list):  # of images, or of the paragraphs of MNBVC
        return sum(len(str(part)) for element in value for part in element.values())
    return 0
