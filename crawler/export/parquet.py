"""Parquet: typed, compressed columns, in row groups of limited size. `rights` and `quality` are structures. Own fields
are a column of JSON texts, as their names differ from crawl to crawl.

Times are timestamps. `published` stays a text: many pages give a day only, and midnight would be invented.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from io import RawIOBase
from itertools import chain, islice
from typing import Any

from crawler.command_line.terminal import WrongUseError
from crawler.items import TIMES, TYPES
from crawler.quality import KINDS, MASKED
from crawler.reports.stored_pages import StoredPage
from crawler.rights.statement import Use

ROWS = 10_000  # of a row group
SIZE = 8 * 1024 * 1024  # characters of a row group, plus one page
RIGHTS, QUALITY = "rights", "quality"


class _Sink(RawIOBase):
    """A file whose new bytes can be taken, and that remembers their offset."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._at += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._at

    def taken(self) -> bytes:
        """What was written since the last call."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def parquet(pages: Iterable[StoredPage], fields: Sequence[str], size: int | None = None) -> Iterator[bytes]:
    """The parts of the file, one row group at a time; a group has at most so many characters, plus one page."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise WrongUseError(
            "{names} must be installed: python -m pip install '.[{extra}]'", names="pyarrow", extra="parquet"
        ) from None
    images = pyarrow.list_(
        pyarrow.struct([("url", pyarrow.string()), ("alt", pyarrow.string()), ("noise", pyarrow.float64())])
    )
    types = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
        list: images,
        dict: pyarrow.string(),
    }
    pages = iter(pages)
    begun = list(islice(pages, 1))
    # An export that masks personal data counts it on every page.
    counted = {
        name: kind for page in begun for name, kind in MASKED.items() if name in (page.values.get("quality") or {})
    }
    numbers = pyarrow.struct([(name, types[kind]) for name, kind in (KINDS | counted).items()])
    special = dict.fromkeys(TIMES, pyarrow.timestamp("us", tz="UTC")) | {RIGHTS: _rights(pyarrow), QUALITY: numbers}
    schema = pyarrow.schema([(name, special.get(name, types[TYPES[name]])) for name in fields])
    sink = _Sink()
    with ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in _groups(chain(begun, pages), fields, min(size or SIZE, SIZE)):
            columns = {name: [_cell(name, page.values[name]) for page in group] for name in fields}
            writer.write_table(pyarrow.table(columns, schema=schema))
            yield sink.taken()
    yield sink.taken()


def _cell(name: str, value: Any) -> Any:
    if name in TIMES:
        return datetime.fromisoformat(value)
    is_text = isinstance(value, dict) and name not in (RIGHTS, QUALITY)
    return json.dumps(value, ensure_ascii=False) if is_text else value


def _rights(pyarrow: Any) -> Any:
    """The type of the field `rights`."""
    text = pyarrow.string()
    uses = pyarrow.struct([(use.value, text) for use in Use])
    evidence = pyarrow.list_(pyarrow.struct([(name, text) for name in ("signal", "where", "says", "read_at")]))
    return pyarrow.struct([("licence", text), ("uses", uses), ("evidence", evidence)])


def _groups(pages: Iterable[StoredPage], fields: Sequence[str], most: int) -> Iterator[list[StoredPage]]:
    """The pages in groups that are small enough for memory."""
    group: list[StoredPage] = []
    size = 0
    for page in pages:
        group.append(page)
        size += sum(_size(page.values[name]) for name in fields)
        if len(group) == ROWS or size >= most:
            yield group
            group, size = [], 0
    if group:
        yield group


def _size(value: Any) -> int:
    if isinstance(value, str | dict):
        return len(str(value))
    return sum(len(str(text)) for one in value for text in one.values()) if isinstance(value, list) else 0
