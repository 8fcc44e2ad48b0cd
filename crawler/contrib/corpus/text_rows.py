"""Texts in two temporary files: one has a row for each text with the values that are compared, the other the addresses.

crawler/recrawl/near_duplicates.py compares the rows; its docstring says how much memory that takes. The addresses are
written to a file because reading them from the database again would be slow: there they are scattered over the disk.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from numpy.typing import NDArray

from crawler.recrawl.near_duplicates import PERMUTATIONS, Numbers, TextColumns, fingerprint_number

ROW = np.dtype(
    [
        ("key", "<i8"),
        ("fingerprint", "<i8"),
        ("has_letters", "<i4"),
        ("is_signed", "<i4"),
        ("preference", "<f8", 2),
        ("site", "<i8"),
        ("rank", "<i8"),
        ("address_end", "<i8"),
        ("signature", "<u2", PERMUTATIONS),
    ]
)
"""A row, as numpy reads it. `preference` has two sort keys, lower for preferred texts. Among near-duplicates on the
same `site`, the text with the lowest `rank` is the original. `address_end` is the offset after the text's address in
the file of addresses.
"""
PACKED = Struct(f"<qqiiddqqq{2 * PERMUTATIONS}s")
"""A row with the fields of `ROW`, as it is written."""


@contextmanager
def text_rows(folder: Path | None) -> Iterator["TextRows"]:
    """Open an empty table of rows, with its temporary files in this folder."""
    with TemporaryFile(dir=folder) as file, TemporaryFile(dir=folder) as addresses:
        yield TextRows(file, addresses)


class TextRows:
    """Rows that are all written first, and then read."""

    def __init__(self, file: IO[bytes], addresses: IO[bytes]) -> None:
        self.count = 0
        self._file = file
        self._addresses = addresses
        self._address_end = 0

    def add(
        self,
        key: int,
        address: str,
        fingerprint: str | None,
        signature: bytes | None,
        *,
        preference: tuple[float, float] = (0.0, 0.0),
        site: int = 0,
        rank: int = 0,
    ) -> None:
        """Write a row. `key` is the caller's number for the text; the other numbers are described at `ROW`."""
        self._address_end += self._addresses.write(address.encode("utf-8", "replace"))
        row = PACKED.pack(
            key,
            fingerprint_number(fingerprint or ""),
            fingerprint is not None,
            signature is not None,
            *preference,
            site,
            rank,
            self._address_end,
            signature or b"",
        )
        self._file.write(row)
        self.count += 1

    def values(self) -> NDArray[np.void]:
        """All rows, mapped from the file."""
        self._file.flush()
        if self.count == 0:  # an empty file cannot be mapped
            return np.empty(0, ROW)
        return np.memmap(self._file, ROW, mode="r", shape=(self.count,))

    def addresses(self, rows: Numbers) -> Iterator[str]:
        """The addresses of the texts in these rows."""
        ends = self.values()["address_end"]
        starts = np.where(rows > 0, ends[rows - 1], 0)  # an address begins where that of the previous row ends
        for start, end in zip(starts.tolist(), ends[rows].tolist(), strict=True):
            self._addresses.seek(start)
            yield self._addresses.read(end - start).decode()


def text_columns(values: NDArray[np.void]) -> TextColumns:
    """The columns of rows that texts are compared by."""
    return TextColumns(
        signatures=values["signature"],
        is_signed=values["is_signed"] == 1,
        fingerprints=values["fingerprint"],
        has_letters=values["has_letters"] == 1,
        sites=values["site"],
        ranks=values["rank"],
    )
