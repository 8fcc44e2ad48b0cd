"""Parquet, read by pyarrow and by DuckDB."""

from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow
import pytest
from export_pages import FIELDS, several, stored
from pyarrow import parquet as reader

from crawler.contrib.corpus import parquet as writer
from crawler.contrib.corpus.parquet import parquet
from crawler.items import TIMES

UTC_TIME = "timestamp[us, tz=UTC]"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.parquet"


@pytest.mark.parametrize("fields", [FIELDS, ["images", "relevance"]])
def test_values_come_back_with_their_types(path: Path, fields: list[str]) -> None:
    path.write_bytes(b"".join(parquet(several(), fields)))
    table = reader.read_table(path)
    assert table.column_names == fields
    written = [{name: page.values[name] for name in fields} for page in several()]
    assert table.to_pylist() == [
        {name: datetime.fromisoformat(value) if name in TIMES else value for name, value in row.items()}
        for row in written
    ]
    types = {name: str(table.schema.field(name).type) for name in fields}
    assert types["relevance"] == "double"
    assert types["images"].startswith("list<")
    assert types.get("status", "int64") == "int64"
    assert types.get("published", "string") == "string"
    assert {types.get(name, UTC_TIME) for name in TIMES} == {UTC_TIME}


def test_duckdb_compares_times(path: Path) -> None:
    times = ("2026-11-22T12:30:00+00:00", "2026-11-22T13:30:00.5+00:00", "2026-11-23T00:00:00+00:00")
    path.write_bytes(b"".join(parquet([stored(n, first_seen=time) for n, time in enumerate(times)], FIELDS)))
    after = "SELECT count(*) FROM read_parquet(?) WHERE first_seen > TIMESTAMPTZ '2026-11-22 13:30:00+00'"
    assert duckdb.execute(after, [str(path)]).fetchone() == (2,)


def test_duckdb_reads_the_same(path: Path) -> None:
    path.write_bytes(b"".join(parquet(several(), FIELDS)))
    found = duckdb.execute("SELECT url, text, depth, link_score, images FROM read_parquet(?)", [str(path)]).fetchall()
    names = ("url", "text", "depth", "link_score", "images")
    assert found == [tuple(page.values[name] for name in names) for page in several()]


@pytest.mark.parametrize(("rows", "size", "groups"), [(2, 10**6, [2, 2, 1]), (5, 10**6, [5]), (10, 20, [2, 2, 1])])
def test_row_groups_are_bounded(
    path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, size: int, groups: list[int]
) -> None:
    monkeypatch.setattr(writer, "MOST_ROWS", rows)
    monkeypatch.setattr(writer, "GROUP_CHARACTERS", size)
    path.write_bytes(b"".join(parquet([stored(n, text="a" * 10) for n in range(5)], ["text", "images"])))
    found = reader.ParquetFile(path).metadata
    assert [found.row_group(number).num_rows for number in range(found.num_row_groups)] == groups


def test_images_count_as_well(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "GROUP_CHARACTERS", 8)
    pages = [stored(n, images=[{"url": "abcd", "alt": "efgh", "noise": None}]) for n in range(3)]
    path.write_bytes(b"".join(parquet(pages, ["images"])))
    assert reader.ParquetFile(path).metadata.num_row_groups == 3


def test_of_no_page_there_is_an_empty_table(path: Path) -> None:
    path.write_bytes(b"".join(parquet([], FIELDS)))
    assert reader.read_table(path).num_rows == 0


def test_what_no_crawl_writes_is_an_error(path: Path) -> None:
    with pytest.raises((ValueError, TypeError)):
        list(parquet([stored(1, status="many")], ["status"]))
    assert issubclass(pyarrow.ArrowInvalid, ValueError)
