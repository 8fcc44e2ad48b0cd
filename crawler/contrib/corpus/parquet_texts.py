"""Reads texts from a Parquet file, a batch of rows at a time."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow
from pyarrow.parquet import ParquetFile
from pyarrow.types import is_dictionary, is_large_string, is_string

from crawler.errors import WrongUseError

ROWS_AT_ONCE = 100
READ_AT_ONCE = 1024 * 1024
"""Bytes of a column that are read at once, instead of a whole row group."""


class ParquetTexts:
    """The text columns of a file; reading a damaged file raises a WrongUseError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = ParquetFile(path, buffer_size=READ_AT_ONCE, pre_buffer=False)
        except pyarrow.ArrowException as error:
            raise self._damaged(error) from None
        self.columns = [field.name for field in self._file.schema_arrow if _has_texts(field.type)]

    def rows(self, *columns: str) -> Iterator[tuple[str | None, ...]]:
        """The values of these columns, row by row; None in place of a text column that the file does not have."""
        present = [name for name in columns if name in self.columns]
        try:
            for batch in self._file.iter_batches(ROWS_AT_ONCE, columns=present):
                values = batch.to_pydict()
                missing = [None] * len(batch)
                yield from zip(*(values.get(name, missing) for name in columns), strict=True)
        except (pyarrow.ArrowException, UnicodeDecodeError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> WrongUseError:
        first_line, _, _ = str(error).partition("\n")
        why = first_line or type(error).__name__
        return WrongUseError("{path} cannot be read ({why})", path=repr(str(self._path)), why=why[:200])


def _has_texts(column_type: pyarrow.DataType) -> bool:
    """Whether a column has texts, possibly as indexes into a dictionary of its distinct texts."""
    value_type = column_type.value_type if is_dictionary(column_type) else column_type
    return bool(is_string(value_type) or is_large_string(value_type))
