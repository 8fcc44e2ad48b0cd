"""CSV, read by Python's reader and by DuckDB."""

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest
from export_pages import FIELDS, ODD_TEXT, several, stored

from crawler.export.csv import Formulas, csv_lines

NULLS = "markdown", "published", "parent", "language", "link_score", "text_fingerprint"


def rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))


def test_texts_come_back_as_they_were() -> None:
    head, *found = rows(b"".join(csv_lines(several(), FIELDS)))
    assert head == FIELDS
    for row, page in zip(found, several(), strict=True):
        told = dict(zip(head, row, strict=True))
        assert json.loads(told.pop("images")) == page.values["images"]
        expected = {name: page.values[name] for name in told}
        as_texts = {True: "true", False: "false", None: ""}
        assert told == {
            name: as_texts[value] if value is None or isinstance(value, bool) else str(value)
            for name, value in expected.items()
        }


def test_lines_end_as_the_standard_wants_it() -> None:
    data = b"".join(csv_lines([stored(1, title='a "b"', text="c\nd")], ["title", "text", "depth", "parent"]))
    assert data == b'title,text,depth,parent\r\n"a ""b""","c\nd",1,\r\n'


def test_duckdb_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"".join(csv_lines(several(), FIELDS)))
    asked = "SELECT url, text, title FROM read_csv(?, header=true, all_varchar=true, quote='\"', escape='\"')"
    found = duckdb.execute(asked, [str(path)]).fetchall()
    expected = [tuple(page.values[name] or None for name in ("url", "text", "title")) for page in several()]
    assert [tuple(value or None for value in row) for row in found] == expected


BEGINNINGS = (
    *(
        "=",
        "+",
        "-",
        "@",
        "＝",
        "＋",
        "－",
        "＠",
        "﹦",
        "﹢",
        "﹣",
        "﹫",
        "\t",
        "\r",
        "\n",
        " =",
        "\t=",
        "\r\n=",
        "\n＝",
    ),
    *("   ＋", "\u3000=", "\u00a0@", "\ufeff=", "\ufeff＝", "\u200b=", "\u2060-", "\u202e=", "\x00=", "\x1f=", "\x7f="),
)


@pytest.mark.parametrize("is_quoted", [False, True])
def test_what_a_spreadsheet_would_run_is_counted_and_quoted_on_request(is_quoted: bool) -> None:
    for beginning in BEGINNINGS:
        formulas = Formulas(is_quoted)
        text = f"{beginning}cmd|' /C calc'!A0"
        pages = [stored(1, text=text, title=f"a{beginning}b", link_score=-0.5)]
        _, (*cells,) = rows(b"".join(csv_lines(pages, ["text", "title", "link_score"], formulas)))
        assert cells == [f"'{text}" if is_quoted else text, f"a{beginning}b", "-0.5"]
        assert formulas.count == 1


def test_other_texts_are_no_formulas() -> None:
    rows = ["", "a", "a=b", " a", "'=1", "1=1", "\ufeffa", "\u3000\u3000蜜蜂", "(=1)", "。＝", " " * 9]
    for text in rows:
        formulas = Formulas(quoted=True)
        assert formulas.cell(text) == text
        assert formulas.count == 0


def test_of_no_page_there_is_the_head() -> None:
    assert b"".join(csv_lines([], ["url", "text"])) == b"url,text\r\n"


def test_a_page_without_anything_is_a_row() -> None:
    assert rows(b"".join(csv_lines([stored(1, text="")] * 2, ["text"]))) == [["text"], [""], [""]]
    assert ODD_TEXT not in ("", None)
