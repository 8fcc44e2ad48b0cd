"""Reads texts from JSON lines, CSV, Parquet and plain text, and from files of their signatures, one text at a time.

A file of signatures is JSON lines, too. Its first line is `HEADER`. Each other line is an object with `url`, the
`text_fingerprint` of items, and the `signature` of the table `page` as Base64. Fingerprint and signature may be null.
"""

import csv
import gzip
import json
import re
import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from crawler.doors import Part, resolve
from crawler.errors import WrongUseError
from crawler.export.formats import compression_of
from crawler.page.text import fingerprint
from crawler.recrawl.near_duplicates import PERMUTATIONS, signature
from crawler.translation.message import N_, Message, first

if TYPE_CHECKING:
    from crawler.contrib.corpus.parquet_texts import ParquetTexts

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_BYTES = 16_000_000
"""The most bytes of a line, and of a `.txt` file. A page has at most 10 MB; 16 MB of JSON may take 400 MB of memory."""
LONGEST_ROW = 2 * MOST_BYTES
"""The most bytes of a row of CSV, which may have several lines."""
LONGEST_ADDRESS = 2_000
"""The most characters of an address that are kept."""
MOST_NAMED = 10
"""The most columns that an error names."""
LONGEST_NAME = 50
"""The most characters of a column's name that an error shows."""
HEADER = {"winnow_signatures": 1}
"""The first line of a file of signatures; the number is raised when signatures are computed differently."""
TEXT = "text"
ADDRESS = "url"
"""The names of the fields or columns with the text and its address; a text may have no address."""
SIGNATURES = ".signatures"
"""The extension of a file of signatures."""
_FINGERPRINT = re.compile("[0-9a-f]{16}")
_DAMAGED = (EOFError, zlib.error, zstd.ZstdError, csv.Error)
"""The errors that reading a damaged file raises."""

NOT_JSON = Message(N_("is not a JSON object"))
NOT_UTF8 = Message(N_("is not UTF-8"))
NOT_CSV = Message(N_("is no row of CSV"))
NO_TEXT = Message(N_("has no field text"))
NO_SIGNATURE = Message(N_("is no signature"))
TOO_LONG = Message(N_("is longer than 16 MB"))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownText:
    """A text that the user already has, reduced to the values that are compared."""

    address: str
    """Its URL, or its place in a file."""
    fingerprint: str | None
    """A hash of its letters and digits; None if it has none."""
    signature: bytes | None
    """Its signature for near-duplicates; None if it is too short for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A text that cannot be read, and why."""

    place: str
    why: Message


Texts = Iterator[KnownText | Fault]


def read_file(path: Path, name: str) -> Texts:
    """The texts of a file, which messages call `name`; raises a WrongUseError if the file is damaged."""
    with _readable(path):
        yield from READERS[reader_name(path.name)](path, name)


def reader_name(name: str) -> str:
    """The extension that chooses the reader of a file; empty if no reader has it.

    >>> reader_name("old.jsonl.ZST"), reader_name("old.parquet"), reader_name("old.parquet.gz"), reader_name("old")
    ('.jsonl', '.parquet', '', '')
    """
    compression = compression_of(name)
    extension = Path(name.lower().removesuffix(compression)).suffix
    is_compressed_parquet = bool(compression) and extension == ".parquet"
    if extension not in READERS or is_compressed_parquet:
        return ""
    return extension


def signature_line(text: KnownText) -> dict[str, Any]:
    """The line of a text in a file of signatures."""
    packed = None if text.signature is None else b64encode(text.signature).decode()
    return {ADDRESS: text.address, "text_fingerprint": text.fingerprint, "signature": packed}


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except _DAMAGED as error:
        raise _unreadable(path, str(error) or type(error).__name__) from None


def _unreadable(path: Path, why: object) -> WrongUseError:
    return WrongUseError("{path} cannot be read ({why})", path=repr(str(path)), why=why)


def _opened(path: Path) -> IO[bytes]:
    """The file, decompressed while it is read."""
    opening: Mapping[str, Callable[[Path], Any]] = {".gz": gzip.open, ".zst": zstd.open}
    compression = compression_of(path.name)
    file: IO[bytes] = opening[compression](path) if compression else path.open("rb")
    return file


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a file; None in place of a line that is too long."""
    while line := file.readline(MOST_BYTES):
        is_whole = line.endswith(b"\n") or len(line) < MOST_BYTES  # the last line may have no line end
        yield line if is_whole else None
        while not is_whole:  # skip the rest of the line
            rest = file.readline(MOST_BYTES)
            is_whole = not rest or rest.endswith(b"\n")


def _known_text(text: str, address: object, place: str) -> KnownText:
    """A text as `KnownText`; `place` stands in for a missing address."""
    shown_address = place
    if isinstance(address, str) and address:
        shown_address = address[:LONGEST_ADDRESS]
    return KnownText(address=shown_address, fingerprint=fingerprint(text), signature=signature(text))


def _read_json(path: Path, name: str) -> Texts:
    read_row = _text_of_row  # replaced if the first line is the header of a file of signatures
    with _opened(path) as file:
        for number, line in enumerate(_lines(file), 1):
            place = f"{name}:{number}"
            if line is None:
                yield Fault(place=place, why=TOO_LONG)
                continue
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except UnicodeDecodeError:
                yield Fault(place=place, why=NOT_UTF8)
            except (ValueError, RecursionError):
                yield Fault(place=place, why=NOT_JSON)
            else:
                if number == 1 and isinstance(row, dict) and HEADER.keys() <= row.keys():
                    _check_version(path, row)
                    read_row = _signature_of_row
                    continue
                yield read_row(row, place) if isinstance(row, dict) else Fault(place=place, why=NOT_JSON)


def _check_version(path: Path, header: Mapping[str, Any]) -> None:
    if header != HEADER:
        raise WrongUseError(
            "{path} has signatures of another version of Winnow; write it again from the texts", path=repr(str(path))
        )


def _text_of_row(row: Mapping[str, Any], place: str) -> KnownText | Fault:
    text = row.get(TEXT)
    if isinstance(text, str):
        return _known_text(text, row.get(ADDRESS), place)
    return Fault(place=place, why=NO_TEXT)


def _signature_of_row(row: Mapping[str, Any], place: str) -> KnownText | Fault:
    text_fingerprint = row.get("text_fingerprint")
    packed = row.get("signature")
    try:
        unpacked = None if packed is None else b64decode(packed, validate=True)
    except (TypeError, ValueError):
        return Fault(place=place, why=NO_SIGNATURE)
    has_wrong_size = unpacked is not None and len(unpacked) != 2 * PERMUTATIONS  # two bytes for each value
    is_fingerprint = isinstance(text_fingerprint, str) and _FINGERPRINT.fullmatch(text_fingerprint) is not None
    if has_wrong_size or not (text_fingerprint is None or is_fingerprint):
        return Fault(place=place, why=NO_SIGNATURE)
    address = str(row.get(ADDRESS) or place)[:LONGEST_ADDRESS]
    return KnownText(address=address, fingerprint=text_fingerprint, signature=unpacked)


def _read_csv(path: Path, name: str) -> Texts:
    csv.field_size_limit(MOST_BYTES)  # the default is 128 KB
    with _opened(path) as file:
        lines = _CsvLines(path, file)
        rows = csv.reader(lines)
        columns = next(rows, [])
        if not columns:
            return
        _check_columns(path, columns)
        text_column = columns.index(TEXT)
        address_column = columns.index(ADDRESS) if ADDRESS in columns else None
        while True:
            lines.begin_row()
            try:
                row = next(rows, None)
            except csv.Error:
                yield Fault(place=f"{name}:{rows.line_num}", why=NOT_CSV)
                continue
            if row is None:
                return
            if row:
                yield _text_of_cells(row, text_column, address_column, f"{name}:{rows.line_num}")


class _CsvLines:
    """The lines of CSV, for `csv.reader`. Bytes that are not UTF-8 are decoded as surrogates, so that `_text_of_cells`
    can report their rows.

    An unclosed quote would make one row of all following lines. So a csv.Error is raised when a row gets longer than
    `LONGEST_ROW`; the caller announces each row by `begin_row`.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._lines = enumerate(_lines(file), 1)
        self._row_bytes = 0

    def begin_row(self) -> None:
        """Start counting the bytes of the next row."""
        self._row_bytes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        if line is None:
            why = Message("line {n} is longer than {most} bytes", {"n": f"{number:,}", "most": f"{MOST_BYTES:,}"})
            raise _unreadable(self._path, why)
        self._row_bytes += len(line)
        if self._row_bytes > LONGEST_ROW:
            raise csv.Error("row too long")
        return line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")


def _text_of_cells(row: list[str], text_column: int, address_column: int | None, place: str) -> KnownText | Fault:
    if len(row) <= text_column:
        return Fault(place=place, why=NO_TEXT)
    text = row[text_column]
    try:
        text.encode()
    except UnicodeEncodeError:  # it has surrogates
        return Fault(place=place, why=NOT_UTF8)
    address = None
    if address_column is not None and len(row) > address_column:
        address = row[address_column]
    return _known_text(text, address, place)


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    if TEXT not in columns:
        names = [repr(name[:LONGEST_NAME]) for name in columns]
        raise WrongUseError(
            "{path} has no column of texts named text; its columns are {names}",
            path=repr(str(path)),
            names=first(names, MOST_NAMED),
        )


def _read_parquet(path: Path, name: str) -> Texts:
    # Raises an error that names the missing extra if pyarrow is not installed.
    texts_class: type[ParquetTexts] = resolve(Part("crawler.contrib.corpus.parquet_texts:ParquetTexts", ("pyarrow",)))
    file = texts_class(path)
    _check_columns(path, file.columns)
    for number, (text, address) in enumerate(file.rows(TEXT, ADDRESS), 1):
        place = f"{name}:{number}"
        yield Fault(place=place, why=NO_TEXT) if text is None else _known_text(text, address, place)


def _read_text(path: Path, name: str) -> Texts:
    with _opened(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        yield Fault(place=name, why=TOO_LONG)
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        yield Fault(place=name, why=NOT_UTF8)
    else:
        yield _known_text(text, None, name)


READERS: Mapping[str, Callable[[Path, str], Texts]] = MappingProxyType(
    {
        **dict.fromkeys((".jsonl", ".ndjson", ".jl", SIGNATURES), _read_json),
        ".csv": _read_csv,
        ".parquet": _read_parquet,
        ".txt": _read_text,
    }
)
"""The function that reads a file, by the extension of the file's name."""
EXTENSIONS = tuple(READERS)
